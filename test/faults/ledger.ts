import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type CartObject, dataSetSha256 } from './cart-studies.ts';
import type { SiteUnderFault } from './site-under-fault.ts';
import type { Promised } from './traffic.ts';

/** What became of everything that was promised. */
export interface Ledger {
  objectsAcknowledged: number;
  requestsAcknowledged: number;
  /** Acknowledged and not there, other bytes, not run to its end, or not delivered; in words. */
  lost: string[];
  deliveries: number;
  /** Arrived more than once as the same SOP Instance UID, identifier or webhook-id. */
  repeated: number;
  /** Arrived more than once as something new; in words. */
  doubled: string[];
}

const SETTLE_MS = 240_000;
const POLL_MS = 500;

/** SR documents of one obstetric study: TID 5000 and its TID 1500. */
const DOCUMENTS_OF_STUDY = 2;

/** Waits until all work has ended, and counts. What has not ended by then is lost. */
export async function settle(site: SiteUnderFault, promised: Promised): Promise<Ledger> {
  const studies = [...new Set(promised.objects.map(({ studyUid }) => studyUid))];
  const deadline = performance.now() + SETTLE_MS;
  while ((await open(site, studies, promised.requests)) > 0 && performance.now() < deadline) {
    await delay(POLL_MS);
  }
  const ledger: Ledger = {
    objectsAcknowledged: promised.objects.length,
    requestsAcknowledged: promised.requests.length,
    lost: [],
    deliveries: 0,
    repeated: 0,
    doubled: [],
  };
  for (const object of promised.objects) await countObject(site, object, ledger);
  for (const study of studies) await countStudy(site, study, ledger);
  for (const request of promised.requests) await countRequest(site, request, ledger);
  return ledger;
}

/** Studies, requests and deliveries that still have a way to go. */
async function open(
  site: SiteUnderFault,
  studies: readonly string[],
  requests: readonly string[],
): Promise<number> {
  const [row] = await site
    .query<{ open: number }>(
      `SELECT ((SELECT count(*) FROM unnest($1::text[]) AS promised (uid) WHERE NOT EXISTS (
           SELECT 1 FROM studies s WHERE s.study_instance_uid = promised.uid
             AND s.state NOT IN ('receiving', 'complete')))
         + (SELECT count(*) FROM requests
             WHERE status NOT IN ('succeeded', 'failed', 'rejected', 'canceled'))
         + (SELECT count(*) FROM unnest($2::text[]) AS promised (id)
             WHERE NOT EXISTS (SELECT 1 FROM requests r WHERE r.id = promised.id))
         + (SELECT count(*) FROM deliveries WHERE state NOT IN ('delivered', 'dead')))::int AS open`,
      [studies, requests],
    )
    .catch(() => []);
  return row?.open ?? 1;
}

async function countObject(site: SiteUnderFault, object: CartObject, ledger: Ledger) {
  const rows = await site.query<{ path: string; id: string }>(
    'SELECT path, id FROM instances WHERE sop_instance_uid = $1',
    [object.sopInstanceUid],
  );
  const digests = await Promise.all(
    rows.map(async ({ path }) => {
      const file = join(site.dataDir, path);
      return access(file).then(
        () => dataSetSha256(file),
        () => null,
      );
    }),
  );
  const name = `object ${object.sopInstanceUid}`;
  if (!digests.includes(object.dataSetSha256)) ledger.lost.push(`${name} is not kept as it came`);
  const arrived = site.archive.taken.filter(
    ({ sopInstanceUid, kept }) => kept && sopInstanceUid === object.sopInstanceUid,
  );
  count(ledger, arrived.length, `${name} did not arrive at the archive`);
  if (arrived.some(({ dataSetSha256: sha }) => sha !== object.dataSetSha256)) {
    ledger.lost.push(`${name} arrived at the archive with other bytes`);
  }
}

async function countStudy(site: SiteUnderFault, study: string, ledger: Ledger) {
  const requests = await site.query<{ id: string; status: string }>(
    `SELECT r.id, r.status FROM requests r JOIN study_requests sr ON sr.request_id = r.id
       JOIN studies s ON s.id = sr.study_id
     WHERE s.study_instance_uid = $1 AND sr.revision = s.revision`,
    [study],
  );
  if (requests.length !== 1) ledger.lost.push(`study ${study} has ${requests.length} requests`);
  const all = await site.query<{ id: string }>(
    `SELECT sr.request_id AS id FROM study_requests sr JOIN studies s ON s.id = sr.study_id
     WHERE s.study_instance_uid = $1`,
    [study],
  );
  for (const { id, status } of requests) {
    if (status !== 'succeeded') ledger.lost.push(`request ${id} of ${study} is ${status}`);
    const documents = await site.query<{ uid: string }>(
      `SELECT sop_instance_uid AS uid FROM delivered_objects o
         JOIN deliveries d ON d.id = o.delivery_id WHERE d.request_id = $1`,
      [id],
    );
    for (const { uid } of documents) {
      const arrived = site.pacs.taken.filter((each) => each.kept && each.sopInstanceUid === uid);
      count(ledger, arrived.length, `document ${uid} of ${study} is not in the PACS`);
    }
    if (documents.length < DOCUMENTS_OF_STUDY) {
      ledger.lost.push(`study ${study} has ${documents.length} documents in the PACS`);
    }
  }
  const known = await site.query<{ uid: string }>(
    `SELECT sop_instance_uid AS uid FROM delivered_objects o JOIN deliveries d
       ON d.id = o.delivery_id WHERE d.request_id = ANY ($1::text[])`,
    [all.map(({ id }) => id)],
  );
  const distinct = new Set(known.map(({ uid }) => uid));
  if (distinct.size > DOCUMENTS_OF_STUDY * all.length) {
    ledger.doubled.push(`study ${study} has ${distinct.size} documents in the PACS`);
  }
  const reports = (await site.ehr.all('DiagnosticReport')).filter(({ identifier = [] }) =>
    identifier.some(({ value }) => all.some(({ id }) => id === value)),
  );
  count(ledger, reports.length > 0 ? 1 : 0, `study ${study} has no report in the EHR`);
  if (reports.length > all.length) {
    ledger.doubled.push(`study ${study} has ${reports.length} reports in the EHR`);
  }
}

async function countRequest(site: SiteUnderFault, request: string, ledger: Ledger) {
  const [row] = await site.query<{ status: string }>('SELECT status FROM requests WHERE id = $1', [
    request,
  ]);
  if (row?.status !== 'succeeded') ledger.lost.push(`request ${request} is ${row?.status}`);
  const calls = site.hook.calls.filter(({ requestId }) => requestId === request);
  count(ledger, calls.length, `the end of ${request} was not announced`);
  const ids = new Set(calls.map(({ webhookId }) => webhookId));
  if (ids.size > 1) ledger.doubled.push(`${request} was announced under ${ids.size} webhook-ids`);
}

function count(ledger: Ledger, arrivals: number, otherwise: string): void {
  if (arrivals === 0) ledger.lost.push(otherwise);
  ledger.deliveries += Math.min(1, arrivals);
  ledger.repeated += Math.max(0, arrivals - 1);
}
