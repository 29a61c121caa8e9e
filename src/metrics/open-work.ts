import type { Queryable } from '../database/port.ts';
import type { RequestQueue } from '../queue/queue.ts';
import type { Metric, Sample } from './exposition.ts';

interface Group {
  labels: Record<string, string>;
  value: number;
}

interface Gauge {
  name: string;
  help: string;
  /** Gives rows of `labels` and `value`; reads an index of what is open, not the history. */
  query: string;
}

const SECONDS_SINCE = (column: string) =>
  `GREATEST(0, EXTRACT(EPOCH FROM now() - min(${column})))::float8`;

/** Webhooks go wherever clients say: their addresses are no label. */
const DESTINATION = `CASE WHEN kind = 'webhook' THEN 'webhooks' ELSE destination END`;

const GAUGES: readonly Gauge[] = [
  {
    name: 'sonogate_requests',
    help: 'Requests that have not ended, by status. Of the site: take one process.',
    query: `SELECT jsonb_build_object('status', status) AS labels, count(*)::float8 AS value
      FROM requests WHERE status IN ('queued', 'preparing', 'running') GROUP BY status`,
  },
  {
    name: 'sonogate_request_oldest_seconds',
    help: 'Age of the oldest request that has not ended, by status. Of the site.',
    query: `SELECT jsonb_build_object('status', status) AS labels,
        ${SECONDS_SINCE('created_at')} AS value
      FROM requests WHERE status IN ('queued', 'preparing', 'running') GROUP BY status`,
  },
  {
    name: 'sonogate_deliveries',
    help: 'Deliveries that wait or are being sent, by destination. Of the site.',
    query: `SELECT jsonb_build_object('destination', ${DESTINATION}, 'state', state) AS labels,
        count(*)::float8 AS value
      FROM deliveries WHERE state IN ('pending', 'sending') GROUP BY 1`,
  },
  {
    name: 'sonogate_delivery_oldest_seconds',
    help: 'Age of the oldest delivery that is not confirmed, by destination. Of the site.',
    query: `SELECT jsonb_build_object('destination', ${DESTINATION}) AS labels,
        ${SECONDS_SINCE('created_at')} AS value
      FROM deliveries WHERE state IN ('pending', 'sending') GROUP BY 1`,
  },
  {
    name: 'sonogate_deliveries_dead',
    help: 'Deliveries that were given up or refused and wait for a person. Of the site.',
    query: `SELECT jsonb_build_object('destination', ${DESTINATION}) AS labels,
        count(*)::float8 AS value
      FROM deliveries WHERE state = 'dead' GROUP BY 1`,
  },
  {
    name: 'sonogate_destination_breaker',
    help: '1 for the state of the breaker of a destination that fails. Of the site.',
    query: `SELECT jsonb_build_object('destination', destination, 'state', state) AS labels,
        1::float8 AS value
      FROM destination_breakers WHERE state <> 'closed'`,
  },
  {
    name: 'sonogate_studies',
    help: 'Studies that are not settled, by state. Of the site.',
    query: `SELECT jsonb_build_object('state', state) AS labels, count(*)::float8 AS value FROM (
        SELECT state FROM studies WHERE state IN ('receiving', 'complete')
        UNION ALL SELECT state FROM studies WHERE state IN ('held', 'unrouted', 'refused')
      ) AS unsettled GROUP BY 1`,
  },
  {
    name: 'sonogate_study_oldest_seconds',
    help: 'Since the first object of the oldest study that is not settled, by state. Of the site.',
    query: `SELECT jsonb_build_object('state', state) AS labels,
        ${SECONDS_SINCE('first_received_at')} AS value
      FROM studies WHERE state IN ('receiving', 'complete') GROUP BY state`,
  },
  {
    name: 'sonogate_rows_estimated',
    help: 'Rows of the large tables as the database estimates them. Of the site.',
    query: `SELECT jsonb_build_object('table', relname) AS labels,
        GREATEST(0, reltuples)::float8 AS value
      FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace
        AND relname IN ('studies', 'instances', 'requests', 'deliveries', 'audit')`,
  },
];

/** What waits or is under way, read from the tables and the queue at each call; no identity. */
export async function readOpenWork(
  database: Queryable,
  queue: Pick<RequestQueue, 'counts'>,
): Promise<Metric[]> {
  const gauges = GAUGES.map(async ({ name, help, query }): Promise<Metric> => {
    const { rows } = await database.query<Group>(query);
    return { name, help, type: 'gauge', samples: rows };
  });
  const { waiting, active } = await queue.counts();
  const jobs: Sample[] = [
    { labels: { state: 'waiting' }, value: waiting },
    { labels: { state: 'active' }, value: active },
  ];
  return [
    ...(await Promise.all(gauges)),
    { name: 'sonogate_queue_jobs', help: 'Jobs on the queue.', type: 'gauge', samples: jobs },
  ];
}
