import { describe, expect, it } from 'vitest';
import { CONCEPTS, type ConceptKey } from '../../../../pipelines/concepts/concepts.ts';
import type { CartMeasurement } from '../../../../pipelines/contract/study.ts';
import { cartValue } from '../../cart-sample.ts';
import {
  clip,
  head,
  interpretReadings,
  MEDIAN_28_WEEKS,
  measurementOf,
  sectionOf,
} from '../evidence-sample.ts';

/**
 * These tests cover what the machine reports in addition to our biometry or in its place: BPD,
 * weight, twin weights.
 */

const fromCart = (key: ConceptKey, value: number, fetus: string | null = null) => {
  const { codings, unit } = CONCEPTS[key];
  return cartValue({ key, concept: codings[0], value, unit, fetus });
};

function interpreted(
  readings: ReturnType<typeof MEDIAN_28_WEEKS>,
  cart: CartMeasurement[],
  dated = true,
) {
  const clips = readings.length > 0 ? readings.map((reading) => reading.clip) : [clip('a.dcm')];
  const study = { clips, refused: [], files: clips.length + 1, series: 1, cart };
  const options = dated ? { dating: { ga_days: 196, basis: 'crl' } } : {};
  return interpretReadings({ readings, options, evidence: { study } });
}

describe('a BPD measured by the machine', () => {
  const result = interpreted([], [fromCart('bpd', 71.5), fromCart('ofd', 91.8)]);

  it('has no centile, because no report states how it was placed', () => {
    expect(measurementOf(result, 'bpd')).toMatchObject({
      quality: 'accepted',
      reference: null,
      interpretation: null,
      note: expect.stringContaining('does not state whether it was measured outer to inner'),
    });
    expect(measurementOf(result, 'ofd').reference?.centile).toBeCloseTo(50, -1);
    expect(sectionOf(result, 'growth').data.not_charted).toMatchObject([
      { measurement: 'bpd', code: 'bpd_convention_not_stated' },
    ]);
  });

  it('is reported as having no stated convention, in the data and with its ratios', () => {
    expect(sectionOf(result, 'biometry').data).toMatchObject({ bpd_convention: 'not-stated' });
    const withFemur = interpreted([], [fromCart('bpd', 71.5), fromCart('fl', 51)]);
    for (const note of [
      measurementOf(result, 'cephalic-index').note,
      measurementOf(withFemur, 'fl-bpd-ratio').note,
    ]) {
      expect(note).toContain('does not state the caliper placement of the BPD');
    }
  });

  it('is attributed to the machine in the sentence about the shape of the head', () => {
    const long = interpreted([], [fromCart('bpd', 62), fromCart('ofd', 92)]);
    const text = long.findings.find(({ id }) => id === 'head-shape')?.text;
    expect(text).toContain('the BPD from the ultrasound machine, caliper placement not stated');
    expect(text).not.toContain('outer to outer');
  });

  it.each([
    [69.9, true],
    [70.1, false],
    [86.1, false],
    [88.9, false],
    [89.1, true],
  ])(
    'and an index of %s %% is named only if it is outside the range either way: %s',
    (index, named) => {
      const { findings } = interpreted([], [fromCart('bpd', index), fromCart('ofd', 100)]);
      expect(findings.some(({ id }) => id === 'head-shape')).toBe(named);
    },
  );

  it('does not change ours', () => {
    const ours = interpreted([head(91.8, 73.5)], [fromCart('bpd', 71.5)]);
    expect(measurementOf(ours, 'bpd').reference?.centile).toBeCloseTo(50, -1);
    expect(sectionOf(ours, 'biometry').data).toMatchObject({ bpd_convention: 'outer-outer' });
  });
});

describe('a weight estimated by the machine', () => {
  const ours = measurementOf(interpreted(MEDIAN_28_WEEKS(), []), 'efw').value;
  const beside = (share: number) =>
    interpreted(MEDIAN_28_WEEKS(), [fromCart('efw', share * ours)]).findings.find(
      ({ id }) => id === 'cart-efw',
    );

  it.each([
    [1.0999, 'info'],
    [1.1001, 'abnormal'],
    [0.9001, 'info'],
    [0.8999, 'abnormal'],
  ])('of %d times ours is %s', (share, severity) => {
    expect(beside(share)?.severity).toBe(severity);
  });

  it('is shown with the difference, and ours counts', () => {
    const result = interpreted(MEDIAN_28_WEEKS(), [fromCart('efw', 1.2 * ours)]);
    expect(measurementOf(result, 'efw').value).toBe(ours);
    expect(measurementOf(result, 'cart-efw').note).toBe('20.0 % above the value measured here');
    expect(beside(1.2)?.text).toMatch(
      /^EFW from the ultrasound machine \d+ g: 20\.0 % above the \d+ g calculated here; check/,
    );
  });

  it('counts if we have none, without a centile, and states its source', () => {
    const result = interpreted([head(91.8, 73.5)], [fromCart('efw', 1150)]);
    expect(measurementOf(result, 'efw')).toMatchObject({
      value: 1150,
      reference: null,
      source: { provenance: 'cart-sr' },
    });
    expect(sectionOf(result, 'biometry').summary).toContain(
      'EFW from the report of the ultrasound machine.',
    );
  });

  it('beyond its hard limits is not used', () => {
    const result = interpreted([], [fromCart('efw', 49)]);
    expect(measurementOf(result, 'cart-efw').quality).toBe('inadequate');
  });
});

describe('weights of two labelled fetuses', () => {
  const twins = (larger: number, smaller: number, dated = true) =>
    interpreted([], [fromCart('efw', larger, 'A'), fromCart('efw', smaller, 'B')], dated);
  const found = (result: ReturnType<typeof twins>) =>
    result.findings.find(({ id }) => id === 'twin-discordance')?.text ?? null;

  it('are reported with their discordance and its formula, but without a size', () => {
    const result = twins(1200, 1100);
    expect(sectionOf(result, 'growth')).toMatchObject({
      status: 'partial',
      reason: { code: 'several_fetuses' },
      data: { discordance_percent: expect.closeTo(100 / 12, 9) },
    });
    expect(sectionOf(result, 'growth').summary).toContain(
      'fetus A 1200 g, fetus B 1100 g; discordance 8.3 % (difference as a share of the larger weight)',
    );
    expect(result.measurements).toMatchObject([
      { id: 'cart-efw-A', fetus: 'A', value: 1200, reference: null },
      { id: 'cart-efw-B', fetus: 'B', value: 1100, reference: null },
    ]);
    expect(result.classifications.map(({ section }) => section)).not.toContain('growth');
    expect(found(result)).toBeNull();
  });

  it.each([
    [801, null],
    [800, 'discordant by 20.0 %: 20 % or more'],
    [750.1, 'discordant by 24.99 %: 20 % or more'],
    [750, 'discordant by 25.0 %: 25 % or more, a contributory criterion'],
  ])('1000 g and %d g: %s', (smaller, said) => {
    const text = found(twins(1000, smaller));
    if (said) expect(text).toContain(said);
    else expect(text).toBeNull();
  });

  it('are compared without a gestational age, too', () => {
    expect(found(twins(1000, 700, false))).toContain('30.0 %');
  });

  it('are not compared if one is implausible, but the other is listed', () => {
    const result = twins(1000, 49);
    expect(found(result)).toBeNull();
    const { data, summary } = sectionOf(result, 'growth');
    expect(data.discordance_percent ?? null).toBeNull();
    expect(summary).toContain('(fetus A) 1000 g');
    expect(summary).not.toContain('49 g');
  });

  it('are compared if one was repeated and a repeat is implausible', () => {
    const weights = [
      ['A', 1000],
      ['A', 0],
      ['B', 700],
    ] as const;
    const cart = weights.map(([fetus, grams]) => fromCart('efw', grams, fetus));
    expect(found(interpreted([], cart))).toContain('30.0 %');
  });

  it.each([49, 900])('of three fetuses, one of them of %d g, are not', (third) => {
    const weights = [
      ['A', 1000],
      ['B', 700],
      ['C', third],
    ] as const;
    const cart = weights.map(([fetus, grams]) => fromCart('efw', grams, fetus));
    expect(found(interpreted([], cart))).toBeNull();
  });
});
