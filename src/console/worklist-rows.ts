import type { DicomIdentity } from '../../pipelines/artifacts/subject.ts';
import type { Queryable } from '../database/port.ts';
import { HELD_FOR_A_PERSON } from '../outbox/held.ts';
import type { RequestStatus } from '../requests/port.ts';
import type { Stage } from '../requests/row.ts';
import type { ConsoleRole, RowState, WorklistRow } from './contract.ts';
import type { ShowSubject } from './identity.ts';
import { readsFreeText } from './roles.ts';

/** A row of the worklist with all that belongs to it, before a role is known. */
export interface ListedRow {
  key: string;
  study_id: string | null;
  request_id: string | null;
  state: RowState;
  source: string;
  endpoint: string | null;
  tags: string[];
  arrived_at: Date;
  changed_at: Date;
  /** Of the study; null for a request that came without one. */
  identity: DicomIdentity | null;
  reason: string | null;
  revision: number | null;
  instance_count: number | null;
  complete_after: Date | null;
  /** Of the newest request. */
  status: RequestStatus | null;
  stage: Stage | null;
  fault_detail: string | null;
  test: boolean | null;
  files: number | null;
  glance: WorklistRow['glance'];
  flags: { display: string | null; section: string | null; at: string }[];
  acknowledged_by: string | null;
  acknowledged_at: Date | null;
  deliveries: WorklistRow['deliveries'];
  next_delivery: { destination: string; nextAt: string } | null;
}

/** `display` of a purged flag is gone. */
const FLAGS = `
  SELECT coalesce(jsonb_agg(jsonb_build_object('display', e.data ->> 'display',
    'section', e.data ->> 'section', 'at', e.at) ORDER BY e.seq), '[]') AS flags
  FROM request_events e WHERE e.request_id = w.request_id AND e.name = 'triage'`;

const DELIVERIES = `
  SELECT jsonb_build_object(
      'waiting', count(*) FILTER (WHERE d.state IN ('pending', 'sending')),
      'delivered', count(*) FILTER (WHERE d.state = 'delivered'),
      'dead', count(*) FILTER (WHERE d.state = 'dead' AND NOT ${HELD_FOR_A_PERSON}),
      'held', count(*) FILTER (WHERE ${HELD_FOR_A_PERSON})) AS deliveries,
    (SELECT jsonb_build_object('destination', next.destination, 'nextAt', next.next_at)
      FROM deliveries next WHERE next.request_id = w.request_id AND next.kind <> 'webhook'
        AND next.state = 'pending' ORDER BY next.next_at LIMIT 1) AS next_delivery
  FROM deliveries d WHERE d.request_id = w.request_id AND d.kind <> 'webhook'`;

/** The rows of these keys, in their order; keys without a row are left out. */
export async function readRows(database: Queryable, keys: readonly string[]): Promise<ListedRow[]> {
  if (keys.length === 0) return [];
  const { rows } = await database.query<ListedRow>(
    `SELECT w.key, w.study_id, w.request_id, w.state, w.source, w.endpoint, w.tags, w.arrived_at,
       w.changed_at, s.identity, s.reason, s.revision, s.instance_count, s.complete_after,
       r.status, r.stage, r.fault ->> 'detail' AS fault_detail, r.test,
       jsonb_array_length(r.files) AS files, g.glance, flags.flags,
       a.person AS acknowledged_by, a.at AS acknowledged_at, sent.deliveries, sent.next_delivery
     FROM worklist w
       LEFT JOIN studies s ON s.id = w.study_id
       LEFT JOIN requests r ON r.id = w.request_id
       LEFT JOIN result_glances g ON g.request_id = w.request_id
       LEFT JOIN triage_acknowledgements a ON a.request_id = w.request_id,
       LATERAL (${FLAGS}) flags, LATERAL (${DELIVERIES}) sent
     WHERE w.key = ANY ($1::text[])`,
    [keys],
  );
  const byKey = new Map(rows.map((row) => [row.key, row]));
  return keys.flatMap((key) => byKey.get(key) ?? []);
}

/** The row as a role sees it. */
export function showRow(row: ListedRow, role: ConsoleRole, showSubject: ShowSubject): WorklistRow {
  const { waitsFor, waitsUntil } = waiting(row);
  return {
    key: row.key,
    kind: row.study_id === null ? 'request' : 'study',
    subject: row.identity && showSubject(role, row.identity),
    state: row.state,
    // Both may repeat what a header holds.
    reason: readsFreeText(role) ? (row.reason ?? row.fault_detail) : null,
    source: row.source,
    endpoint: row.endpoint,
    requestId: row.request_id,
    revision: row.revision ?? 1,
    objects: row.instance_count ?? row.files ?? 0,
    tags: row.tags,
    test: row.test ?? false,
    arrivedAt: row.arrived_at.toISOString(),
    changedAt: row.changed_at.toISOString(),
    waitsFor,
    waitsUntil: waitsUntil?.toISOString() ?? null,
    stage: row.stage && shownStage(row.stage),
    critical: row.flags.map(({ display, section, at }) => ({
      text: display ?? 'Critical flag (purged)',
      section: section ?? '',
      at: new Date(at).toISOString(),
    })),
    acknowledged:
      row.acknowledged_by !== null && row.acknowledged_at !== null
        ? { person: row.acknowledged_by, at: row.acknowledged_at.toISOString() }
        : null,
    glance: row.glance,
    deliveries: row.deliveries,
  };
}

export const shownStage = ({ name, label, progress, eta_s }: Stage): WorklistRow['stage'] => ({
  name,
  label,
  progress,
  etaSeconds: eta_s,
});

/** What a row waits for; `waitsUntil` is null where nothing says how long. */
function waiting(row: ListedRow): { waitsFor: string | null; waitsUntil: Date | null } {
  const until = row.complete_after;
  switch (row.state) {
    case 'receiving':
      return { waitsFor: 'more objects', waitsUntil: until };
    case 'complete':
      return { waitsFor: row.reason === null ? 'its rules' : 'the next try', waitsUntil: until };
    case 'held':
      return { waitsFor: 'a person to release it', waitsUntil: null };
    case 'queued':
      return { waitsFor: 'a worker', waitsUntil: null };
    case 'preparing':
    case 'running':
      return { waitsFor: 'its result', waitsUntil: null };
    default:
      return afterwards(row);
  }
}

function afterwards({ deliveries, next_delivery: next }: ListedRow): ReturnType<typeof waiting> {
  if (deliveries.held > 0) return { waitsFor: 'a person to confirm the patient', waitsUntil: null };
  if (next)
    return { waitsFor: `delivery to ${next.destination}`, waitsUntil: new Date(next.nextAt) };
  return { waitsFor: null, waitsUntil: null };
}
