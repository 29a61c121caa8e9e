import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type CartObject, dataSetSha256 } from './cart-studies.ts';
import type { Part, SiteUnderFault } from './site-under-fault.ts';
import type { Promised } from './traffic.ts';

/** The outcome of everything that was promised. */
export interface Ledger {
  objectsAcknowledged: number;
  requestsAcknowledged: number;
  /**
   * Descriptions of the objects and results that were acknowledged but will never arrive. They are
   * missing, changed or failed, or their delivery ended without an arrival.
   */
  lost: string[];
  /** Number of deliveries whose wait for the next attempt was cut short after the fault. */
  hastened: number;
  /**
   * Descriptions of the work that was not finished when the campaign stopped waiting. Each states
   * what the work was waiting for.
   */
  late: string[];
  deliveries: number;
  /** Number of repeated arrivals with the same SOP Instance UID, identifier or webhook-id. */
  repeated: number;
  /** Descriptions of the results that arrived more than once under different identities. */
  doubled: string[];
}

/** The campaign gives up if nothing finishes for this long. */
const PATIENCE_MS = 1_200_000;
const POLL_MS = 500;
/** Long enough for an ordinary retry to take place by itself. */
const HASTEN_MS = 45_000;
/**
 * If nothing has arrived anywhere for this long, it is safe to stop a gateway whose database can
 * only be queried while it is stopped.
 */
const QUIET_MS = 60_000;

/** Number of SR documents per obstetric study: TID 5000 and its TID 1500. */
const DOCUMENTS_OF_STUDY = 2;

/**
 * Waits until all work has finished, and counts the outcome. Work that has not finished in time is
 * late.
 */
export async function settle(site: SiteUnderFault, promised: Promised): Promise<Ledger> {
  const studies = [...new Set(promised.objects.map(({ studyUid }) => studyUid))];
  const stops = site.embedded;
  let deadline = performance.now() + PATIENCE_MS;
  let least = Number.POSITIVE_INFINITY;
  const hastened = new Set<string>();
  let hasten = performance.now() + HASTEN_MS;
  for (;;) {
    const left = await open(site, studies, promised.requests);
    if (left === 0 || performance.now() > deadline) break;
    if (left < least) deadline = performance.now() + PATIENCE_MS;
    least = Math.min(least, left);
    for (const part of site.parts) endedByItself(part, site);
    if (performance.now() > hasten || stops) {
      for (const id of await hastenDeliveries(site)) hastened.add(id);
      hasten = performance.now() + HASTEN_MS;
    }
    await site.resume();
    await (stops ? quiet(site) : delay(POLL_MS));
  }
  const ledger: Ledger = {
    objectsAcknowledged: promised.objects.length,
    requestsAcknowledged: promised.requests.length,
    lost: [],
    hastened: hastened.size,
    late: await unfinished(site),
    deliveries: 0,
    repeated: 0,
    doubled: [],
  };
  for (const object of promised.objects) await countObject(site, object, ledger);
  for (const study of studies) await countStudy(site, study, ledger);
  for (const request of promised.requests) await countRequest(site, request, ledger);
  return ledger;
}

/**
 * Waits until nothing more arrives at the PACS, archive, EHR or webhook. A gateway on the embedded
 * database must be stopped for each query, which would interrupt the studies being interpreted.
 */
async function quiet({ pacs, archive, ehr, hook }: SiteUnderFault): Promise<void> {
  const arrivals = () =>
    pacs.taken.length + archive.taken.length + ehr.calls.length + hook.calls.length;
  for (let before = -1; before !== arrivals(); ) {
    before = arrivals();
    await delay(QUIET_MS);
  }
}

/**
 * Checks that a gateway process has not ended by itself.
 * @throws Error if it has.
 */
function endedByItself(part: Part, site: SiteUnderFault): void {
  const { exitCode, log } = site.process(part);
  const code = exitCode();
  // The gateway is stopped with exit code 0 while its embedded database is queried.
  if (code === null || code === 0) return;
  throw new Error(`${part} ended by itself with ${code}: ${log.slice(-3).join(' ')}`);
}

/**
 * Ends the waits between two attempts, which last from minutes (a paused destination) to hours (a
 * webhook), since the fault is over and a campaign cannot wait that long.
 * @returns the ids of the deliveries that were waiting.
 */
async function hastenDeliveries(site: SiteUnderFault): Promise<string[]> {
  const rows = await site
    .query<{ id: string }>(
      `WITH holds AS (DELETE FROM destination_holds), probes AS (
         UPDATE destination_breakers SET probe_at = now() WHERE state = 'open' AND probe_at > now())
       UPDATE deliveries SET next_at = now()
       WHERE state = 'pending' AND next_at > now() RETURNING id`,
    )
    .catch(() => []);
  return rows.map(({ id }) => id);
}

/** Returns the number of studies, requests and deliveries that are not finished. */
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

/** Describes the requests and deliveries that are not finished, and what they are waiting for. */
async function unfinished(site: SiteUnderFault): Promise<string[]> {
  const rows = await site.query<{ line: string }>(
    `SELECT format('request %s is %s since %s, attempt %s, lease until %s', id, status, created_at,
         attempts, lease_until) AS line
       FROM requests WHERE status NOT IN ('succeeded', 'failed', 'rejected', 'canceled')
     UNION ALL
     SELECT format('%s %s of %s to %s is %s: attempt %s, %s, next at %s, lease until %s, now %s', kind,
         object, COALESCE(request_id, study), destination, state, attempt, COALESCE(code, 'no failure'),
         next_at, lease_until, now())
       FROM deliveries WHERE state NOT IN ('delivered', 'dead')`,
  );
  return rows.map(({ line }) => line);
}

/** The deliveries of one kind that are expected for a request or for a forwarded object. */
interface Awaited {
  kind: 'forward' | 'dicom' | 'fhir' | 'webhook';
  of: string;
}

/**
 * Counts arrivals. Whatever has not arrived is lost, unless its delivery is unfinished; then it is
 * late.
 */
async function count(
  site: SiteUnderFault,
  ledger: Ledger,
  arrivals: number,
  otherwise: string,
  { kind, of }: Awaited,
): Promise<void> {
  ledger.deliveries += Math.min(1, arrivals);
  ledger.repeated += Math.max(0, arrivals - 1);
  if (arrivals > 0) return;
  const rows = await site.query<{ state: string; attempt: number; code: string | null }>(
    'SELECT state, attempt, code FROM deliveries WHERE kind = $1 AND (request_id = $2 OR object = $2)',
    [kind, of],
  );
  // `unfinished` already lists this as late.
  if (rows.some(({ state }) => state === 'pending' || state === 'sending')) return;
  const ends = rows.map((row) => `${row.state}, attempt ${row.attempt}, ${row.code}`);
  ledger.lost.push(`${otherwise} (${ends.join('; ') || 'no delivery'})`);
}

/** Counts a request that has not succeeded as lost, unless it is unfinished; then it is late. */
function countEnd(ledger: Ledger, name: string, status: string | undefined): void {
  if (status === 'succeeded' || UNFINISHED.has(status ?? '')) return;
  ledger.lost.push(`${name} is ${status ?? 'not there'}`);
}

const UNFINISHED: ReadonlySet<string> = new Set(['queued', 'preparing', 'running']);

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
  const forward = { kind: 'forward', of: rows[0]?.id ?? '' } as const;
  await count(site, ledger, arrived.length, `${name} did not arrive at the archive`, forward);
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
    countEnd(ledger, `request ${id} of ${study}`, status);
    if (status !== 'succeeded') continue;
    const documents = await site.query<{ uid: string }>(
      `SELECT sop_instance_uid AS uid FROM delivered_objects o
         JOIN deliveries d ON d.id = o.delivery_id WHERE d.request_id = $1`,
      [id],
    );
    for (const { uid } of documents) {
      const arrived = site.pacs.taken.filter((each) => each.kept && each.sopInstanceUid === uid);
      const awaited = { kind: 'dicom', of: id } as const;
      await count(site, ledger, arrived.length, `document ${uid} of ${study}`, awaited);
    }
    if (documents.length < DOCUMENTS_OF_STUDY) {
      const name = `study ${study} has ${documents.length} documents in the PACS`;
      await count(site, ledger, 0, name, { kind: 'dicom', of: id });
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
  const [{ id: last = '', status = '' } = {}] = requests;
  if (status === 'succeeded') {
    const arrivals = Math.min(1, reports.length);
    const awaited = { kind: 'fhir', of: last } as const;
    await count(site, ledger, arrivals, `study ${study} has no report in the EHR`, awaited);
  }
  if (reports.length > all.length) {
    ledger.doubled.push(`study ${study} has ${reports.length} reports in the EHR`);
  }
}

async function countRequest(site: SiteUnderFault, request: string, ledger: Ledger) {
  const [row] = await site.query<{ status: string }>('SELECT status FROM requests WHERE id = $1', [
    request,
  ]);
  countEnd(ledger, `request ${request}`, row?.status);
  if (UNFINISHED.has(row?.status ?? '')) return;
  const calls = site.hook.calls.filter(({ requestId }) => requestId === request);
  const awaited = { kind: 'webhook', of: request } as const;
  await count(site, ledger, calls.length, `the end of ${request} was not announced`, awaited);
  const ids = new Set(calls.map(({ webhookId }) => webhookId));
  if (ids.size > 1) ledger.doubled.push(`${request} was announced under ${ids.size} webhook-ids`);
}
