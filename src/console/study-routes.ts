import type { Router } from '@koa/router';
import type { Context } from 'koa';
import { z } from 'zod';
import type { AuditAction } from '../audit/actions.ts';
import { SonogateError } from '../errors/catalogue.ts';
import { jsonBody } from '../http/json-body.ts';
import { parseBody } from '../http/uploads.ts';
import { auditAction, auditRows } from './audit.ts';
import type { HoldStudy, ReleaseStudy, StudyAction, WorklistRow } from './contract.ts';
import type { ConsoleDeps, ConsoleState } from './deps.ts';
import { needs } from './guard.ts';
import { actionsOn } from './study-page.ts';
import { existingRow } from './worklist-routes.ts';
import { type ListedRow, showRow } from './worklist-rows.ts';

const holdSchema: z.ZodType<HoldStudy> = z.strictObject({
  reason: z.string().trim().min(1).max(300),
});
const releaseSchema: z.ZodType<ReleaseStudy> = z.strictObject({
  rule: z.string().max(100).nullable(),
});

type Call = Context & { state: ConsoleState; params: Record<string, string> };

/** What a person does with a study or a request; each answers with its row as it is then. */
export function addStudyRoutes(router: Router<ConsoleState>, deps: ConsoleDeps): void {
  const { core, database, operations, config, now, showSubject } = deps;
  const { studies } = operations;
  const body = jsonBody(config.http.maxBodyBytes);

  /** Checks that the row allows it, does it, writes it down and answers with the row. */
  const act = async (
    context: Call,
    key: string,
    action: StudyAction,
    audit: AuditAction,
    work: (row: ListedRow) => Promise<unknown>,
  ) => {
    const { role } = context.state.session;
    const row = await existingRow(key, deps);
    if (!actionsOn(showRow(row, role, showSubject), role).includes(action)) {
      throw new SonogateError('not_found', `This cannot be done while it is ${row.state}.`);
    }
    await work(row);
    const of = { studyId: row.study_id, requestId: row.request_id };
    await auditAction(context, audit, of, deps);
    const after = showRow(await existingRow(key, deps), role, showSubject);
    await auditRows(context, [after], 'study', deps);
    context.body = after satisfies WorklistRow;
  };

  router.post('/studies/:id/complete', needs('run'), (context) =>
    act(context, idOf(context), 'complete', 'study.complete', ({ key }) => studies.complete(key)),
  );

  router.post('/studies/:id/rerun', needs('run'), (context) =>
    act(context, idOf(context), 'rerun', 'study.rerun', ({ key }) => studies.rerun(key)),
  );

  router.post('/studies/:id/hold', needs('run'), body, (context) => {
    const { reason } = parseBody(holdSchema, context.state.body);
    const { name } = context.state.session;
    return act(context, idOf(context), 'hold', 'study.hold', ({ key }) =>
      studies.hold(key, `Held by ${name}: ${reason}`),
    );
  });

  router.post('/studies/:id/release', needs('run'), body, (context) => {
    const { rule } = parseBody(releaseSchema, context.state.body);
    return act(context, idOf(context), 'release', 'study.release', ({ key }) =>
      studies.release(key, rule),
    );
  });

  router.post('/requests/:id/cancel', needs('run'), async (context) =>
    act(context, await keyOf(context, deps), 'cancel', 'request.cancel', () =>
      core.cancel(idOf(context), null),
    ),
  );

  router.post('/requests/:id/acknowledge', needs('confirm'), async (context) => {
    const { name } = context.state.session;
    await act(
      context,
      await keyOf(context, deps),
      'acknowledge',
      'triage.acknowledge',
      ({ request_id }) =>
        database.query(
          `INSERT INTO triage_acknowledgements (request_id, at, person) VALUES ($1, $2, $3)
           ON CONFLICT (request_id) DO NOTHING`,
          [request_id, now(), name],
        ),
    );
  });
}

const idOf = ({ params }: Call): string => params.id ?? '';

/**
 * The row of a request, of which it is the newest: of older ones nothing can be changed.
 * @throws SonogateError `not_found`
 */
export async function keyOf(context: Call, { database }: ConsoleDeps): Promise<string> {
  const { rows } = await database.query<{ key: string }>(
    'SELECT key FROM worklist WHERE request_id = $1',
    [idOf(context)],
  );
  const [row] = rows;
  if (!row) throw new SonogateError('not_found', 'There is no such request.');
  return row.key;
}
