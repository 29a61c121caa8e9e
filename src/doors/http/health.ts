import { setTimeout as delay } from 'node:timers/promises';
import type { Router } from '@koa/router';
import { Registry } from 'prom-client';
import type { HttpDeps, HttpState } from './context.ts';

/**
 * Milliseconds after which a component that has not responded counts as failed. Probes time out
 * soon afterwards.
 */
const CHECK_TIMEOUT_MS = 3000;

/**
 * Adds `GET /health/live`, which succeeds if the process responds, and `GET /health/ready`, which
 * succeeds if every component works.
 */
export function addHealthRoutes(
  router: Router<HttpState>,
  { checks, logger }: Pick<HttpDeps, 'checks' | 'logger'>,
): void {
  router.get('/health/live', (context) => {
    context.body = { status: 'live' };
  });

  router.get('/health/ready', async (context) => {
    const results = await Promise.all(
      Object.entries(checks).map(async ([part, check]) => {
        try {
          await within(CHECK_TIMEOUT_MS, check);
          return [part, 'ok'] as const;
        } catch (error) {
          logger.event('not_ready', { err: error, part });
          return [part, 'failing'] as const;
        }
      }),
    );
    const ready = results.every(([, state]) => state === 'ok');
    context.status = ready ? 200 : 503;
    context.body = { status: ready ? 'ready' : 'not_ready', checks: Object.fromEntries(results) };
  });
}

async function within(milliseconds: number, check: () => Promise<unknown>): Promise<void> {
  const timer = new AbortController();
  const late = delay(milliseconds, null, { signal: timer.signal }).then(() => {
    throw new Error(`no response within ${milliseconds} ms`);
  });
  try {
    await Promise.race([check(), late]);
  } finally {
    timer.abort();
    late.catch(() => undefined);
  }
}

/** Adds `GET /metrics`. The metrics contain no patient identities and no account names. */
export function addMetricsRoute(
  router: Router<HttpState>,
  { metrics }: Pick<HttpDeps, 'metrics'>,
): void {
  router.get('/metrics', async (context) => {
    const text = await metrics();
    context.set('Content-Type', Registry.PROMETHEUS_CONTENT_TYPE);
    context.body = text;
  });
}
