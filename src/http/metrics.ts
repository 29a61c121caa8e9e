import type { Router } from '@koa/router';
import { renderMetrics } from '../metrics/exposition.ts';
import type { HttpDeps, HttpState } from './deps.ts';

/** `GET /metrics`: counts and times only, no identity and no names of accounts. */
export function addMetricsRoute(
  router: Router<HttpState>,
  { metrics }: Pick<HttpDeps, 'metrics'>,
): void {
  router.get('/metrics', async (context) => {
    const text = renderMetrics(await metrics());
    context.set('Content-Type', 'text/plain; version=0.0.4; charset=utf-8');
    context.body = text;
  });
}
