import type { Router } from '@koa/router';
import { z } from 'zod';
import type { DicomIdentity } from '../../../pipelines/dicom/subject.ts';
import { readsFreeText } from '../../core/accounts/roles.ts';
import type { HeldReport } from '../../operations/operations.ts';
import { catalogueEntry, type ErrorCode } from '../../platform/errors/catalogue.ts';
import { jsonBody, parseBody } from '../http/parse.ts';
import { auditAction, auditedFirst, auditStudies } from './audit.ts';
import type { ConsoleDeps, ConsoleState } from './context.ts';
import type {
  ConsoleRole,
  Hold,
  HoldChoice,
  HoldNeeds,
  HoldWithIdentity,
  Quarantined,
  RejectHold,
} from './contract.ts';
import { needs } from './guard.ts';

const reference = (type: string) => z.string().regex(new RegExp(`^${type}/[A-Za-z0-9.-]{1,64}$`));

const confirmSchema = z
  .strictObject({
    patient: reference('Patient').optional(),
    order: reference('ServiceRequest').optional(),
    withoutOrder: z.boolean().default(false),
  })
  .refine(({ order, withoutOrder }) => !(order && withoutOrder), 'an order, or none');
const rejectSchema: z.ZodType<RejectHold> = z.strictObject({
  reason: z.string().trim().min(1).max(500),
});

/**
 * The action that a held report needs, by its error code. Some errors leave the patient uncertain;
 * others only mean that the EHR did not answer or refused access.
 */
const NEEDS: Partial<Record<ErrorCode, HoldNeeds>> = {
  ehr_patient_not_found: 'patient',
  ehr_patient_ambiguous: 'patient',
  ehr_issuer_unmapped: 'patient',
  ehr_ambiguous: 'nothing',
  ehr_unavailable: 'nothing',
  ehr_unauthorized: 'nothing',
};

/** Adds `/holds`: reports that wait for a person's decision. */
export function addHoldRoutes(router: Router<ConsoleState>, deps: ConsoleDeps): void {
  const { config, operations } = deps;
  const body = jsonBody(config.http.maxBodyBytes);

  router.get('/holds', needs('read'), async (context) => {
    const held = await operations.holds.list();
    const shown = await showHolds(held, context.state.session.role, deps);
    const studyIds = shown.map(({ key }) => key);
    await auditStudies(context, studyIds, 'holds', deps);
    context.body = shown satisfies Hold[];
  });

  router.get('/holds/:id', needs('confirm'), async (context) => {
    const { id = '' } = context.params;
    const { session } = context.state;
    const { identity, ...held } = await operations.holds.show({ id, person: session.name });
    const [shown] = await showHolds([held], session.role, deps);
    if (!shown) throw new Error('a held report that was read is not shown');
    await auditStudies(context, [shown.key], 'hold', deps);
    context.body = {
      ...shown,
      subject: identity && deps.showSubject(session.role, identity),
      choices: held.candidates.map(shownChoice),
    } satisfies HoldWithIdentity;
  });

  router.post('/holds/:id/confirm', needs('confirm'), body, async (context) => {
    const { id = '' } = context.params;
    const { session } = context.state;
    const choice = parseBody(confirmSchema, context.state.body ?? {});
    const held = await operations.together(async ({ holds }, writeAudit) => {
      const report = await holds.release({ id, person: session.name, ...choice });
      const of = { requestId: report.request_id, detail: { id } };
      await auditAction(context, 'hold.release', of, { ...deps, writeAudit });
      return report;
    });
    const [shown] = await showHolds([held], session.role, deps);
    context.body = shown satisfies Hold | undefined;
  });

  router.post('/holds/:id/reject', needs('confirm'), body, async (context) => {
    const { id = '' } = context.params;
    const { session } = context.state;
    const { reason } = parseBody(rejectSchema, context.state.body);
    const held = await operations.together(async ({ holds }, writeAudit) => {
      const report = await holds.reject({ id, person: session.name, reason });
      const of = { requestId: report.request_id, detail: { id } };
      await auditAction(context, 'hold.reject', of, { ...deps, writeAudit });
      return report;
    });
    const [shown] = await showHolds([held], session.role, deps);
    context.body = shown satisfies Hold | undefined;
  });
}

/** Adds `/quarantine`: received objects that could not be recorded. */
export function addQuarantineRoutes(router: Router<ConsoleState>, deps: ConsoleDeps): void {
  const { quarantine } = deps.operations;

  router.get('/quarantine', needs('read'), async (context) => {
    const objects = await quarantine.list();
    const shows = readsFreeText(context.state.session.role);
    context.body = objects.map(
      ({ code, detail, at, ...object }): Quarantined => ({
        ...object,
        at: at.toISOString(),
        title: code && catalogueEntry(code).title,
        detail: shows ? detail : null,
      }),
    );
  });

  router.post('/quarantine/:id/register', needs('run'), async (context) => {
    const { id = '' } = context.params;
    await auditedFirst(context, 'quarantine.register', { detail: { id } }, deps, (record) =>
      quarantine.register(id, record),
    );
    context.status = 204;
  });

  router.post('/quarantine/:id/remove', needs('run'), async (context) => {
    const { id = '' } = context.params;
    await auditedFirst(context, 'quarantine.remove', { detail: { id } }, deps, (record) =>
      quarantine.remove(id, record),
    );
    context.status = 204;
  });
}

async function showHolds(
  held: readonly HeldReport[],
  role: ConsoleRole,
  { database, showSubject }: ConsoleDeps,
): Promise<Hold[]> {
  const { rows } = await database.query<{
    request_id: string;
    study_id: string;
    identity: DicomIdentity;
  }>(
    `SELECT r.request_id, r.study_id, s.identity FROM study_requests r
       JOIN studies s ON s.id = r.study_id WHERE r.request_id = ANY ($1::text[])`,
    [held.map(({ request_id }) => request_id)],
  );
  return held.map((report): Hold => {
    const study = rows.find(({ request_id }) => request_id === report.request_id);
    const code = report.code as ErrorCode;
    const { title, operator } = catalogueEntry(code);
    return {
      id: report.id,
      key: study?.study_id ?? null,
      requestId: report.request_id,
      destination: report.destination,
      subject: study ? showSubject(role, study.identity) : null,
      code: report.code,
      title,
      advice: operator,
      needs: NEEDS[code] ?? 'decision',
      detail: readsFreeText(role) ? report.detail : null,
      since: report.since,
      retried: report.retried,
      candidates: report.candidates.length,
    };
  });
}

function shownChoice({ reference, agrees, differs }: HeldReport['candidates'][number]): HoldChoice {
  const words = [
    agrees.length > 0 ? `agrees: ${agrees.join(', ')}` : '',
    differs.length > 0 ? `differs: ${differs.join(', ')}` : '',
  ];
  return {
    reference,
    kind: reference.startsWith('Patient/') ? 'patient' : 'order',
    text: words.filter((part) => part !== '').join('; '),
  };
}
