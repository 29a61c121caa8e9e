import type { Config } from '../../config/schema.ts';
import type { Queryable } from '../database/port.ts';
import type { HttpDeps } from '../http/deps.ts';
import type { RequestQueue } from '../queue/queue.ts';
import { VERSION } from '../version.ts';
import { createMetrics, type ProcessMeters } from './metrics.ts';
import { startMonitoringServer } from './monitoring-server.ts';

export interface Monitoring extends Pick<HttpDeps, 'checks' | 'metrics'> {
  /** Whether the gateway serves: not before all its roles are open, and not when it is about to stop. */
  serving(yes: boolean): void;
  stop(): Promise<void>;
}

/** What probes and scrapes are told, on the port of the role `api` and, where set, on one of its own. */
export async function startMonitoring(
  config: Pick<Config, 'roles' | 'dataDir' | 'monitoring'>,
  {
    database,
    queue,
    meters,
  }: { database: Queryable; queue: Pick<RequestQueue, 'counts'>; meters: ProcessMeters },
): Promise<Monitoring> {
  let serves = false;
  const checks = {
    database: () => database.query('SELECT 1'),
    queue: () => queue.counts(),
    serving: async () => {
      if (!serves) throw new Error('the gateway is starting or about to stop');
    },
  };
  const { roles, dataDir } = config;
  const metrics = createMetrics({ database, queue, meters, version: VERSION, roles, dataDir });
  const ready = () => Promise.all(Object.values(checks).map((check) => check()));
  const server = config.monitoring
    ? await startMonitoringServer(config.monitoring, { metrics, ready })
    : null;
  return {
    checks,
    metrics,
    serving(yes) {
      serves = yes;
    },
    stop: async () => server?.stop(),
  };
}
