import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CONCEPTS, type ConceptKey } from '../../../../pipelines/concepts/concepts.ts';
import type { CartMeasurement } from '../../../../pipelines/contract/study.ts';
import {
  PLAUSIBLE_RATIOS,
  plausibleRange,
} from '../../../../pipelines/obstetric/biometry/judge.ts';
import {
  INTERGROWTH_SIZE_WEEKS,
  intergrowthSizeAt,
} from '../../../../pipelines/obstetric/growth/charts.ts';
import { cartValue } from '../../cart-sample.ts';
import {
  abdomen,
  femur,
  head,
  interpretReadings,
  MEDIAN_28_WEEKS,
  measurementOf,
  sectionOf,
} from '../evidence-sample.ts';

const ratioOf = (id: string) => {
  const found = PLAUSIBLE_RATIOS.find((one) => one.id === id);
  if (!found) throw new Error(`no ratio ${id}`);
  return found;
};

const EXACT = 1e-9;
/**
 * Returns the diameter of a circle with this circumference. Its two axes are equal, so the
 * perimeter is exact.
 */
const round = (circumference: number) => circumference / Math.PI;
const AC = 240;
const acOf = (mm: number) => abdomen(round(mm), round(mm));
/** Returns a plausibly shaped head with this circumference. */
const hcOf = (mm: number) => {
  const { value } = measurementOf(interpretReadings({ readings: [head(100, 80)] }), 'hc');
  return head((100 * mm) / value, (80 * mm) / value);
};

interface Said {
  quality: Record<string, string>;
  findings: string[];
  derived: string[];
}

function said(
  readings: Parameters<typeof interpretReadings>[0]['readings'],
  gaDays?: number,
): Said {
  const options = gaDays === undefined ? {} : { dating: { ga_days: gaDays } };
  const { measurements, findings } = interpretReadings({ readings, options });
  return {
    quality: Object.fromEntries(measurements.map(({ id, quality }) => [id, quality])),
    findings: findings.map(({ id }) => id),
    derived: measurements.filter(({ inputs }) => inputs.length > 0).map(({ id }) => id),
  };
}

describe('two lengths that contradict each other are both withheld', () => {
  it.each([
    ['FL/AC at the lower limit', 0.15 + EXACT, 'accepted'],
    ['FL/AC below it', 0.15 - EXACT, 'inadequate'],
    ['FL/AC at the upper limit', 0.28 - EXACT, 'accepted'],
    ['FL/AC above it', 0.28 + EXACT, 'inadequate'],
  ])('%s: %s × AC', (_, ratio, quality) => {
    const { quality: of, findings, derived } = said([acOf(AC), femur(ratio * AC)]);
    expect([of.ac, of.tad, of.apad, of.fl]).toEqual([quality, quality, quality, quality]);
    const isWithheld = quality === 'inadequate';
    expect(findings.includes('consistency-fl-ac')).toBe(isWithheld);
    expect(derived.includes('efw')).toBe(!isWithheld);
    if (isWithheld) expect(derived).toEqual([]);
  });

  it.each([
    ['at the lower limit', 0.1 + EXACT, 'accepted'],
    ['below it', 0.1 - EXACT, 'inadequate'],
  ])('FL/AC of an AC below 130 mm %s', (_, ratio, quality) => {
    expect(said([acOf(129), femur(ratio * 129)]).quality).toMatchObject({ ac: quality });
  });

  it('and are not said to be unmeasured', () => {
    const { summary } = sectionOf(
      interpretReadings({ readings: [acOf(AC), femur(20)] }),
      'biometry',
    );
    expect(summary).toMatch(/^No length that could be accepted was measured\./);
    expect(summary).toContain('FL not accepted: FL/AC is 0.08');
  });

  it('an AC of 130 mm and one just below it have different lower limits', () => {
    expect(said([acOf(130.01), femur(0.12 * 130.01)]).quality.fl).toBe('inadequate');
    expect(said([acOf(129.99), femur(0.12 * 129.99)]).quality.fl).toBe('accepted');
  });

  it.each([
    ['at the lower limit', 0.7 + EXACT, 'accepted'],
    ['below it', 0.7 - EXACT, 'inadequate'],
    ['at the upper limit', 1.5 - EXACT, 'accepted'],
    ['above it', 1.5 + EXACT, 'inadequate'],
  ])('HC/AC without an age %s', (_, ratio, quality) => {
    const { quality: of, findings } = said([hcOf(ratio * AC), acOf(AC)]);
    expect([of.hc, of.bpd, of.ofd, of.ac]).toEqual([quality, quality, quality, quality]);
    expect(findings.includes('consistency-hc-ac')).toBe(quality === 'inadequate');
  });

  it.each([
    ['at the lower limit', 0.1 + EXACT, 'accepted'],
    ['below it', 0.1 - EXACT, 'inadequate'],
    ['at the upper limit', 0.26 - EXACT, 'accepted'],
    ['above it', 0.26 + EXACT, 'inadequate'],
  ])('FL/HC without an age %s', (_, ratio, quality) => {
    const { quality: of } = said([hcOf(200), femur(ratio * 200)]);
    expect([of.hc, of.fl]).toEqual([quality, quality]);
  });

  it.each([
    ['hc-ac', 'low', 98],
    ['hc-ac', 'high', 98],
    ['hc-ac', 'low', 280],
    ['hc-ac', 'high', 280],
    ['fl-hc', 'low', 126],
    ['fl-hc', 'high', 126],
    ['fl-hc', 'low', 280],
    ['fl-hc', 'high', 280],
  ] as const)('%s at its %s limit for a stated age of %d days', (id, end, gaDays) => {
    const limit = plausibleRange(ratioOf(id), 200, gaDays)[end];
    const inwards = end === 'low' ? EXACT : -EXACT;
    const at = (ratio: number) =>
      said(
        id === 'hc-ac' ? [hcOf(200 * ratio), acOf(200)] : [hcOf(200), femur(ratio * 200)],
        gaDays,
      ).quality.hc;
    expect(at(limit + inwards)).toBe('accepted');
    expect(at(limit - inwards)).toBe('inadequate');
  });

  it('a ratio that depends on age is evaluated by it only from its first week on', () => {
    expect(plausibleRange(ratioOf('hc-ac'), 80, 97)).toEqual({ low: 0.7, high: 1.5 });
    expect(plausibleRange(ratioOf('hc-ac'), 80, 98).high).toBeCloseTo(1.5247, 4);
    expect(plausibleRange(ratioOf('fl-hc'), 150, 125)).toEqual({ low: 0.1, high: 0.26 });
    expect(plausibleRange(ratioOf('fl-hc'), 150, 126).low).toBeCloseTo(0.11688, 5);
  });
});

describe('of three lengths, the one that contradicts the other two is withheld', () => {
  // The median lengths at 28 weeks are HC 260, AC 233 and FL 51.
  it.each([
    ['an AC with placenta in it', [head(91.8, 73.5), abdomen(120, 118), femur(51.3)], 'ac'],
    ['a femur of half the length', [head(91.8, 73.5), abdomen(75, 73.5), femur(24)], 'fl'],
    ['a head of half the size', [head(45.9, 36.7), abdomen(75, 73.5), femur(51.3)], 'hc'],
  ])('%s', (_, readings, wrong) => {
    const { quality } = said(readings, 196);
    const withheld = ['hc', 'ac', 'fl'].filter((key) => quality[key] !== 'accepted');
    expect(withheld).toEqual([wrong]);
  });

  it('nothing is calculated from it, and the reason is stated', () => {
    const readings = [head(91.8, 73.5), abdomen(120, 118), femur(51.3)];
    const options = { dating: { ga_days: 196 } };
    const result = interpretReadings({ readings, options });
    const ids = result.measurements.map(({ id }) => id);
    expect(ids).not.toContain('efw');
    expect(ids).not.toContain('hc-ac-ratio');
    expect(ids).not.toContain('fl-ac-ratio');
    expect(ids).toContain('ga-by-hc');
    expect(ids).not.toContain('ga-by-hc-ac-fl');
    const ac = measurementOf(result, 'ac');
    expect(ac).toMatchObject({ quality: 'inadequate', standing: 'withheld', reference: null });
    expect(ac.note).toContain('HC/AC is 0.70, outside the plausible range of 0.77 to 1.41');
    const { summary, reason } = sectionOf(result, 'biometry');
    expect(reason?.code).toBe('contradicted');
    expect(summary).toContain('If the ratio is confirmed, it is itself abnormal');
    expect(summary).toContain('Estimated weight was not computed because AC was not accepted');
    expect(result.classifications.filter(({ id }) => id === 'size-category')).toEqual([]);
  });

  it('each frame of a withheld median is withheld too', () => {
    const readings = [head(91.8, 73.5), abdomen(120, 118), abdomen(121, 118), femur(51.3)];
    const { quality } = said(readings, 196);
    expect([quality['ac-1'], quality['ac-2'], quality.ac]).toEqual(Array(3).fill('inadequate'));
  });
});

describe('a value of the machine', () => {
  const machine = (key: ConceptKey, mm: number): CartMeasurement => {
    const { codings, unit } = CONCEPTS[key];
    return cartValue({ key, concept: codings[0], value: mm, unit });
  };
  const withMachine = (
    readings: Parameters<typeof interpretReadings>[0]['readings'],
    cart: CartMeasurement[],
  ) => {
    const clips = [...new Set(readings.map((one) => one.clip))];
    const study = { clips, refused: [], files: clips.length, series: 1, cart };
    return interpretReadings({ readings, evidence: { study } });
  };

  it('is never withheld; ours that contradicts it is', () => {
    const result = withMachine([abdomen(120, 118)], [machine('fl', 51)]);
    expect(measurementOf(result, 'fl')).toMatchObject({ origin: 'machine', quality: 'accepted' });
    expect(measurementOf(result, 'ac').quality).toBe('inadequate');
  });

  it('replaces a withheld one', () => {
    const readings = [head(91.8, 73.5), abdomen(120, 118), femur(51.3)];
    const result = withMachine(readings, [machine('ac', 233)]);
    const ac = result.measurements.filter(({ id }) => id === 'ac').at(-1);
    expect(ac).toMatchObject({ origin: 'machine', quality: 'accepted', value: 233 });
    expect(measurementOf(result, 'ac-traced')).toMatchObject({ quality: 'inadequate' });
    expect(measurementOf(result, 'efw').note).toContain('AC from the ultrasound machine');
    const doubt = result.findings.find(({ id }) => id === 'consistency-hc-ac');
    expect(doubt?.evidence).toEqual(['hc', 'ac-traced']);
  });
});

describe('a healthy fetus', () => {
  /** At 14 weeks the femur is so short that a useful limit would withhold correct values. */
  const FROM_WEEKS = 15;

  it('is not withheld from 15 weeks on, with lengths up to two standard deviations apart', () => {
    const z = fc.double({ min: -2, max: 2, noNaN: true });
    const weeks = fc.double({
      min: FROM_WEEKS,
      max: INTERGROWTH_SIZE_WEEKS.to,
      noNaN: true,
    });
    fc.assert(
      fc.property(weeks, fc.boolean(), z, z, z, (age, isStated, hc, ac, fl) => {
        const at = (key: 'hc' | 'ac' | 'fl', score: number) =>
          intergrowthSizeAt(key, age, score) ?? Number.NaN;
        const lengths = { hc: at('hc', hc), ac: at('ac', ac), fl: at('fl', fl) };
        for (const ratio of PLAUSIBLE_RATIOS) {
          const [first, second] = ratio.of;
          const days = isStated ? age * 7 : null;
          const { low, high } = plausibleRange(ratio, lengths[second], days);
          const value = lengths[first] / lengths[second];
          expect(value).toBeGreaterThanOrEqual(low);
          expect(value).toBeLessThanOrEqual(high);
        }
      }),
    );
  });

  it('of 28 weeks at the median is used whole', () => {
    const { quality } = said(MEDIAN_28_WEEKS(), 196);
    expect(Object.values(quality).every((one) => one === 'accepted')).toBe(true);
  });
});
