/** A metric family as a strict reader of text format 0.0.4 interprets it. */
export interface Family {
  help: string;
  type: string;
  samples: { name: string; labels: Record<string, string>; value: number }[];
}

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const SAMPLE =
  /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (-?(?:[0-9.]+(?:e[+-]?\d+)?)|[+-]Inf|NaN)$/;
const LABEL = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/;

/**
 * Reads the Prometheus text format more strictly than a scraper does: HELP and TYPE precede the
 * samples, each family occurs once and in one piece, samples are not duplicated, and histograms are
 * cumulative and complete.
 * @throws Error stating the line.
 */
export function parseExposition(text: string): Map<string, Family> {
  if (!text.endsWith('\n')) throw new Error('the last line has no end');
  const families = new Map<string, Family>();
  const seen = new Set<string>();
  let current = '';
  for (const line of text.slice(0, -1).split('\n')) {
    if (line === '') continue;
    const [, word, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    if (word === 'HELP') {
      if (!NAME.test(name) || families.has(name)) throw new Error(`family again: ${line}`);
      families.set(name, { help: rest, type: '', samples: [] });
      current = name;
      continue;
    }
    const family = families.get(current);
    if (!family) throw new Error(`outside a family: ${line}`);
    if (word === 'TYPE') {
      if (name !== current || family.type) throw new Error(`misplaced: ${line}`);
      if (!['counter', 'gauge', 'histogram'].includes(rest)) throw new Error(`no type: ${line}`);
      family.type = rest;
      continue;
    }
    const sample = SAMPLE.exec(line);
    if (!sample?.[1] || !family.type) throw new Error(`no sample: ${line}`);
    const suffix = sample[1].slice(current.length);
    const allowed = family.type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''];
    if (!sample[1].startsWith(current) || !allowed.includes(suffix)) {
      throw new Error(`of another family: ${line}`);
    }
    const key = `${sample[1]}{${sample[2] ?? ''}}`;
    if (seen.has(key)) throw new Error(`twice: ${line}`);
    seen.add(key);
    const value = Number(sample[3]?.replace('Inf', 'Infinity'));
    family.samples.push({ name: sample[1], labels: parseLabels(sample[2] ?? '', line), value });
  }
  for (const [name, family] of families) checkFamily(name, family);
  return families;
}

function parseLabels(text: string, line: string): Record<string, string> {
  const labels: Record<string, string> = {};
  for (let rest = text; rest !== ''; ) {
    const label = LABEL.exec(rest);
    if (!label?.[1] || label[1] in labels) throw new Error(`bad labels: ${line}`);
    labels[label[1]] = (label[2] ?? '').replaceAll(/\\(.)/g, (_, c) => (c === 'n' ? '\n' : c));
    rest = rest.slice(label[0].length);
  }
  return labels;
}

function checkFamily(name: string, { type, samples }: Family): void {
  if (samples.some(({ labels }) => 'quantile' in labels)) throw new Error(`${name} is no summary`);
  if (type === 'counter' && !name.endsWith('_total')) throw new Error(`${name} is a counter`);
  if (type !== 'histogram') return;
  const rows = new Map<string, { buckets: [number, number][]; count: number | null }>();
  for (const { name: of, labels, value } of samples) {
    const { le, ...own } = labels;
    const row = rows.get(JSON.stringify(own)) ?? { buckets: [], count: null };
    rows.set(JSON.stringify(own), row);
    if (of.endsWith('_count')) row.count = value;
    if (le !== undefined) row.buckets.push([Number(le.replace('Inf', 'Infinity')), value]);
  }
  for (const [labels, { buckets, count }] of rows) {
    const cumulative = buckets.every(
      ([bound, value], index) =>
        index === 0 ||
        (bound > (buckets[index - 1]?.[0] ?? 0) && value >= (buckets[index - 1]?.[1] ?? 0)),
    );
    const last = buckets.at(-1);
    if (!cumulative || last?.[0] !== Number.POSITIVE_INFINITY || last[1] !== count) {
      throw new Error(`${name}${labels} is no histogram`);
    }
  }
}
