import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Metric, renderMetrics } from './exposition.ts';

/** A plain port of its own for probes and scrapes: also of processes without the role `api`. */
export interface MonitoringServer {
  port: number;
  stop(): Promise<void>;
}

/**
 * `GET /metrics`, `/health/live` and `/health/ready`, to be reached by the monitoring network alone.
 * @param ready rejects when the process is not ready.
 * @throws the system's error when the address cannot be bound.
 */
export async function startMonitoringServer(
  { host, port }: { host: string; port: number },
  { metrics, ready }: { metrics: () => Promise<readonly Metric[]>; ready: () => Promise<unknown> },
): Promise<MonitoringServer> {
  const answers: Readonly<Record<string, () => Promise<[status: number, text: string]>>> = {
    '/metrics': async () => [200, renderMetrics(await metrics())],
    '/health/live': async () => [200, 'live\n'],
    '/health/ready': () =>
      ready().then(
        () => [200, 'ready\n'],
        () => [503, 'not ready\n'],
      ),
  };
  const server = createServer((request, response) => {
    const answer = answers[request.url?.split('?')[0] ?? ''];
    const told = answer?.() ?? Promise.resolve([404, 'not found\n'] as const);
    told
      .catch(() => [503, 'not available\n'] as const)
      .then(([status, text]) => {
        response.writeHead(status, { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' });
        response.end(text);
      });
  });
  server.listen(port, host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
