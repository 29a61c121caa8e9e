import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { DELIVERY_KINDS, type DeliveryKind, TO_CLIENTS } from '../../core/outbox/delivery.ts';
import type { RequestQueue } from '../../core/queue/queue.ts';
import { followRows } from '../../platform/database/follow-rows.ts';
import type { Queryable } from '../../platform/database/port.ts';

interface Group {
  labels: Record<string, string>;
  value: number;
}

interface TableGauge {
  name: string;
  help: string;
  labels: readonly string[];
  /**
   * SQL that returns rows with two columns: `labels`, a JSON object with these labels, and `value`.
   * It must use an index on open work, not read the history.
   */
  query: string;
}

const SECONDS_SINCE = (column: string) =>
  `GREATEST(0, EXTRACT(EPOCH FROM now() - min(${column})))::float8`;

/**
 * SQL for the destination as a label. Clients can create any number of webhooks and subscriptions,
 * so all webhooks share one label, and all subscriptions another.
 */
const DESTINATION = `CASE WHEN kind IN ${TO_CLIENTS} THEN kind || 's' ELSE destination END`;

const GAUGES: readonly TableGauge[] = [
  {
    name: 'sonogate_requests',
    help: 'Requests that have not ended, by status. Covers the whole site, so read it from one process.',
    labels: ['status'],
    query: `SELECT jsonb_build_object('status', status) AS labels, count(*)::float8 AS value
      FROM requests WHERE status IN ('queued', 'preparing', 'running') GROUP BY status`,
  },
  {
    name: 'sonogate_request_oldest_seconds',
    help: 'Age of the oldest request that has not ended, by status. For the whole site.',
    labels: ['status'],
    query: `SELECT jsonb_build_object('status', status) AS labels,
        ${SECONDS_SINCE('created_at')} AS value
      FROM requests WHERE status IN ('queued', 'preparing', 'running') GROUP BY status`,
  },
  {
    name: 'sonogate_deliveries',
    help: 'Deliveries that wait or are being sent, by destination. For the whole site.',
    labels: ['destination', 'state'],
    query: `SELECT jsonb_build_object('destination', ${DESTINATION}, 'state', state) AS labels,
        count(*)::float8 AS value
      FROM deliveries WHERE state IN ('pending', 'sending') GROUP BY 1`,
  },
  {
    name: 'sonogate_delivery_oldest_seconds',
    help: 'Age of the oldest delivery that is not confirmed, by destination. For the whole site.',
    labels: ['destination'],
    query: `SELECT jsonb_build_object('destination', ${DESTINATION}) AS labels,
        ${SECONDS_SINCE('created_at')} AS value
      FROM deliveries WHERE state IN ('pending', 'sending') GROUP BY 1`,
  },
  {
    name: 'sonogate_deliveries_dead',
    help: 'Deliveries that were given up or refused and wait for a person. For the whole site.',
    labels: ['destination'],
    query: `SELECT jsonb_build_object('destination', ${DESTINATION}) AS labels,
        count(*)::float8 AS value
      FROM deliveries WHERE state = 'dead' GROUP BY 1`,
  },
  {
    name: 'sonogate_commitment_oldest_seconds',
    help: 'Time since the delivery of the oldest object to which the PACS was asked to commit and has not. For the whole site.',
    labels: ['destination'],
    query: `SELECT jsonb_build_object('destination', o.destination) AS labels,
        ${SECONDS_SINCE('d.ended_at')} AS value
      FROM delivered_objects o JOIN deliveries d ON d.id = o.delivery_id
      WHERE o.committed_at IS NULL AND o.failure_reason IS NULL AND o.asked_at IS NOT NULL
      GROUP BY o.destination`,
  },
  {
    name: 'sonogate_destination_breaker',
    help: '1 for the current circuit breaker state of each failing destination. For the whole site.',
    labels: ['destination', 'state'],
    query: `SELECT jsonb_build_object('destination', destination, 'state', state) AS labels,
        1::float8 AS value
      FROM destination_breakers WHERE state <> 'closed'`,
  },
  {
    name: 'sonogate_studies',
    help: 'Studies that are not settled, by state. For the whole site.',
    labels: ['state'],
    query: `SELECT jsonb_build_object('state', state) AS labels, count(*)::float8 AS value FROM (
        SELECT state FROM studies WHERE state IN ('receiving', 'complete')
        UNION ALL SELECT state FROM studies WHERE state IN ('held', 'unrouted', 'refused')
      ) AS unsettled GROUP BY 1`,
  },
  {
    name: 'sonogate_study_oldest_seconds',
    help: 'Time since the first object of the oldest study that is not settled, by state. For the whole site.',
    labels: ['state'],
    query: `SELECT jsonb_build_object('state', state) AS labels,
        ${SECONDS_SINCE('first_received_at')} AS value
      FROM studies WHERE state IN ('receiving', 'complete') GROUP BY state`,
  },
  {
    name: 'sonogate_rows_estimated',
    help: 'Rows of the large tables, as estimated by the database. For the whole site.',
    labels: ['table'],
    query: `SELECT jsonb_build_object('table', relname) AS labels,
        GREATEST(0, reltuples)::float8 AS value
      FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace
        AND relname IN ('studies', 'instances', 'requests', 'deliveries', 'audit')`,
  },
];

/**
 * Returns a function that updates the gauges of open work from the tables and the queue. The gauges
 * contain no patient identity.
 */
export function watchOpenWork(
  database: Queryable,
  queue: Pick<RequestQueue, 'counts'>,
  registry: Registry,
): () => Promise<void> {
  const registers = [registry];
  const gauges = GAUGES.map(({ name, help, labels, query }) => ({
    gauge: new Gauge({ name, help, labelNames: labels, registers }),
    query,
  }));
  const jobs = new Gauge({
    name: 'sonogate_queue_jobs',
    help: 'Jobs in the queue.',
    labelNames: ['state'],
    registers,
  });
  return async () => {
    await Promise.all(
      gauges.map(async ({ gauge, query }) => {
        const { rows } = await database.query<Group>(query);
        // Without the reset, a label that no longer has a row would keep its last value.
        gauge.reset();
        for (const { labels, value } of rows) gauge.set(labels, value);
      }),
    );
    const { waiting, active } = await queue.counts();
    jobs.set({ state: 'waiting' }, waiting);
    jobs.set({ state: 'active' }, active);
  };
}

/** Buckets for waiting times in seconds: from a second to a day. */
const WAITING_SECONDS = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21_600, 86_400];

/** Buckets for working times in seconds: from ten milliseconds to ten minutes. */
export const WORKING_SECONDS = [
  0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600,
];

interface EndedRequest {
  id: string;
  endpoint: string;
  status: string;
  ended: number;
  wait: number | null;
  run: number | null;
  /**
   * Seconds from the first object of the study to the end of the request; null without a study and
   * for later revisions.
   */
  study: number | null;
  stages: { name: string; seconds: number }[];
}

interface EndedDelivery {
  id: string;
  destination: string;
  kind: DeliveryKind;
  state: string;
  ended: number;
  /**
   * Seconds from the first object of the study to the peer's response; null if there is no study,
   * if the delivery failed, and for later revisions.
   */
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
 * Builds histograms of finished work from the tables. Each call of the returned function adds the
 * work that has ended since the previous call; the first call adds nothing. Every process of an
 * installation reports the same rates, whichever process did the work.
 */
export function followEndedWork(database: Queryable, registry: Registry): () => Promise<void> {
  const registers = [registry];
  const ended = new Counter({
    name: 'sonogate_requests_ended_total',
    help: 'Requests that have ended, by endpoint and status. Covers the whole site, so read it from one process.',
    labelNames: ['endpoint', 'status'],
    registers,
  });
  const wait = new Histogram({
    name: 'sonogate_request_wait_seconds',
    help: 'Time from the submission of a request to the start of its pipeline. For the whole site.',
    labelNames: ['endpoint'],
    buckets: WAITING_SECONDS,
    registers,
  });
  const run = new Histogram({
    name: 'sonogate_request_run_seconds',
    help: 'Time from the start of the pipeline to the end of the request. For the whole site.',
    labelNames: ['endpoint'],
    buckets: WORKING_SECONDS,
    registers,
  });
  const stage = new Histogram({
    name: 'sonogate_request_stage_seconds',
    help: 'Time in each stage of a request. For the whole site.',
    labelNames: ['endpoint', 'stage'],
    buckets: WORKING_SECONDS,
    registers,
  });
  const result = new Histogram({
    name: 'sonogate_study_to_result_seconds',
    help: 'Time from the first object of a study to its first result. For the whole site.',
    labelNames: ['endpoint'],
    buckets: WAITING_SECONDS,
    registers,
  });
  const deliveries = new Counter({
    name: 'sonogate_deliveries_ended_total',
    help: 'Deliveries that have ended, by destination and state. For the whole site.',
    labelNames: ['destination', 'kind', 'state'],
    registers,
  });
  const door = new Histogram({
    name: 'sonogate_door_to_report_seconds',
    help: 'Time from the first object of a study until a destination has its first result. For the whole site.',
    labelNames: ['destination'],
    buckets: WAITING_SECONDS,
    registers,
  });

  const onRequest = (row: EndedRequest) => {
    const { endpoint, status } = row;
    ended.inc({ endpoint, status });
    if (row.wait !== null) wait.observe({ endpoint }, row.wait);
    if (row.run !== null) run.observe({ endpoint }, row.run);
    if (row.study !== null && status === 'succeeded') result.observe({ endpoint }, row.study);
    for (const { name, seconds } of row.stages) stage.observe({ endpoint, stage: name }, seconds);
  };
  const onDelivery = (row: EndedDelivery) => {
    // Clients create webhooks and subscriptions, so their ids are not used as labels.
    const { toClient } = DELIVERY_KINDS[row.kind];
    const destination = toClient ? `${row.kind}s` : row.destination;
    deliveries.inc({ destination, kind: row.kind, state: row.state });
    if (row.door !== null && !toClient) door.observe({ destination }, row.door);
  };
  const requestsRead = followRows<EndedRequest>(database, ENDED_REQUESTS, onRequest);
  const deliveriesRead = followRows<EndedDelivery>(database, ENDED_DELIVERIES, onDelivery);

  return async () => {
    await requestsRead();
    await deliveriesRead();
  };
}
