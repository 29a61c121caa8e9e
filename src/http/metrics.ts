import type { Router } from '@koa/router';
import type { HttpDeps, HttpState } from './deps.ts';

/** One metric with its samples, as Prometheus knows it. */
export interface Metric {
  /** `sonogate_requests` */
  name: string;
  help: string;
  type: 'counter' | 'gauge';
  samples: { labels: Record<string, string>; value: number }[];
}

/** `GET /metrics`: counts only, no identity and no names of accounts. */
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

/** Prometheus text exposition format 0.0.4. */
export function renderMetrics(metrics: readonly Metric[]): string {
  return metrics
    .map(({ name, help, type, samples }) => {
      const lines = samples.map(({ labels, value }) => `${name}${renderLabels(labels)} ${value}\n`);
      return `# HELP ${name} ${escapeLine(help)}\n# TYPE ${name} ${type}\n${lines.join('')}`;
    })
    .join('');
}

function renderLabels(labels: Record<string, string>): string {
  const pairs = Object.entries(labels).map(
    ([name, value]) => `${name}="${escapeLine(value).replaceAll('"', '\\"')}"`,
  );
  return pairs.length > 0 ? `{${pairs.join(',')}}` : '';
}

function escapeLine(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}
