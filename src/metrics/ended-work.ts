import { followRows } from '../database/follow-rows.ts';
import type { Queryable } from '../database/port.ts';
import { WAITING_SECONDS, WORKING_SECONDS } from './buckets.ts';
import type { Metric } from './exposition.ts';
import { createCounter, createHistogram } from './meters.ts';

interface EndedRequest {
  id: string;
  endpoint: string;
  status: string;
  ended: number;
  wait: number | null;
  run: number | null;
  /** From the first object of its study; null where there is no study. */
  study: number | null;
  stages: { name: string; seconds: number }[];
}

interface EndedDelivery {
  id: string;
  destination: string;
  kind: string;
  state: string;
  ended: number;
  /** From the first object of its study to the peer's answer. */
  door: number | null;
}

const ENDED_REQUESTS = `
  SELECT r.id, r.endpoint, r.status,
    EXTRACT(EPOCH FROM r.ended_at)::float8 AS ended,
    EXTRACT(EPOCH FROM r.started_at - r.created_at)::float8 AS wait,
    EXTRACT(EPOCH FROM r.ended_at - r.started_at)::float8 AS run,
    EXTRACT(EPOCH FROM r.ended_at - s.first_received_at)::float8 AS study,
    COALESCE((SELECT jsonb_agg(jsonb_build_object('name', name, 'seconds', seconds)) FROM (
      SELECT data ->> 'name' AS name,
        EXTRACT(EPOCH FROM lead(at) OVER (ORDER BY seq) - at)::float8 AS seconds
      FROM request_events e WHERE e.request_id = r.id AND e.name = 'stage') AS stage
      WHERE seconds IS NOT NULL), '[]') AS stages
  FROM requests r
    LEFT JOIN study_requests q ON q.request_id = r.id AND q.revision = 1
    LEFT JOIN studies s ON s.id = q.study_id
  WHERE r.ended_at > to_timestamp($1) ORDER BY r.ended_at LIMIT $2`;

const ENDED_DELIVERIES = `
  SELECT d.id, d.destination, d.kind, d.state,
    EXTRACT(EPOCH FROM d.ended_at)::float8 AS ended,
    CASE WHEN d.state = 'delivered' AND q.revision = 1 THEN
      EXTRACT(EPOCH FROM d.ended_at - s.first_received_at)::float8 END AS door
  FROM deliveries d
    LEFT JOIN study_requests q ON q.request_id = d.request_id
    LEFT JOIN studies s ON s.id = q.study_id
  WHERE d.ended_at > to_timestamp($1) ORDER BY d.ended_at LIMIT $2`;

/**
 * Histograms of the work that has ended since this process began to be asked, by following the
 * tables: every process of a site comes to the same rates, whichever of them did the work.
 */
export function followEndedWork(database: Queryable): () => Promise<Metric[]> {
  const ended = createCounter({
    name: 'sonogate_requests_ended_total',
    help: 'Requests that have ended, by endpoint and status. Of the site: take one process.',
  });
  const wait = createHistogram({
    name: 'sonogate_request_wait_seconds',
    help: 'From the submission of a request to the start of its pipeline. Of the site.',
    buckets: WAITING_SECONDS,
  });
  const run = createHistogram({
    name: 'sonogate_request_run_seconds',
    help: 'From the start of the pipeline to the end of the request. Of the site.',
    buckets: WORKING_SECONDS,
  });
  const stage = createHistogram({
    name: 'sonogate_request_stage_seconds',
    help: 'Time in each stage of a request. Of the site.',
    buckets: WORKING_SECONDS,
  });
  const result = createHistogram({
    name: 'sonogate_study_to_result_seconds',
    help: 'From the first object of a study to its first result. Of the site.',
    buckets: WAITING_SECONDS,
  });
  const deliveries = createCounter({
    name: 'sonogate_deliveries_ended_total',
    help: 'Deliveries that have ended, by destination and state. Of the site.',
  });
  const door = createHistogram({
    name: 'sonogate_door_to_report_seconds',
    help: 'From the first object of a study to a destination that has its first result. Of the site.',
    buckets: WAITING_SECONDS,
  });

  const onRequest = (row: EndedRequest) => {
    const { endpoint, status } = row;
    ended.add(1, { endpoint, status });
    if (row.wait !== null) wait.observe(row.wait, { endpoint });
    if (row.run !== null) run.observe(row.run, { endpoint });
    if (row.study !== null && status === 'succeeded') result.observe(row.study, { endpoint });
    for (const { name, seconds } of row.stages) stage.observe(seconds, { endpoint, stage: name });
  };
  const onDelivery = (row: EndedDelivery) => {
    // Webhooks go wherever clients say: their addresses are no label.
    const destination = row.kind === 'webhook' ? 'webhooks' : row.destination;
    deliveries.add(1, { destination, kind: row.kind, state: row.state });
    if (row.door !== null && row.kind !== 'webhook') door.observe(row.door, { destination });
  };
  const requestsRead = followRows<EndedRequest>(database, ENDED_REQUESTS, onRequest);
  const deliveriesRead = followRows<EndedDelivery>(database, ENDED_DELIVERIES, onDelivery);

  return async () => {
    await requestsRead();
    await deliveriesRead();
    return [ended, wait, run, stage, result, deliveries, door].map((meter) => meter.read());
  };
}
