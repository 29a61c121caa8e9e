import type { CriticalFlag } from '../../../pipelines/contract/job.ts';
import type { Withdrawal } from '../../../pipelines/contract/withdrawal.ts';
import type { Queryable } from '../../platform/database/port.ts';
import { announceChange } from './changes.ts';
import type { RequestFault, RequestStatus, Stage } from './request.ts';

export const EVENT_NAMES = [
  'status',
  'stage',
  'triage',
  'partial',
  'error',
  'done',
  'withdrawn',
] as const;
export type EventName = (typeof EVENT_NAMES)[number];

/** One event of a request. `seq` starts at 1 and has no gaps within the request. */
export interface StoredEvent {
  seq: number;
  name: EventName;
  /** Payload (api 6.1) with complete URLs. */
  data: unknown;
  at: Date;
}

/** A critical flag, and when it was raised. */
export interface TriageData extends CriticalFlag {
  at: string;
}

interface PartialData {
  artifact: { name: string; media_type: string };
  section: string;
  caption: string;
}

/**
 * An event as stored. URLs are left out because they depend on how a client reached us. The request
 * object is left out too: it is added in its present state when the event is read.
 */
export type EventRecord =
  | { name: 'status'; data: { status: RequestStatus; previous: RequestStatus | null; at: string } }
  | { name: 'stage'; data: Stage }
  | { name: 'triage'; data: TriageData }
  | { name: 'partial'; data: PartialData }
  | { name: 'error'; data: RequestFault }
  | { name: 'done'; data: null }
  | { name: 'withdrawn'; data: Withdrawal };

/** Position of an event in the log of its request. */
export type LogEntry = Pick<StoredEvent, 'seq' | 'at'>;

/**
 * Adds events to the log of a request. Locking the row of the counter puts writers in order and
 * leaves no gaps in the sequence: a transaction that rolls back also rolls back its numbers.
 */
export async function appendEvents(
  tx: Queryable,
  id: string,
  at: Date,
  events: readonly EventRecord[],
): Promise<void> {
  for (const { name, data } of events) {
    await tx.query(
      `WITH next AS (UPDATE requests SET last_seq = last_seq + 1 WHERE id = $1 RETURNING last_seq)
       INSERT INTO request_events (request_id, seq, name, data, at)
       SELECT $1, last_seq, $2, $3::jsonb, $4 FROM next`,
      [id, name, data === null ? null : JSON.stringify(data), at],
    );
  }
  await announceChange(tx, id);
}

/** Returns the stored events after `afterSeq`, in order. */
export async function listEvents(
  database: Queryable,
  id: string,
  afterSeq: number,
): Promise<(EventRecord & LogEntry)[]> {
  const { rows } = await database.query<EventRecord & LogEntry>(
    'SELECT seq, name, data, at FROM request_events WHERE request_id = $1 AND seq > $2::bigint ORDER BY seq',
    [id, afterSeq],
  );
  return rows;
}

/** A request, and the number of the last event already read from its log. */
export interface LogPlace {
  id: string;
  after: number;
}

/**
 * Like `listEvents`, for many requests. If `places` contains a request twice, the lower `after`
 * applies.
 */
export async function listEventsOfMany(
  database: Queryable,
  places: readonly LogPlace[],
): Promise<Map<string, (EventRecord & LogEntry)[]>> {
  const after = new Map<string, number>();
  for (const { id, after: seq } of places) after.set(id, Math.min(seq, after.get(id) ?? seq));
  const { rows } = await database.query<EventRecord & LogEntry & { request_id: string }>(
    `SELECT request_id, seq, name, data, at
     FROM unnest($1::text[], $2::bigint[]) AS asked (id, after)
       JOIN request_events ON request_id = asked.id AND seq > asked.after
     ORDER BY request_id, seq`,
    [[...after.keys()], [...after.values()]],
    'list-events',
  );
  const events = new Map<string, (EventRecord & LogEntry)[]>();
  for (const { request_id, ...event } of rows) {
    const log = events.get(request_id) ?? [];
    log.push(event);
    events.set(request_id, log);
  }
  return events;
}

/** Returns the status of each request; unknown requests are omitted. */
export async function listStatuses(
  database: Queryable,
  places: readonly LogPlace[],
): Promise<Map<string, RequestStatus>> {
  const { rows } = await database.query<{ id: string; status: RequestStatus }>(
    'SELECT id, status FROM requests WHERE id = ANY($1::text[])',
    [[...new Set(places.map(({ id }) => id))]],
    'list-statuses',
  );
  return new Map(rows.map(({ id, status }) => [id, status]));
}
