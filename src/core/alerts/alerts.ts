import type { AlertList, Alerts } from '../../../config/alerts.ts';
import type { Database, Queryable } from '../../platform/database/port.ts';
import { enqueueDeliveries } from '../outbox/deliveries.ts';
import type { RequestRow } from '../requests/request.ts';

export interface AlertSettings {
  alerts?: Alerts | undefined;
  delivery: { giveUpAfterHours: number };
}

/**
 * Mailing lists are destinations of the outbox, named with this prefix. Its colon distinguishes
 * them from configured destinations.
 */
const PREFIX = 'alert:';

export const destinationOf = ({ name }: Pick<AlertList, 'name'>): string => `${PREFIX}${name}`;

/**
 * Returns the mailing list that a delivery is sent to; undefined if the list is no longer in the
 * settings.
 */
export const listOf = (alerts: Alerts, destination: string): AlertList | undefined =>
  alerts.lists.find((list) => destinationOf(list) === destination);

/**
 * First word of `object` in the delivery of the first mail about a flag. In the delivery of an
 * escalation, the whole `object` is `ESCALATION`.
 */
export const ALERT = 'alert';
export const ESCALATION = 'escalation';

const giveUpSeconds = ({ delivery }: AlertSettings) => delivery.giveUpAfterHours * 3600;

/**
 * Creates the mails about a critical flag, in the transaction that logs the flag. Each mailing list
 * that covers the request gets one mail for each of its flags, even if the request runs again after
 * a crash. Requests made with test keys raise no alert.
 */
export async function raiseAlert(
  tx: Queryable,
  row: Pick<RequestRow, 'id' | 'endpoint' | 'model' | 'source' | 'test'>,
  { section, code }: { section: string; code: string },
  settings: AlertSettings,
): Promise<void> {
  const { alerts } = settings;
  if (!alerts || row.test) return;
  const source = row.source.kind === 'dicom' ? await sourceOf(tx, row.source.study) : null;
  const targets = alerts.lists
    .filter(
      ({ sources, endpoints }) =>
        (!sources || (source !== null && sources.includes(source))) &&
        (!endpoints || endpoints.includes(row.endpoint) || endpoints.includes(row.model)),
    )
    .map((list) => ({
      kind: 'mail' as const,
      destination: destinationOf(list),
      object: `${ALERT} ${section} ${code}`,
    }));
  await enqueueDeliveries(tx, row.id, targets, giveUpSeconds(settings));
}

async function sourceOf(tx: Queryable, study: string): Promise<string | null> {
  const { rows } = await tx.query<{ source: string }>('SELECT source FROM studies WHERE id = $1', [
    study,
  ]);
  return rows[0]?.source ?? null;
}

/** SQL condition: a person has acknowledged the flags of a request, or signed its result. */
const answered = (request: string) => `(EXISTS (
    SELECT 1 FROM triage_acknowledgements a WHERE a.request_id = ${request})
  OR EXISTS (SELECT 1 FROM reviews v WHERE v.request_id = ${request} AND v.signed_revision > 0))`;

/**
 * SQL condition: a person has seen the flags of the request `d.request_id`. If the study was
 * interpreted again, the console offers only the later request. Acknowledging the later request
 * therefore also counts for those flags of the earlier one that it repeats.
 */
const SEEN = `(${answered('d.request_id')} OR NOT EXISTS (
  SELECT 1 FROM request_events flag
  WHERE flag.request_id = d.request_id AND flag.name = 'triage' AND NOT EXISTS (
    SELECT 1 FROM study_requests own
      JOIN requests first ON first.id = own.request_id
      JOIN study_requests made ON made.study_id = own.study_id
      JOIN requests later ON later.id = made.request_id
      JOIN request_events again ON again.request_id = later.id AND again.name = 'triage'
    WHERE own.request_id = d.request_id AND later.endpoint = first.endpoint
      AND later.created_at > first.created_at
      AND again.data ->> 'section' = flag.data ->> 'section'
      AND again.data ->> 'code' = flag.data ->> 'code'
      AND ${answered('later.id')})))`;

/**
 * Returns true if a person has seen the flags of a request, in its result or in a later
 * interpretation of the study.
 */
export async function isSeen(database: Queryable, requestId: string): Promise<boolean> {
  const { rows } = await database.query<{ seen: boolean }>(
    `SELECT ${SEEN} AS seen FROM (SELECT $1::text AS request_id) AS d`,
    [requestId],
  );
  return rows[0]?.seen ?? false;
}

/**
 * An alert whose escalation was due longer ago than this is not escalated, so that a new setting
 * does not cause mails about old studies.
 */
const ESCALATED_WITHIN = "interval '2 days'";

/**
 * Creates the escalation mails: for each mailing list, one mail to its second recipients about each
 * request whose flags nobody has acknowledged, and whose result nobody has signed, within the
 * list's time. A list escalates each request only once.
 * @returns the number of mails.
 */
export async function escalateAlerts(database: Database, settings: AlertSettings): Promise<number> {
  let escalated = 0;
  for (const list of settings.alerts?.lists ?? []) {
    if (!list.escalation) continue;
    const destination = destinationOf(list);
    const { rows } = await database.query<{ request_id: string }>(
      `SELECT DISTINCT d.request_id FROM deliveries d
       WHERE d.kind = 'mail' AND d.destination = $1 AND d.object <> $3
         AND d.created_at <= now() - make_interval(secs => $2)
         AND d.created_at > now() - make_interval(secs => $2) - ${ESCALATED_WITHIN}
         AND NOT EXISTS (SELECT 1 FROM deliveries e WHERE e.request_id = d.request_id
           AND e.destination = d.destination AND e.object = $3)
         AND NOT ${SEEN}`,
      [destination, list.escalation.afterMinutes * 60, ESCALATION],
    );
    for (const { request_id: id } of rows) {
      const target = { kind: 'mail' as const, destination, object: ESCALATION };
      await database.transaction((tx) =>
        enqueueDeliveries(tx, id, [target], giveUpSeconds(settings)),
      );
      escalated += 1;
    }
  }
  return escalated;
}

/**
 * Records that a person has seen the critical flags of a request. If several people have, the first
 * is recorded.
 * @returns true if the request has flags.
 */
export async function acknowledgeFlags(
  database: Queryable,
  requestId: string,
  { person, at }: { person: string; at: Date },
): Promise<boolean> {
  const { rows } = await database.query(
    `SELECT 1 FROM request_events WHERE request_id = $1 AND name = 'triage' LIMIT 1`,
    [requestId],
  );
  if (rows.length === 0) return false;
  await database.query(
    `INSERT INTO triage_acknowledgements (request_id, at, person) VALUES ($1, $2, $3)
     ON CONFLICT (request_id) DO NOTHING`,
    [requestId, at, person],
  );
  return true;
}
