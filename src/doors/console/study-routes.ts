import type { Router } from '@koa/router';
import type { Context } from 'koa';
import { z } from 'zod';
import { specialtyOf } from '../../../pipelines/concepts/specialty.ts';
import {
  type AuditAction,
  type AuditEntry,
  createAuditWriter,
  type WriteAudit,
} from '../../core/audit/audit.ts';
import { MERGE_DECISIONS } from '../../core/patients/merges.ts';
import type { StoredOperations } from '../../operations/operations.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import { jsonBody, parseBody, readQuery } from '../http/parse.ts';
import { withdrawBody } from '../http/reviews.ts';
import { auditAction, auditStudies, within } from './audit.ts';
import type { ConsoleDeps, ConsoleState } from './context.ts';
import type {
  Facets,
  HoldStudy,
  ReleaseStudy,
  RowState,
  StudyAction,
  StudyPage,
  WorklistPage,
  WorklistRow,
} from './contract.ts';
import { needs } from './guard.ts';
import { existingRequest } from './result-routes.ts';
import { actionsOn, studyPage } from './study-page.ts';
import {
  type ListedRow,
  listKeys,
  ROW_STATES,
  readRows,
  showRow,
  withGlances,
  worklistQuery,
} from './worklist.ts';

/** Adds `GET /worklist`, `/worklist/facets` and `/worklist/{key}`. */
export function addWorklistRoutes(router: Router<ConsoleState>, deps: ConsoleDeps): void {
  const { database, showSubject } = deps;

  router.get('/worklist', needs('read'), async (context) => {
    const filter = readQuery(context, worklistQuery);
    const { role } = context.state.session;
    const { critical, keys, nextCursor } = await listKeys(database, role, filter);
    const rows = await rowsOf([...critical, ...keys], deps);
    const shown = rows.map((row) => showRow(row, role, showSubject));
    const studyIds = rows.map(({ study_id }) => study_id);
    await auditStudies(context, studyIds, 'worklist', deps);
    const first = new Set(critical);
    context.body = {
      critical: shown.filter(({ key }) => first.has(key)),
      rows: shown.filter(({ key }) => !first.has(key)),
      nextCursor,
    } satisfies WorklistPage;
  });

  router.get('/worklist/facets', needs('read'), async (context) => {
    context.body = (await readFacets(deps)) satisfies Facets;
  });

  router.get('/worklist/:key', needs('read'), async (context) => {
    const { session } = context.state;
    const row = await existingRow(context.params.key, deps);
    await auditStudies(context, [row.study_id], 'study', deps);
    context.body = (await studyPage(row, session.role, deps)) satisfies StudyPage;
  });
}

async function rowsOf(keys: readonly string[], deps: ConsoleDeps): Promise<ListedRow[]> {
  const { database, core } = deps;
  const rows = await readRows(database, keys);
  return withGlances(rows, { database, result: core.result });
}

/**
 * Reads the row with this key.
 * @throws SonogateError `not_found`
 */
async function existingRow(key: string | undefined, deps: ConsoleDeps): Promise<ListedRow> {
  const [row] = await rowsOf([key ?? ''], deps);
  if (!row) throw new SonogateError('not_found', 'There is no such study or request.');
  return row;
}

/** Maximum number of rows counted per state for the filters. */
const MOST_COUNTED = 1000;

/**
 * Returns the filter choices. Only the newest rows of each state are read, so that a long history
 * does not make the worklist slower.
 */
async function readFacets({ database }: ConsoleDeps): Promise<Facets> {
  const { rows } = await database.query<{
    state: RowState;
    source: string;
    endpoint: string | null;
    tags: string[];
    rows: number;
  }>(
    `SELECT wanted.state, source, endpoint, tags, count(*)::int AS rows
     FROM unnest($1::text[]) AS wanted (state), LATERAL (
       SELECT source, endpoint, tags FROM worklist WHERE state = wanted.state
       ORDER BY arrived_at DESC, key DESC LIMIT $2) AS newest
     GROUP BY wanted.state, source, endpoint, tags`,
    [ROW_STATES, MOST_COUNTED],
  );
  const { rows: critical } = await database.query<{ rows: number }>(
    'SELECT count(*)::int AS rows FROM worklist WHERE critical',
  );
  const states = Map.groupBy(rows, ({ state }) => state);
  const distinct = (values: readonly (string | null)[]) =>
    [...new Set(values.filter((value) => value !== null))].sort();
  return {
    states: [...states].map(([state, of]) => {
      const count = of.reduce((sum, row) => sum + row.rows, 0);
      return { state, rows: count, more: count === MOST_COUNTED };
    }),
    sources: distinct(rows.map(({ source }) => source)),
    endpoints: distinct(rows.map(({ endpoint }) => endpoint)).map((id) => ({
      id,
      specialty: specialtyOf(id),
    })),
    tags: distinct(rows.flatMap(({ tags }) => tags)),
    critical: critical[0]?.rows ?? 0,
  };
}

const holdSchema: z.ZodType<HoldStudy> = z.strictObject({
  reason: z.string().trim().min(1).max(300),
});
const releaseSchema: z.ZodType<ReleaseStudy> = z.strictObject({
  rule: z.string().max(100).nullable(),
  under: z.enum(MERGE_DECISIONS).nullable(),
});

type Call = Context & { state: ConsoleState; params: Record<string, string> };

/** Writes the audit entry of an action, in the transaction to which `writeAudit` belongs. */
type RecordWith = (writeAudit: WriteAudit) => Promise<void>;

/** The name of each action on a study or request in the audit trail. */
const AUDITED_AS: Readonly<Record<StudyAction, AuditAction>> = {
  complete: 'study.complete',
  rerun: 'study.rerun',
  hold: 'study.hold',
  release: 'study.release',
  cancel: 'request.cancel',
  acknowledge: 'triage.acknowledge',
};

interface Acting {
  action: StudyAction;
  /** Performs the action and calls `record` in its transaction, for the audit trail. */
  change(row: ListedRow, record: RecordWith): Promise<unknown>;
  /** The request to act on; absent for the request that the row shows. */
  requestId?: string;
  detail?: AuditEntry['detail'];
}

/** Checks that the row allows the action, performs it, and answers with the updated row. */
async function act(
  context: Call,
  key: string,
  { action, change, ...named }: Acting,
  deps: ConsoleDeps,
): Promise<void> {
  const { role } = context.state.session;
  const row = await existingRow(key, deps);
  if (!actionsOn(row, role).includes(action)) {
    throw new SonogateError('not_found', `This cannot be done while it is ${row.state}.`);
  }
  const of = { studyId: row.study_id, requestId: row.request_id, ...named };
  await change(row, (writeAudit) =>
    auditAction(context, AUDITED_AS[action], of, { ...deps, writeAudit }),
  );
  await answerWith(context, key, deps);
}

/** Answers an action with the updated row. */
async function answerWith(context: Call, key: string, deps: ConsoleDeps): Promise<void> {
  const row = await existingRow(key, deps);
  const shown = showRow(row, context.state.session.role, deps.showSubject);
  await auditStudies(context, [row.study_id], 'study', deps);
  context.body = shown satisfies WorklistRow;
}

/**
 * Adds the actions that a person can take on a study or request; each answers with the updated row.
 */
export function addStudyRoutes(router: Router<ConsoleState>, deps: ConsoleDeps): void {
  const { core, reviews, operations, config } = deps;
  const body = jsonBody(config.http.maxBodyBytes);

  /** An action that consists of operations, which are stored together with the audit entry. */
  const stored =
    (work: (row: ListedRow, operations: StoredOperations) => Promise<unknown>) =>
    (row: ListedRow, record: RecordWith) =>
      operations.together(async (within, writeAudit) => {
        await work(row, within);
        await record(writeAudit);
      });

  router.post('/studies/:id/complete', needs('run'), (context) => {
    const change = stored(({ key }, { studies }) => studies.complete(key));
    return act(context, idOf(context), { action: 'complete', change }, deps);
  });

  router.post('/studies/:id/rerun', needs('run'), (context) => {
    const change = stored(({ key }, { studies }) => studies.rerun(key));
    return act(context, idOf(context), { action: 'rerun', change }, deps);
  });

  router.post('/studies/:id/hold', needs('run'), body, (context) => {
    const { reason } = parseBody(holdSchema, context.state.body);
    const { name } = context.state.session;
    const change = stored(({ key }, { studies }) =>
      studies.hold(key, `Held by ${name}: ${reason}`),
    );
    return act(context, idOf(context), { action: 'hold', change }, deps);
  });

  router.post('/studies/:id/release', needs('run'), body, (context) => {
    const how = parseBody(releaseSchema, context.state.body);
    const change = stored(({ key }, { studies }) => studies.release(key, how));
    const detail = how.under && { under: how.under };
    return act(context, idOf(context), { action: 'release', change, detail }, deps);
  });

  router.post('/requests/:id/cancel', needs('run'), async (context) => {
    const requestId = idOf(context);
    const change = (_: ListedRow, record: RecordWith) =>
      core.cancel(requestId, null, (tx) => record(createAuditWriter(tx)));
    const key = await keyOf(requestId, deps);
    await act(context, key, { action: 'cancel', change, requestId }, deps);
  });

  router.post('/requests/:id/withdraw', needs('withdraw'), body, async (context) => {
    const { id } = await existingRequest(context.params.id, deps);
    const { reason, text = null } = parseBody(withdrawBody, context.state.body);
    const { name: person } = context.state.session;
    const key = await keyOf(id, deps, { evenIfReplaced: true });
    const row = await existingRow(key, deps);
    const of = { studyId: row.study_id, requestId: id, detail: { reason } };
    await reviews.withdraw(id, { person, reason, text }, (tx) =>
      auditAction(context, 'result.withdraw', of, within(tx, deps)),
    );
    await answerWith(context, key, deps);
  });

  router.post('/requests/:id/acknowledge', needs('confirm'), async (context) => {
    const requestId = idOf(context);
    const { name } = context.state.session;
    const change = stored((_, { alerts }) =>
      alerts.acknowledge({ request: requestId, person: name }),
    );
    const key = await keyOf(requestId, deps);
    await act(context, key, { action: 'acknowledge', change, requestId }, deps);
  });
}

const idOf = ({ params }: Call): string => params.id ?? '';

/**
 * Returns the key of the worklist row to which a request belongs. A request that was replaced by a
 * later result of the same rule, for a later revision of the study, is treated as unknown, so that
 * nobody can change it; only withdrawing its result is still possible (`evenIfReplaced`).
 * @throws SonogateError `not_found` for an unknown or replaced request
 */
async function keyOf(
  id: string,
  { database }: ConsoleDeps,
  { evenIfReplaced = false } = {},
): Promise<string> {
  const { rows } = await database.query<{ key: string }>(
    `SELECT key FROM worklist WHERE request_id = $1
     UNION SELECT study_id::text FROM study_requests
     WHERE request_id = $1 AND ($2 OR $1 = ANY (current_requests(study_id)))`,
    [id, evenIfReplaced],
  );
  const [row] = rows;
  if (!row) throw new SonogateError('not_found', 'There is no such request.');
  return row.key;
}
