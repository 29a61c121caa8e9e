import { describe, expect, it } from 'vitest';
import { CONCEPTS, type ConceptKey } from '../../../../pipelines/concepts/concepts.ts';
import type { CartMeasurement } from '../../../../pipelines/contract/study.ts';
import { countingValues } from '../../../../pipelines/result/standing.ts';
import { cartValue } from '../../cart-sample.ts';
import {
  abdomen,
  clip,
  femur,
  head,
  interpretReadings,
  type MEDIAN_28_WEEKS,
  measurementOf,
  sectionOf,
} from '../evidence-sample.ts';

function fromCart(
  key: ConceptKey,
  value: number,
  changes: Partial<CartMeasurement> = {},
): CartMeasurement {
  const { codings, unit } = CONCEPTS[key];
  const report = { file: 'cart.dcm', sopInstanceUid: '2.25.99' };
  return cartValue({ key, concept: codings[0], value, unit, ...report, ...changes });
}

function interpreted(readings: ReturnType<typeof MEDIAN_28_WEEKS>, ...cart: CartMeasurement[]) {
  const clips = readings.length > 0 ? readings.map((reading) => reading.clip) : [clip('a.dcm')];
  const study = { clips, refused: [], files: clips.length + 1, series: 1, cart };
  return interpretReadings({ readings, evidence: { study } });
}

const idsOf = (result: ReturnType<typeof interpreted>) => result.measurements.map(({ id }) => id);

describe('a value of the ultrasound machine next to ours', () => {
  it('is shown with the difference, and ours counts', () => {
    const result = interpreted([femur(50)], fromCart('fl', 51.5));
    expect(measurementOf(result, 'fl')).toMatchObject({ source: { provenance: 'model' } });
    expect(measurementOf(result, 'cart-fl')).toMatchObject({
      value: 51.5,
      unit: 'mm',
      note: '1.5 mm (3.0 %) above the measured 50.0 mm',
      source: { provenance: 'cart-sr', file: 'cart.dcm', sop_instance_uid: '2.25.99' },
    });
    expect(result.findings.find(({ id }) => id === 'cart-fl')).toMatchObject({
      severity: 'info',
      text: 'FL from the ultrasound machine 51.5 mm: 1.5 mm (3.0 %) above the measured 50.0 mm.',
    });
  });

  it.each([
    ['fl', 53, 'info'],
    ['fl', 53.1, 'abnormal'],
    ['fl', 46.9, 'abnormal'],
  ] as const)('%s of %d mm beside 50 mm is %s', (key, value, severity) => {
    const { findings } = interpreted([femur(50)], fromCart(key, value));
    expect(findings.find(({ id }) => id === `cart-${key}`)?.severity).toBe(severity);
  });

  it.each([
    [90, 'accepted'],
    [90.1, 'inadequate'],
    [0, 'inadequate'],
  ])('of %d mm is %s, and impossible values are compared with nothing', (mm, quality) => {
    const result = interpreted([femur(88)], fromCart('fl', mm));
    expect(measurementOf(result, 'cart-fl').quality).toBe(quality);
    expect(measurementOf(result, 'fl').value).toBeCloseTo(88, 6);
    expect(result.findings.some(({ id }) => id === 'cart-fl')).toBe(quality === 'accepted');
  });

  it('is left out of documents from which another system reads values', () => {
    const result = interpreted([femur(50)], fromCart('fl', 51.5));
    expect(countingValues(result.measurements).map(({ id }) => id)).not.toContain('cart-fl');
  });
});

describe('a value of the ultrasound machine that we did not measure', () => {
  it('counts, states its source, and is used in calculated values', () => {
    const result = interpreted([head(91.8, 73.5), femur(51.3)], fromCart('ac', 240));
    expect(measurementOf(result, 'ac')).toMatchObject({
      value: 240,
      method: 'cart-sr',
      source: { provenance: 'cart-sr' },
      note: expect.stringContaining('from the report of the ultrasound machine, as no value'),
    });
    expect(measurementOf(result, 'efw').note).toContain('with AC from the ultrasound machine');
    const section = sectionOf(result, 'biometry');
    expect(section.summary).toContain('AC from the report of the ultrasound machine.');
    expect(section.summary).toContain('TAD, APAD not measured');
  });

  it('with every structure from the machine the section is complete', () => {
    const all = (['bpd', 'ofd', 'hc', 'tad', 'apad', 'ac', 'fl'] as const).map((key, index) =>
      fromCart(key, [73, 92, 262, 76, 77, 240, 52][index] ?? 0),
    );
    expect(sectionOf(interpreted([], ...all), 'biometry')).toMatchObject({
      status: 'complete',
      reason: null,
    });
  });

  it.each([
    [90, 'fl', 'accepted'],
    [90.1, 'cart-fl', 'inadequate'],
  ])('a femur of %d mm counts as %s, %s: by the limits for image values', (mm, id, quality) => {
    expect(measurementOf(interpreted([], fromCart('fl', mm)), id).quality).toBe(quality);
  });

  it('replaces one of ours that was not accepted', () => {
    const result = interpreted([femur(50, { accepted: false })], fromCart('fl', 51));
    expect(measurementOf(result, 'fl')).toMatchObject({ value: 51, method: 'cart-sr' });
    expect(measurementOf(result, 'fl-1').quality).toBe('low');
  });
});

describe('the choice among several values of the machine', () => {
  const fl = (value: number, changes: Partial<CartMeasurement> = {}) =>
    fromCart('fl', value, changes);
  const standing = (...cart: CartMeasurement[]) => measurementOf(interpreted([], ...cart), 'fl');

  it('is the selected one before the mean, and the mean before single ones', () => {
    const mean = fl(52, { derivation: 'mean' });
    expect(standing(fl(51), mean, fl(53, { selection: 'user' }))).toMatchObject({
      value: 53,
      note: expect.stringContaining('chosen by the operator'),
    });
    expect(standing(fl(51), mean, fl(53))).toMatchObject({ value: 52, derivation: 'mean' });
  });

  it('is their median if none was selected, which is stated', () => {
    expect(standing(fl(51), fl(54), fl(52))).toMatchObject({
      value: 52,
      derivation: 'median',
      note: expect.stringContaining('median of 3 values, none selected on the machine'),
    });
  });

  it.each([
    ['fl', [50, 53], false],
    ['fl', [50, 53.1], true],
    ['hc', [260, 273.3], false],
    ['hc', [260, 273.4], true],
    ['bpd', [60, 80], false],
  ] as const)('%s of %j: differ more than repeated values may: %s', (key, given, far) => {
    const result = interpreted([], ...given.map((mm) => fromCart(key, mm)));
    const finding = result.findings.find(({ id }) => id === `repeatability-cart-${key}`);
    expect(finding !== undefined).toBe(far);
    if (finding) expect(finding.text).toContain('from the ultrasound machine differ by');
  });

  it('ignores an impossible value, which is listed', () => {
    const result = interpreted([], fl(0), fl(51));
    expect(measurementOf(result, 'fl')).toMatchObject({ value: 51, derivation: 'measured' });
    expect(measurementOf(result, 'cart-fl-unused-1')).toMatchObject({
      value: 0,
      quality: 'inadequate',
    });
  });

  it('does not exist if another source identifies several fetuses', () => {
    const named = (name: string) => femur(50, { clip: { viewName: name } });
    const result = interpreted([named('FETUS A FL'), named('FETUS B FL')], fl(51));
    expect(idsOf(result)).not.toContain('cart-fl');
    expect(sectionOf(result, 'biometry').summary).toContain(
      'No value from the ultrasound machine was used',
    );
  });

  it.each([
    ['with images', [abdomen(80, 78)]],
    ['without images', []],
  ])(
    'does not exist for two fetuses, but each value is listed for its fetus: %s',
    (_, readings) => {
      const result = interpreted(readings, fl(51, { fetus: 'A' }), fl(55, { fetus: 'B' }));
      expect(idsOf(result)).not.toContain('fl');
      expect(measurementOf(result, 'cart-fl-A')).toMatchObject({ fetus: 'A', value: 51 });
      expect(measurementOf(result, 'cart-fl-B')).toMatchObject({ fetus: 'B', value: 55 });
      const { summary } = sectionOf(result, 'biometry');
      expect(summary).toContain('name several fetuses');
      expect(summary).toContain(
        'From the report of the ultrasound machine: Femur length (fetus A) 51.0 mm, Femur length (fetus B) 55.0 mm.',
      );
      expect(result.classifications.map(({ section }) => section)).not.toContain('growth');
    },
  );
});
