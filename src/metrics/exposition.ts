export type Labels = Readonly<Record<string, string>>;

export interface Sample {
  labels: Labels;
  value: number;
  /** Behind the name of a histogram: `_bucket`, `_sum`, `_count`. */
  suffix?: '_bucket' | '_sum' | '_count';
}

/** One metric with its samples, as Prometheus knows it. */
export interface Metric {
  /** `sonogate_requests` */
  name: string;
  help: string;
  type: 'counter' | 'gauge' | 'histogram';
  samples: Sample[];
}

/** Prometheus text exposition format 0.0.4; a metric without samples is left out. */
export function renderMetrics(metrics: readonly Metric[]): string {
  return metrics
    .filter(({ samples }) => samples.length > 0)
    .map(({ name, help, type, samples }) => {
      const lines = samples.map(
        ({ labels, value, suffix = '' }) =>
          `${name}${suffix}${renderLabels(labels)} ${renderValue(value)}\n`,
      );
      return `# HELP ${name} ${escapeLine(help)}\n# TYPE ${name} ${type}\n${lines.join('')}`;
    })
    .join('');
}

function renderLabels(labels: Labels): string {
  const pairs = Object.entries(labels).map(
    ([name, value]) => `${name}="${escapeLine(value).replaceAll('"', '\\"')}"`,
  );
  return pairs.length > 0 ? `{${pairs.join(',')}}` : '';
}

function renderValue(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf';
  return value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value);
}

function escapeLine(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}
