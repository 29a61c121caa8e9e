import { createReadStream } from 'node:fs';
import type { Router } from '@koa/router';
import type { DicomIdentity } from '../../../pipelines/dicom/subject.ts';
import type { Result } from '../../../pipelines/result/envelope.ts';
import { DEFAULT_ACCOUNT_ID } from '../../core/accounts/keys.ts';
import type { RequestRow } from '../../core/requests/request.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import { DAY_MS } from '../../platform/time.ts';
import { auditAction, auditedRequest } from './audit.ts';
import type { ConsoleDeps, ConsoleState } from './context.ts';
import type { ResultView } from './contract.ts';
import { needs } from './guard.ts';
import { viewResult } from './result-view.ts';
import { statedAge } from './worklist.ts';

/** Media types that the browser shows in place; any other file is offered as a download. */
const SHOWN_IN_PLACE = /^(image\/(png|jpeg|webp)|application\/(json|pdf)|video\/x-motion-jpeg)$/;

/**
 * Adds `/requests/{id}/result` and `/requests/{id}/artifacts/{name}`. Their responses contain no
 * patient identity.
 */
export function addResultRoutes(router: Router<ConsoleState>, deps: ConsoleDeps): void {
  const { core } = deps;

  router.get('/requests/:id/result', needs('read'), async (context) => {
    const row = await unexpiredRequest(context.params.id, deps);
    const result = await resultOf(row.id, deps);
    if (!result) throw new SonogateError('not_found', `The request is ${row.status}: no result.`);
    await auditAction(context, 'request.read', auditedRequest(row), deps);
    context.body = viewResult({
      requestId: row.id,
      result,
      gestationalAge: statedAge(row.input?.options),
      prior: await priorOf(row, deps),
    }) satisfies ResultView;
  });

  router.get('/requests/:id/artifacts/:name', needs('read'), async (context) => {
    const row = await unexpiredRequest(context.params.id, deps);
    const { name = '' } = context.params;
    // The name is only looked up in the result's list of artifacts, so it cannot be used to build a
    // path.
    const artifact = (await core.artifacts(row.id)).find((entry) => entry.name === name);
    const path = artifact && (await core.artifactPath(row.id, name));
    if (!artifact || !path) throw new SonogateError('not_found', 'There is no such artifact.');
    await auditAction(context, 'artifact.read', { ...auditedRequest(row), detail: { name } }, deps);
    context.type = artifact.media_type;
    context.length = artifact.bytes;
    context.set('ETag', `"${artifact.sha256}"`);
    // An artifact never changes, but the browser must ask for it each time, because another person
    // may be using the same browser by then.
    context.set('Cache-Control', 'private, no-cache');
    context.status = 200;
    if (context.fresh) {
      context.status = 304;
      return;
    }
    const inPlace =
      SHOWN_IN_PLACE.test(artifact.media_type) && context.query.download === undefined;
    if (!inPlace) context.attachment(artifact.name);
    context.body = createReadStream(path);
  });
}

/**
 * Reads a request of the default account. The console does not show those of other accounts.
 * @throws SonogateError `not_found`
 */
export async function existingRequest(
  id: string | undefined,
  { core }: Pick<ConsoleDeps, 'core'>,
): Promise<RequestRow> {
  const row = await core.get(id ?? '', DEFAULT_ACCOUNT_ID);
  if (!row) throw new SonogateError('not_found', 'There is no such request.');
  return row;
}

/**
 * Reads a request whose result has not been purged.
 * @throws SonogateError `not_found`, `expired`
 */
async function unexpiredRequest(id: string | undefined, deps: ConsoleDeps): Promise<RequestRow> {
  const row = await existingRequest(id, deps);
  if (row.status === 'expired') throw new SonogateError('expired', 'The result has been purged.');
  return row;
}

/** Reads a result, which the core checked against the envelope schema before storing it. */
async function resultOf(id: string, { core }: ConsoleDeps): Promise<Result | null> {
  return (await core.result(id)) as Result | null;
}

/**
 * Returns the newest earlier result for the same patient and endpoint, from another study, that was
 * not withdrawn. Studies are ordered by the day of the scan, because an older study may arrive later,
 * for example from an archive. The day of arrival is used only for a study without a Study Date.
 */
export async function priorOf(
  row: RequestRow,
  deps: ConsoleDeps,
): Promise<{ requestId: string; daysBefore: number; result: Result } | null> {
  if (row.source.kind !== 'dicom') return null;
  const { rows } = await deps.database.query<{
    request_id: string;
    arrived_at: Date;
    own_arrived_at: Date;
    identity: DicomIdentity;
    own_identity: DicomIdentity;
  }>(
    `WITH scan AS (
       SELECT w.key, w.request_id, w.endpoint, w.state, w.arrived_at, s.identity,
         CASE WHEN s.identity ->> 'StudyDate' ~ '^\\d{8}$' THEN s.identity ->> 'StudyDate'
           ELSE to_char(w.arrived_at AT TIME ZONE 'UTC', 'YYYYMMDD') END AS day
       FROM worklist w JOIN studies s ON s.id = w.study_id JOIN requests r ON r.id = w.request_id
       WHERE (w.key = $1 OR r.withdrawal IS NULL) AND w.patient = (SELECT patient FROM worklist WHERE key = $1))
     SELECT scan.request_id, scan.arrived_at, own.arrived_at AS own_arrived_at, scan.identity,
       own.identity AS own_identity
     FROM scan own JOIN scan ON scan.key <> own.key
     WHERE own.key = $1 AND scan.endpoint = $2 AND scan.state = 'succeeded'
       AND (scan.day, scan.arrived_at) < (own.day, own.arrived_at)
     ORDER BY scan.day DESC, scan.arrived_at DESC LIMIT 1`,
    [row.source.study, row.endpoint],
  );
  const [found] = rows;
  const result = found && (await resultOf(found.request_id, deps));
  if (!found || !result) return null;
  const scanned = scanDate(found.identity) ?? found.arrived_at;
  const own = scanDate(found.own_identity) ?? found.own_arrived_at;
  const daysBefore = Math.round((own.getTime() - scanned.getTime()) / DAY_MS);
  return { requestId: found.request_id, daysBefore, result };
}

/** Returns the Study Date (0008,0020); null if the images have none. */
function scanDate({ StudyDate }: DicomIdentity): Date | null {
  const match = /^(\d{4})(\d\d)(\d\d)$/.exec(StudyDate);
  return match ? new Date(`${match[1]}-${match[2]}-${match[3]}T00:00:00Z`) : null;
}
