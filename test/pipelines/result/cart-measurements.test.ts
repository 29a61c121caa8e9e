import { describe, expect, it } from 'vitest';
import type { ConceptKey } from '../../../pipelines/concepts/concepts.ts';
import type { CartMeasurement } from '../../../pipelines/contract/study.ts';
import { cartMeasurements } from '../../../pipelines/result/cart-values.ts';
import { withNote } from '../../../pipelines/result/render/render.ts';
import { cartValue } from '../cart-sample.ts';

const CONCEPT = { scheme: 'LN', code: '1-8', meaning: 'a quantity' };

type Given = number | [number, Partial<CartMeasurement>];

function all(key: ConceptKey, ...given: Given[]) {
  const cart = given.map((one) => {
    const [value, details] = typeof one === 'number' ? [one, {}] : one;
    return cartValue({ key, concept: CONCEPT, value, unit: '1', ...details });
  });
  return cartMeasurements(cart, 'any', [key]).map(withNote);
}

const standing = (key: ConceptKey, ...given: Given[]) => all(key, ...given)[0];

describe('a value whose report does not state its derivation', () => {
  it.each([
    ['lvidd', 'cm', 'measured'],
    ['av-vmax', 'm/s', 'measured'],
    ['mitral-e', 'cm/s', 'measured'],
    ['deepest-vertical-pocket', 'mm', 'measured'],
    ['lvef-biplane', '%', 'calculated'],
    ['lv-mass', 'g', 'calculated'],
  ] as const)('%s in %s counts as %s', (key, unit, expected) => {
    expect(standing(key, [5, { unit }])?.derivation).toBe(expected);
  });

  it('with an equation counts as calculated', () => {
    expect(standing('hc', [250, { unit: 'mm', equation: CONCEPT }])?.derivation).toBe('calculated');
  });
});

describe('several values of which none was selected on the machine', () => {
  it('are represented by their median, with the smallest and the largest', () => {
    expect(standing('lvot-vti', 18, 22, 19)).toMatchObject({
      value: 19,
      derivation: 'median',
      note: 'median of 3 values, none selected on the machine (18.0 cm to 22.0 cm)',
    });
  });

  it.each([
    'av-vmax',
    'tr-vmax',
    'lvot-diameter',
    'ivc-diameter',
    'nuchal-translucency',
    'deepest-vertical-pocket',
  ] as const)('are represented by the highest %s, with its image', (key) => {
    const image = { sopInstanceUid: '2.25.7', frame: 3 };
    expect(standing(key, 2, [2.6, { image }], 2.1)).toMatchObject({
      value: 2.6,
      source: { sop_instance_uid: '2.25.7', frame: 3 },
      note: expect.stringMatching(
        /^highest of 3 values, none selected on the machine \(2.* to (2\.6|3)/,
      ),
    });
  });

  it('are represented by the shortest cervix, with its image', () => {
    const image = { sopInstanceUid: '2.25.7', frame: 3 };
    expect(standing('cervical-length', 31, [24, { image }], 35)).toMatchObject({
      value: 24,
      source: { sop_instance_uid: '2.25.7', frame: 3 },
      note: 'lowest of 3 values, none selected on the machine (24.0 mm to 35.0 mm)',
    });
  });

  it('are stated beside a mean of the machine where the highest would count', () => {
    const windows = [3.2, 4.2, [3.7, { derivation: 'mean' }]] satisfies Given[];
    expect(standing('av-vmax', ...windows)).toMatchObject({
      value: 3.7,
      note: 'average of the machine; 2 single values, 3.2 m/s to 4.2 m/s',
    });
    expect(standing('lvot-vti', ...windows)?.note).toBeNull();
  });

  it('a single one counts unchanged', () => {
    expect(standing('av-vmax', 4.2)).toMatchObject({ value: 4.2, note: null });
  });

  it.each([
    [[140, 150], [145]],
    [
      [70, 140],
      [70, 140],
    ],
    [
      [140, 160],
      [140, 160],
    ],
    [
      [130, 150],
      [130, 150],
    ],
    [[131, 150], [140.5]],
    [
      [0, 140, 70],
      [140, 70],
    ],
    [[70, [140, { selection: 'user' }]], [140]],
  ] as [Given[], number[]][])(
    'fetal heart rates of %j count as %j: no median hides one in another band',
    (given, expected) => {
      const values = all('fetal-heart-rate', ...given);
      const accepted = values.filter(({ quality }) => quality === 'accepted');
      expect(accepted.map(({ value }) => value)).toEqual(expected);
      expect(new Set(values.map(({ id }) => id)).size).toBe(values.length);
      const apart = accepted.map(({ note }) => note?.includes('too far apart') ?? false);
      expect(apart).toEqual(expected.map(() => expected.length > 1));
    },
  );

  it('a letter and a number can identify the same fetus', () => {
    const lengths = all('hc', [260, { fetus: 'A' }], [264, { fetus: '1' }], [300, { fetus: 'B' }]);
    expect(lengths.map(({ id, value }) => [id, value])).toEqual([
      ['cart-hc-A', 262],
      ['cart-hc-B', 300],
    ]);
  });
});

describe('an implausible value', () => {
  it.each([
    ['hc', 0, 176],
    ['hc', 410.1, 176],
    ['crl', 0, 60],
  ] as const)('is not included in the median: %s of %d with %d mm', (key, absurd, usual) => {
    expect(all(key, absurd, usual)).toMatchObject([
      { id: `cart-${key}`, value: usual, quality: 'accepted', note: null },
      {
        id: `cart-${key}-unused-1`,
        value: absurd,
        quality: 'inadequate',
        note: expect.stringContaining('implausible'),
      },
    ]);
  });

  it.each([30, 410])('a head of %d mm, exactly on a limit, counts', (mm) => {
    expect(standing('hc', mm)).toMatchObject({ value: mm, quality: 'accepted' });
  });

  it('is not accepted even if there is nothing else, whether once or several times', () => {
    expect(all('hc', 0).map(({ id, quality }) => [id, quality])).toEqual([
      ['cart-hc', 'inadequate'],
    ]);
    expect(all('hc', 0, 500).map(({ id, quality }) => [id, quality])).toEqual([
      ['cart-hc', 'inadequate'],
      ['cart-hc-unused-1', 'inadequate'],
    ]);
  });

  it('does not count even if it was selected on the machine', () => {
    const chosen = standing('hc', [0, { selection: 'user' }], 176);
    expect(chosen).toMatchObject({ value: 176, quality: 'accepted' });
  });
});

describe('a diameter of the gestational sac', () => {
  const KEY = 'mean-sac-diameter';

  it('is the mean sac diameter if the machine calls it a mean', () => {
    const mean = standing(KEY, 12, 14, [15, { derivation: 'mean' }]);
    expect(mean).toMatchObject({ value: 15, derivation: 'mean', quality: 'accepted' });
    const chosen = standing(KEY, [15, { selection: 'mean' }]);
    expect(chosen).toMatchObject({ value: 15, quality: 'accepted' });
  });

  it('or the mean of three', () => {
    expect(all(KEY, 12, 14, 19)).toMatchObject([
      { value: 15, derivation: 'mean', quality: 'accepted' },
    ]);
  });

  it.each([[[27]], [[27, 24]], [[27, 24, 21, 22]], [[0, 24, 21]]])(
    'of %j is not the mean of three: it is not evaluated, which is stated',
    (given) => {
      const found = all(KEY, ...given);
      expect(found).toHaveLength(given.length);
      expect(found.every(({ quality }) => quality === 'inadequate')).toBe(true);
      expect(found[0]?.note).toContain('not the mean of three');
    },
  );
});

describe('the value selected on the machine', () => {
  it('takes precedence over a higher value', () => {
    const chosen = standing('av-vmax', [3.9, { selection: 'user' }], 4.2);
    expect(chosen).toMatchObject({ value: 3.9, note: 'chosen by the operator on the machine' });
  });
  it('and its mean take precedence over a higher value, as for the beats of an irregular rhythm', () => {
    expect(standing('av-vmax', 4.4, [4, { derivation: 'mean' }])?.value).toBe(4);
  });

  it('counts without a spread, because the others were not selected', () => {
    const chosen = standing('fl', [50, { selection: 'user' }], 65);
    expect(chosen?.note).toBe('chosen by the operator on the machine');
  });
  it('that is a mean does not replace a maximum or a minimum, unless there is nothing else', () => {
    const mean = [2, { derivation: 'mean' }] satisfies Given;
    expect(standing('nuchal-translucency', 1.4, mean, 2.6)?.value).toBe(2.6);
    expect(standing('nuchal-translucency', 1.4, mean)?.value).toBe(1.4);
    expect(standing('nuchal-translucency', mean)?.value).toBe(2);
    const best = [1.9, { derivation: 'best' }] satisfies Given;
    expect(standing('nuchal-translucency', 1.4, best, 2.6)?.value).toBe(1.9);
  });
});
