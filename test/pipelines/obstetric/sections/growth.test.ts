import { describe, expect, it } from 'vitest';
import { intergrowthSizeAt } from '../../../../pipelines/obstetric/charts/intergrowth-size.ts';
import {
  abdomen,
  femur,
  head,
  interpretReadings,
  MEDIAN_28_WEEKS,
  measurementOf,
  sectionOf,
} from '../evidence-sample.ts';

const at = (gaDays: number, basis = 'lmp') => ({ dating: { ga_days: gaDays, basis } });

describe('growth without what it needs', () => {
  it('without a gestational age no value has a centile', () => {
    const result = interpretReadings({ readings: MEDIAN_28_WEEKS() });
    expect(sectionOf(result, 'growth')).toMatchObject({
      status: 'not_assessed',
      reason: { code: 'no_gestational_age', needs: ['options.dating'] },
    });
    expect(sectionOf(result, 'growth').summary).toBe(
      'Gestational age was not given, so size for age was not assessed.',
    );
    expect(result.measurements.every(({ reference }) => reference === null)).toBe(true);
    expect(result.classifications.map(({ id }) => id)).not.toContain('size-category');
  });

  it('the age by this biometry is never taken in its place', () => {
    const result = interpretReadings({ readings: MEDIAN_28_WEEKS() });
    expect(measurementOf(result, 'ga-by-hc').value).toBeGreaterThan(0);
    expect(sectionOf(result, 'growth').status).toBe('not_assessed');
  });

  it('without biometry it is not assessed', () => {
    const result = interpretReadings({ readings: [], options: at(196) });
    expect(sectionOf(result, 'growth').reason?.code).toBe('no_biometry');
  });

  it('a head alone has a centile and no size category', () => {
    const result = interpretReadings({ readings: [head(91.8, 73.5)], options: at(196) });
    expect(measurementOf(result, 'hc').reference?.centile).toBeCloseTo(50, -1);
    expect(sectionOf(result, 'growth').status).toBe('partial');
    expect(result.classifications.map(({ id }) => id)).not.toContain('size-category');
  });
});

describe('centiles', () => {
  it('name the chart, its 10th and 90th centile, centile and z-score', () => {
    const result = interpretReadings({ readings: MEDIAN_28_WEEKS(), options: at(196) });
    expect(measurementOf(result, 'fl')).toMatchObject({
      reference: {
        chart: 'intergrowth-2014-size',
        low: expect.closeTo(48.6, 1),
        high: expect.closeTo(54, 1),
        centile: expect.closeTo(50, -1),
        z_score: expect.closeTo(0, 1),
      },
      interpretation: 'N',
    });
    expect(measurementOf(result, 'efw').reference?.chart).toBe('intergrowth-2020-efw');
    expect(sectionOf(result, 'growth')).toMatchObject({ status: 'complete', reason: null });
  });

  it('are null outside the chart, with the reason beside the value', () => {
    const result = interpretReadings({ readings: [femur(78)], options: at(281) });
    expect(measurementOf(result, 'fl')).toMatchObject({
      reference: null,
      interpretation: null,
      note: expect.stringContaining('14+0 to 40+0'),
    });
    expect(sectionOf(result, 'growth').status).toBe('not_assessed');
  });

  it('are never given for a weight without a chart of its own formula', () => {
    const result = interpretReadings({
      readings: [abdomen(75, 73.5), femur(51.3)],
      options: at(196),
    });
    expect(measurementOf(result, 'efw')).toMatchObject({
      method: 'hadlock-1985-efw-ac-fl',
      reference: null,
    });
    expect(sectionOf(result, 'growth').data.not_charted).toMatchObject([
      { measurement: 'efw', code: 'no_chart_for_formula' },
    ]);
  });

  it('of the INTERGROWTH weight come from the 2017 chart', () => {
    const result = interpretReadings({
      readings: [head(91.8, 73.5), abdomen(75, 73.5)],
      options: at(196),
    });
    expect(measurementOf(result, 'efw').reference?.chart).toBe('intergrowth-2017-efw');
  });

  it('use the exact day: the same femur is smaller at 27+6 than at 27+0', () => {
    const centile = (gaDays: number) =>
      measurementOf(interpretReadings({ readings: [femur(50)], options: at(gaDays) }), 'fl')
        .reference?.centile ?? Number.NaN;
    expect(centile(189)).toBeGreaterThan(centile(195) + 10);
  });
});

describe('a small fetus', () => {
  const small = (gaDays: number) => {
    const length = (measure: 'hc' | 'ac' | 'fl', z: number) =>
      intergrowthSizeAt(measure, gaDays / 7, z) ?? Number.NaN;
    const diameter = (circumference: number) => circumference / Math.PI;
    const hc = diameter(length('hc', -0.5));
    const ac = diameter(length('ac', -1.6));
    return interpretReadings({
      readings: [head(hc * 1.1, hc * 0.9), abdomen(ac, ac), femur(length('fl', -0.5))],
      options: at(gaDays, 'crl'),
    });
  };

  it('needs Doppler before it is called constitutionally small', () => {
    const result = small(238);
    expect(result.classifications.find(({ id }) => id === 'size-category')?.value).toBe('sga');
    expect(sectionOf(result, 'growth').data.fgr).toMatchObject({
      form: 'sga-doppler-needed',
      criteria_not_available: expect.arrayContaining(['umbilical artery Doppler']),
    });
    const [guidance] = result.guidance;
    expect(guidance?.text).toContain('Doppler is needed to separate');
    expect(guidance?.text).toContain('crown-rump length');
    expect(guidance?.text).not.toMatch(/excluded|deliver/i);
  });

  it('has the number that caused the category in every sentence about it', () => {
    const result = small(238);
    const size = result.findings.find(({ id }) => id === 'size');
    expect(size?.text).toMatch(/^Small for gestational age \(below the 10th centile\): EFW \d+ g/);
    expect(size?.evidence).toEqual(['efw', 'ac']);
  });
});

describe('values that do not fit the stated age', () => {
  it('ask to check the dating, and size is not judged', () => {
    const result = interpretReadings({ readings: MEDIAN_28_WEEKS(), options: at(140) });
    expect(result.findings.map(({ id }) => id)).toContain('dating-doubtful');
    expect(result.classifications.map(({ id }) => id)).not.toContain('size-category');
    expect(sectionOf(result, 'growth')).toMatchObject({
      status: 'partial',
      reason: { code: 'dating_doubtful' },
    });
  });
});
