import { followRows } from '../database/follow-rows.ts';
import type { Queryable } from '../database/port.ts';
import {
  type AnsweredCommitment,
  commitmentSpan,
  deliverySpan,
  type EndedDelivery,
} from './delivery-spans.ts';
import { type EndedRequest, requestSpans } from './request-spans.ts';
import type { Span } from './span.ts';
import { type RoutedStudy, routedSpans } from './study-spans.ts';

const UNIX = (time: string) => `EXTRACT(EPOCH FROM ${time})::float8`;

/** SQL: the reception of a revision that was judged at a time, as a ReceivedStudy. */
const received = (study: string, revision: string, judged: string) => `(
  SELECT jsonb_build_object('objects', count(*), 'bytes', COALESCE(sum(i.bytes), 0),
    'first', COALESCE(${UNIX('min(i.received_at)')}, ${UNIX(judged)}),
    'last', COALESCE(${UNIX('max(i.received_at)')}, ${UNIX(judged)}),
    'complete', (SELECT ${UNIX('max(c.at)')} FROM study_history c WHERE c.study_id = ${study}
      AND c.state = 'complete' AND c.revision = ${revision} AND c.at <= ${judged}),
    'because', (SELECT max(c.complete_because) FROM study_history c WHERE c.study_id = ${study}
      AND c.state = 'complete' AND c.revision = ${revision}))
  FROM instances i WHERE i.study_id = ${study} AND i.revision = ${revision})`;

/** SQL: what the delivery `d` of the request `r`, if of any, came from. */
const SOURCE = `COALESCE(r.source, CASE WHEN d.request_id IS NULL AND d.study IS NOT NULL
  THEN jsonb_build_object('kind', 'dicom', 'study', d.study, 'revision', d.revision) END)`;

const ENDED_REQUESTS = `
  SELECT r.id, r.source, r.endpoint, r.status, r.fault ->> 'code' AS code, r.attempts,
    ${UNIX('r.created_at')} AS created, ${UNIX('r.started_at')} AS started,
    ${UNIX('r.ended_at')} AS ended,
    COALESCE((SELECT jsonb_agg(jsonb_build_object('name', e.data ->> 'name', 'at', ${UNIX('e.at')})
        ORDER BY e.seq)
      FROM request_events e WHERE e.request_id = r.id AND e.name = 'stage'), '[]') AS stages,
    CASE WHEN r.source ->> 'kind' = 'dicom' THEN
      ${received("(r.source ->> 'study')::uuid", "(r.source ->> 'revision')::int", 'r.created_at')}
    END AS study
  FROM requests r WHERE r.ended_at > to_timestamp($1) ORDER BY r.ended_at LIMIT $2`;

const ENDED_DELIVERIES = `
  SELECT d.id, d.request_id AS request, ${SOURCE} AS source, d.kind, d.destination, d.object, d.state, d.code,
    d.attempt AS attempts, ${UNIX('d.created_at')} AS created, ${UNIX('d.ended_at')} AS ended
  FROM deliveries d LEFT JOIN requests r ON r.id = d.request_id
  WHERE d.ended_at > to_timestamp($1) AND ${SOURCE} IS NOT NULL ORDER BY d.ended_at LIMIT $2`;

const ANSWERED_COMMITMENTS = `
  SELECT o.delivery_id || ' ' || o.sop_instance_uid AS id, o.delivery_id AS delivery,
    d.request_id AS request, ${SOURCE} AS source, o.destination,
    o.failure_reason IS NULL AS committed,
    ${UNIX('o.asked_at')} AS asked, ${UNIX('o.answered_at')} AS ended
  FROM delivered_objects o JOIN deliveries d ON d.id = o.delivery_id
    LEFT JOIN requests r ON r.id = d.request_id
  WHERE o.answered_at > to_timestamp($1) AND ${SOURCE} IS NOT NULL
  ORDER BY o.answered_at LIMIT $2`;

const ROUTED_STUDIES = `
  SELECT h.id::text, h.study_id AS study, h.revision, s.acting_rules AS rules,
    ${UNIX('h.at')} AS ended, ${received('h.study_id', 'h.revision', 'h.at')} AS received
  FROM study_history h JOIN studies s ON s.id = h.study_id
  WHERE h.state = 'routed' AND h.at > to_timestamp($1) ORDER BY h.at LIMIT $2`;

/** What ended while no process ran is told by the next one, up to this age. */
const LOOK_BACK_SECONDS = 3600;

/** The spans of what has ended since the last call, as the tables tell them. */
export function followEndedSpans(database: Queryable, ratio: number): () => Promise<Span[]> {
  let found: Span[] = [];
  const requests = followRows<EndedRequest>(
    database,
    ENDED_REQUESTS,
    (row) => found.push(...requestSpans(row, ratio)),
    LOOK_BACK_SECONDS,
  );
  const deliveries = followRows<EndedDelivery>(
    database,
    ENDED_DELIVERIES,
    (row) => keep(deliverySpan(row, ratio)),
    LOOK_BACK_SECONDS,
  );
  const commitments = followRows<AnsweredCommitment>(
    database,
    ANSWERED_COMMITMENTS,
    (row) => keep(commitmentSpan(row, ratio)),
    LOOK_BACK_SECONDS,
  );
  const routed = followRows<RoutedStudy>(
    database,
    ROUTED_STUDIES,
    (row) => found.push(...routedSpans(row, ratio)),
    LOOK_BACK_SECONDS,
  );
  const keep = (span: Span | null) => {
    if (span) found.push(span);
  };
  return async () => {
    for (const follow of [requests, deliveries, commitments, routed]) await follow();
    const spans = found;
    found = [];
    return spans;
  };
}

/** Those of the spans that no process has exported yet; they are this one's from now on. */
export async function claimSpans(database: Queryable, spans: readonly Span[]): Promise<Span[]> {
  if (spans.length === 0) return [];
  const { rows } = await database.query<{ span_id: string }>(
    `INSERT INTO trace_exports (span_id) SELECT DISTINCT unnest($1::text[])
     ON CONFLICT DO NOTHING RETURNING span_id`,
    [spans.map(({ spanId }) => spanId)],
  );
  const ours = new Set(rows.map(({ span_id }) => span_id));
  return spans.filter(({ spanId }) => ours.delete(spanId));
}

export async function forgetClaims(database: Queryable): Promise<void> {
  await database.query(
    'DELETE FROM trace_exports WHERE at < now() - make_interval(secs => $1 * 2)',
    [LOOK_BACK_SECONDS],
  );
}
