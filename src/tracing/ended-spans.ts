import { followRows } from '../database/follow-rows.ts';
import type { Queryable } from '../database/port.ts';
import { deliverySpan, type EndedDelivery } from './delivery-spans.ts';
import { type EndedRequest, requestSpans } from './request-spans.ts';
import type { Span } from './span.ts';

const UNIX = (time: string) => `EXTRACT(EPOCH FROM ${time})::float8`;

const ENDED_REQUESTS = `
  SELECT r.id, r.source, r.endpoint, r.status, r.fault ->> 'code' AS code, r.attempts,
    ${UNIX('r.created_at')} AS created, ${UNIX('r.started_at')} AS started,
    ${UNIX('r.ended_at')} AS ended,
    COALESCE((SELECT jsonb_agg(jsonb_build_object('name', e.data ->> 'name', 'at', ${UNIX('e.at')})
        ORDER BY e.seq)
      FROM request_events e WHERE e.request_id = r.id AND e.name = 'stage'), '[]') AS stages,
    CASE WHEN r.source ->> 'kind' = 'dicom' THEN (
      SELECT jsonb_build_object('objects', count(*), 'bytes', COALESCE(sum(i.bytes), 0),
        'first', COALESCE(${UNIX('min(i.received_at)')}, ${UNIX('r.created_at')}),
        'last', COALESCE(${UNIX('max(i.received_at)')}, ${UNIX('r.created_at')}),
        'complete', (SELECT ${UNIX('max(h.at)')} FROM study_history h
          WHERE h.study_id = (r.source ->> 'study')::uuid AND h.state = 'complete'
            AND h.revision = (r.source ->> 'revision')::int AND h.at <= r.created_at),
        'because', (SELECT max(h.complete_because) FROM study_history h
          WHERE h.study_id = (r.source ->> 'study')::uuid AND h.state = 'complete'
            AND h.revision = (r.source ->> 'revision')::int))
      FROM instances i WHERE i.study_id = (r.source ->> 'study')::uuid
        AND i.revision = (r.source ->> 'revision')::int) END AS study
  FROM requests r WHERE r.ended_at > to_timestamp($1) ORDER BY r.ended_at LIMIT $2`;

const ENDED_DELIVERIES = `
  SELECT d.id, d.request_id AS request, r.source, d.kind, d.destination, d.object, d.state, d.code,
    d.attempt AS attempts, ${UNIX('d.created_at')} AS created, ${UNIX('d.ended_at')} AS ended
  FROM deliveries d JOIN requests r ON r.id = d.request_id
  WHERE d.ended_at > to_timestamp($1) ORDER BY d.ended_at LIMIT $2`;

/** What ended while no process ran is told by the next one, up to this age. */
const LOOK_BACK_SECONDS = 3600;

/** The spans of requests and deliveries that have ended since the last call, as the tables tell them. */
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
    (row) => {
      const span = deliverySpan(row, ratio);
      if (span) found.push(span);
    },
    LOOK_BACK_SECONDS,
  );
  return async () => {
    await requests();
    await deliveries();
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
