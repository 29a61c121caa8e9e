import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  EVIDENCE,
  type EvidenceEntry,
  type EvidenceKey,
  evidenceEntry,
  evidenceFor,
  LEAST_CASES,
  reviewReason,
} from '../../../pipelines/concepts/method-evidence.ts';

const KEYS = Object.keys(EVIDENCE) as EvidenceKey[];

const SHOWN: EvidenceEntry = {
  ...EVIDENCE['abdomen-outline'],
  cases: LEAST_CASES,
  error: { value: 10, unit: 'mm', of: 'mean absolute error', limit: 10 },
};

describe('the decision whether a value may be accepted', () => {
  it.each([
    ['real images, enough cases, error at the limit', {}, null],
    ['one case fewer', { cases: LEAST_CASES - 1 }, 'too-few-cases'],
    ['no count of cases', { cases: null }, 'too-few-cases'],
    ['simulated images', { real: false }, 'simulated-only'],
    ['no reference', { error: null }, 'no-reference'],
    ['an error above the limit', { error: { ...SHOWN.error, value: 10.01 } }, 'error-too-large'],
  ] as const)('depends on the entry: %s', (_, changed, reason) => {
    expect(reviewReason({ ...SHOWN, ...changed } as EvidenceEntry)).toBe(reason);
  });

  it.each([
    [{ gaDays: 126 }, null],
    [{ gaDays: 125 }, 'outside-domain'],
    [{ gaDays: 301 }, null],
    [{ gaDays: 302 }, 'outside-domain'],
    [{ gaDays: null }, null],
    [{ sizes: { ac: 120 } }, null],
    [{ sizes: { ac: 119.9 } }, 'outside-domain'],
    [{ sizes: { ac: 370.1 } }, 'outside-domain'],
    [{ sizes: { fl: 1 } }, null],
    [{ models: new Set(['fetal-abdomen']) }, null],
    [{ models: new Set(['another']) }, 'other-model'],
  ] as const)('depends on the input: %o', (input, reason) => {
    expect(reviewReason(SHOWN, input)).toBe(reason);
  });

  it('requires an entry', () => {
    expect(reviewReason(null)).toBe('no-evidence');
  });

  it.each(KEYS)('is always yes in the research setting: %s', (key) => {
    expect(reviewReason(EVIDENCE[key], {}, 'simulated')).toBeNull();
    expect(reviewReason(null, {}, 'simulated')).toBeNull();
  });

  it('is yes today for exactly these methods', () => {
    expect(KEYS.filter((key) => reviewReason(EVIDENCE[key]) === null)).toEqual([
      'head-outline',
      'abdomen-outline',
      'femur-ends',
      'standard-planes',
      'midsagittal-plane',
      'transperineal-plane',
      'angle-of-progression',
      'echo-views',
      'lv-outline',
      'lvef-networks',
    ]);
  });
});

describe('the evidence for a measurement', () => {
  it.each([
    ['disc-summation', 'lvedv-4c', ['echo-chambers-research'], 'lv-outline'],
    ['disc-summation', 'lvedv-4c', ['echo-chambers'], 'lv-outline-permissive'],
    ['disc-summation', 'lvedv-2c', ['echo-chambers-research'], 'apical-outlines'],
    ['outlined-area', 'rv-ed-area', ['echo-chambers-research'], 'right-heart'],
    ['outlined-area', 'a-concept-of-tomorrow', [], null],
    ['cart-sr', 'hc', [], null],
    ['toString', 'hc', [], null],
  ] as const)('%s of %s by %j', (method, concept, models, key) => {
    expect(evidenceFor(method, concept, new Set(models))).toBe(key);
  });

  it('has an entry for every key, and for no other', () => {
    expect(evidenceEntry('head-outline')).toBe(EVIDENCE['head-outline']);
    expect(evidenceEntry('toString')).toBeNull();
  });
});

/**
 * Returns the object at a path of keys. Since keys may contain dots, the longest matching key is
 * used.
 */
function at(of: unknown, path: string): unknown {
  if (path === '') return of;
  if (typeof of !== 'object' || of === null) return undefined;
  for (const [key, value] of Object.entries(of)) {
    if (path === key) return value;
    if (path.startsWith(`${key}.`)) {
      const found = at(value, path.slice(key.length + 1));
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

const round = (value: number) => Math.round(value * 10_000) / 10_000;

/** Returns every number in a set of metrics that is an error or is derived from one. */
function errorsIn(metrics: object): number[] {
  const numbers = Object.entries(metrics).flatMap(([key, value]) =>
    typeof value === 'number' && /error|accuracy/i.test(key) ? [{ key, value }] : [],
  );
  if ('right' in metrics && 'of' in metrics) {
    return [round(1 - Number(metrics.right) / Number(metrics.of))];
  }
  const found = 'found' in metrics ? Object.values(metrics.found as Record<string, number>) : [];
  return [
    ...numbers.map(({ key, value }) => (/accuracy/.test(key) ? round(1 - value) : value)),
    ...found.map((share) => round(1 - share)),
  ];
}

describe('the numbers of the table', () => {
  it.each(KEYS)('are those of its source: %s', (key) => {
    const entry: EvidenceEntry = EVIDENCE[key];
    const [model = '', path] = entry.source.split('#');
    if (path === undefined) {
      expect(existsSync(entry.source), entry.source).toBe(true);
      return;
    }
    const metrics = at(JSON.parse(readFileSync(`models/${model}/metrics.json`, 'utf8')), path);
    expect(metrics, `${entry.source} is not in the metrics`).toBeTypeOf('object');
    const set = metrics as Record<string, unknown>;
    const cases = [set.cases, set.patients, set.clips, set.of].find(
      (one) => typeof one === 'number',
    );
    expect(entry.cases, `cases of ${entry.source}`).toBe(cases);
    if (entry.error) expect(errorsIn(set)).toContain(entry.error.value);
  });
});
