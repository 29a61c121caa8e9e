import type { ModelInUse } from '../pipelines/contract/job.ts';
import type { Queryable } from './database/port.ts';
import type { Metric } from './http/metrics.ts';
import type { RequestQueue } from './queue/queue.ts';

const COUNTS = [
  { name: 'sonogate_requests', help: 'Requests by status.', table: 'requests', by: 'status' },
  { name: 'sonogate_deliveries', help: 'Deliveries by state.', table: 'deliveries', by: 'state' },
  { name: 'sonogate_studies', help: 'Received studies by state.', table: 'studies', by: 'state' },
] as const;

/** Counts for `GET /metrics`, read from the tables at each call; no identity. */
export async function readMetrics(
  database: Queryable,
  queue: Pick<RequestQueue, 'counts'>,
  models: readonly ModelInUse[],
): Promise<Metric[]> {
  const tables = COUNTS.map(async ({ name, help, table, by }): Promise<Metric> => {
    const { rows } = await database.query<{ label: string; count: string }>(
      `SELECT ${by} AS label, count(*) AS count FROM ${table} GROUP BY ${by} ORDER BY ${by}`,
    );
    const samples = rows.map(({ label, count }) => ({
      labels: { [by]: label },
      value: Number(count),
    }));
    return { name, help, type: 'gauge', samples };
  });
  const { waiting, active } = await queue.counts();
  const jobs: Metric = {
    name: 'sonogate_queue_jobs',
    help: 'Jobs on the queue.',
    type: 'gauge',
    samples: [
      { labels: { state: 'waiting' }, value: waiting },
      { labels: { state: 'active' }, value: active },
    ],
  };
  const inUse: Metric = {
    name: 'sonogate_models',
    help: 'Models open in the pipeline process of this gateway, and what each runs on.',
    type: 'gauge',
    samples: models.map(({ id, version, pack, provider }) => ({
      labels: { model: id, version, pack, provider },
      value: 1,
    })),
  };
  return [...(await Promise.all(tables)), jobs, inUse];
}
