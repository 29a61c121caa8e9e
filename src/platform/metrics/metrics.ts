export type Labels = Readonly<Record<string, string>>;

export interface Sample {
  labels: Labels;
  value: number;
  /** Suffix to the name of a histogram: `_bucket`, `_sum` or `_count`. */
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

/** A count that only grows for as long as the process lives. */
interface Counter {
  add(value: number, labels?: Labels): void;
  read(): Metric;
}

/** Counts values into buckets; cumulative, as Prometheus wants them. */
interface Histogram {
  observe(value: number, labels?: Labels): void;
  read(): Metric;
}

interface MeterName {
  name: string;
  help: string;
}

export function createCounter({ name, help }: MeterName): Counter {
  const sums = new Map<string, Sample>();
  return {
    add(value, labels = {}) {
      const key = JSON.stringify(labels);
      const sample = sums.get(key) ?? { labels, value: 0 };
      sample.value += value;
      sums.set(key, sample);
    },
    read: () => ({
      name,
      help,
      type: 'counter',
      samples: [...sums.values()].map((s) => ({ ...s })),
    }),
  };
}

interface Distribution {
  labels: Labels;
  counts: number[];
  sum: number;
  count: number;
}

/** @param buckets upper bounds in ascending order; the bucket without an upper bound is added. */
export function createHistogram({
  name,
  help,
  buckets,
}: MeterName & { buckets: readonly number[] }): Histogram {
  const distributions = new Map<string, Distribution>();
  return {
    observe(value, labels = {}) {
      const key = JSON.stringify(labels);
      const to = distributions.get(key) ?? {
        labels,
        counts: buckets.map(() => 0),
        sum: 0,
        count: 0,
      };
      distributions.set(key, to);
      const bucket = buckets.findIndex((bound) => value <= bound);
      if (bucket >= 0) to.counts[bucket] = (to.counts[bucket] ?? 0) + 1;
      to.sum += value;
      to.count += 1;
    },
    read: () => ({
      name,
      help,
      type: 'histogram',
      samples: [...distributions.values()].flatMap((of) => samplesOf(of, buckets)),
    }),
  };
}

function samplesOf({ labels, counts, sum, count }: Distribution, buckets: readonly number[]) {
  let below = 0;
  const bounded = buckets.map((bound, index): Sample => {
    below += counts[index] ?? 0;
    return { labels: { ...labels, le: String(bound) }, value: below, suffix: '_bucket' };
  });
  return [
    ...bounded,
    { labels: { ...labels, le: '+Inf' }, value: count, suffix: '_bucket' as const },
    { labels, value: sum, suffix: '_sum' as const },
    { labels, value: count, suffix: '_count' as const },
  ];
}
