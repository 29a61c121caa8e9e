import { describe, expect, it } from 'vitest';
import { intergrowthSizeAt } from '../../../../pipelines/obstetric/growth/charts.ts';
import { weightFinding } from '../../../../pipelines/obstetric/growth/judge.ts';
import { createMeasurement } from '../../../../pipelines/result/measurement.ts';
import { conclusionTexts } from '../../../../pipelines/result/render/conclusion.ts';
import {
  dopplerNeeded,
  openSizeText,
} from '../../../../pipelines/result/render/obstetric/growth.ts';
import { writeReport } from '../../../../pipelines/result/render/obstetric/report.ts';
import { renderStatement } from '../../../../pipelines/result/render/render.ts';
import type { Statement } from '../../../../pipelines/result/statement.ts';
import { cartValue } from '../../cart-sample.ts';
import {
  abdomen,
  EXACT,
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

  it('the age by this biometry is never used in its place', () => {
    const result = interpretReadings({ readings: MEDIAN_28_WEEKS() });
    expect(measurementOf(result, 'ga-by-hc').value).toBeGreaterThan(0);
    expect(sectionOf(result, 'growth').status).toBe('not_assessed');
  });

  it('without biometry it is not assessed', () => {
    const result = interpretReadings({ readings: [], options: at(196) });
    expect(sectionOf(result, 'growth').reason?.code).toBe('no_biometry');
  });

  it('a head alone has a centile but no size category', () => {
    const result = interpretReadings({ readings: [head(91.8, 73.5)], options: at(196) });
    expect(measurementOf(result, 'hc').reference?.centile).toBeCloseTo(50, -1);
    expect(sectionOf(result, 'growth').status).toBe('partial');
    expect(result.classifications.map(({ id }) => id)).not.toContain('size-category');
  });
});

describe('centiles', () => {
  it('have the chart with its 10th and 90th centile, a centile and a z-score', () => {
    const readings = MEDIAN_28_WEEKS();
    const result = interpretReadings({ readings, options: at(196), evidence: EXACT });
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
    // The formula's interval for the weight covers half of the centile scale.
    expect(sectionOf(result, 'growth').reason?.code).toBe('at_cut_off');
  });

  it('are null outside the chart, with a reason', () => {
    const result = interpretReadings({ readings: [femur(78)], options: at(281) });
    expect(measurementOf(result, 'fl')).toMatchObject({
      reference: null,
      interpretation: null,
      note: expect.stringContaining('14+0 to 40+0'),
    });
    expect(sectionOf(result, 'growth').status).toBe('not_assessed');
  });

  it('are never given for a weight whose formula has no chart', () => {
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

  it('are not given for a weight of the machine, whose formula is not known', () => {
    const concept = { scheme: 'LN', code: '11727-5', meaning: 'EFW' };
    const cart = [cartValue({ key: 'efw', concept, value: 1200, unit: 'g' })];
    const study = { clips: [], refused: [], files: 1, series: 1, cart };
    const result = interpretReadings({ readings: [], options: at(196), evidence: { study } });
    expect(measurementOf(result, 'efw').reference).toBeNull();
    expect(sectionOf(result, 'growth').data.not_charted).toMatchObject([
      { measurement: 'efw', code: 'formula_not_known' },
    ]);
    expect(sectionOf(result, 'growth').reason?.detail).toContain(
      'stimated fetal weight: no centile: the weight formula of the ultrasound machine is not known',
    );
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
  const small = (gaDays: number, cart: ReturnType<typeof cartValue>[] = [], acZ = -1.6) => {
    const length = (measure: 'hc' | 'ac' | 'fl', z: number) =>
      intergrowthSizeAt(measure, gaDays / 7, z) ?? Number.NaN;
    const diameter = (circumference: number) => circumference / Math.PI;
    const hc = diameter(length('hc', -0.5));
    const ac = diameter(length('ac', acZ));
    const readings = [head(hc * 1.1, hc * 0.9), abdomen(ac, ac), femur(length('fl', -0.5))];
    const clips = readings.map(({ clip }) => clip);
    const study = { clips, refused: [], files: 4, series: 1, cart };
    return interpretReadings({
      readings,
      options: at(gaDays, 'crl'),
      evidence: { study, ...EXACT },
    });
  };

  it('needs Doppler before it is called constitutionally small', () => {
    const result = small(238);
    // The interval of the weight contains the 10th centile, so there is advice but no category.
    expect(result.classifications.map(({ id }) => id)).not.toContain('size-category');
    expect(sectionOf(result, 'growth').data.fgr).toMatchObject({
      form: null,
      form_between: ['late-fgr', 'sga-doppler-needed'],
      criteria_at_cut_off: ['EFW'],
      criteria_not_available: expect.arrayContaining(['umbilical artery Doppler']),
    });
    const [guidance] = result.guidance;
    expect(guidance?.text).toContain('Doppler is needed to distinguish');
    expect(guidance?.text).not.toMatch(/excluded|deliver/i);
    expect(guidance?.text).toContain('Not assessed: umbilical artery Doppler');
    expect(guidance?.text).toMatch(/Not assessed: .*amniotic fluid, anatomy/);
  });

  it('has advice that repeats no value of the report and stays short', () => {
    const { text = '' } = small(238, [], -2.2).guidance[0] ?? {};
    expect(text).toContain('Consider confirming the dating');
    expect(text).not.toMatch(/weeks|\d g\b|mm\b/);
    expect(text.split(' ').length).toBeLessThan(70);
  });

  it('has advice that does not list the amniotic fluid as missing if it was measured', () => {
    const concept = { scheme: 'LN', code: '11827-3', meaning: 'Deepest vertical pocket' };
    const pocket = cartValue({ key: 'deepest-vertical-pocket', concept, value: 45, unit: 'mm' });
    const text = small(238, [pocket]).guidance[0]?.text;
    expect(text).toMatch(/Not assessed: [^.]*anatomy\./);
    expect(text).not.toMatch(/Not assessed: [^.]*amniotic fluid/);
  });

  it('has advice that does not list a measured fluid as missing if it has no category', () => {
    const concept = { scheme: 'LN', code: '11627-7', meaning: 'Amniotic Fluid Index' };
    const index = cartValue({ key: 'amniotic-fluid-index', concept, value: 140, unit: 'mm' });
    expect(small(161, [index]).guidance[0]?.text).toMatch(/Not assessed: [^.]*Doppler, anatomy\./);
  });

  it('asks only for the Doppler that was not measured', () => {
    const concept = { scheme: 'LN', code: '12008-9', meaning: 'Pulsatility Index' };
    const pi = cartValue({ key: 'umbilical-artery-pi', concept, value: 1.1, unit: '1' });
    const [lead = '', missing = ''] = small(182, [pi]).guidance[0]?.text.split('. ') ?? [];
    expect(lead).toMatch(/; uterine artery Doppler is needed to distinguish/);
    expect(missing).toMatch(/^Not assessed: umbilical end-diastolic flow, uterine artery Doppler,/);
  });

  it('of which an index is undecided needs no further Doppler but a decision', () => {
    const undecided = { missing: [], undecided: ['umbilical-doppler'] } as const;
    expect(dopplerNeeded('Doppler', undecided)).toBe(
      'Doppler does not distinguish constitutional smallness from growth restriction, as a cut-off lies within the interval: umbilical artery Doppler',
    );
  });

  it('does not call an index unassessed if it was measured but is undecided', () => {
    const statement: Statement = {
      ...{ kind: 'conclusion', code: 'growth.lone-criterion', about: [], fetus: null },
      params: {
        ...{ met: [], early: false, missing: ['anatomy'] },
        undecided: ['umbilical artery Doppler'],
      },
    };
    expect(renderStatement(statement, new Map())).toContain(
      'Undetermined, as a cut-off lies within the interval: umbilical artery Doppler. Not assessed: anatomy.',
    );
  });

  it('has the number that caused the category in every sentence about it', () => {
    const result = small(238, [], -2.2);
    const size = result.findings.find(({ id }) => id === 'size');
    expect(size?.text).toMatch(
      /^Severely small for gestational age \(below the 3rd centile\): EFW \d+ g/,
    );
    expect(size?.evidence).toEqual(['efw', 'ac']);
  });
});

/** Returns a fetus at 34+0 weeks whose head, abdomen and femur have these z-scores. */
function fetus34(z: { hc?: number; bpd?: number; ac?: number; fl?: number }) {
  const length = (measure: 'hc' | 'bpd' | 'ac' | 'fl') =>
    intergrowthSizeAt(measure, 34, z[measure] ?? 0) ?? Number.NaN;
  const [bpd, ac] = [length('bpd'), length('ac') / Math.PI];
  const ofdOf = (hc: number) => (2 * hc) / Math.PI - bpd;
  return [head(ofdOf(length('hc')), bpd), abdomen(ac, ac), femur(length('fl'))];
}

const interpret34 = (z: Parameters<typeof fetus34>[0]) =>
  interpretReadings({ readings: fetus34(z), options: at(238), evidence: EXACT });

const textOf = (result: ReturnType<typeof interpretReadings>, id: string) =>
  result.findings.find((one) => one.id === id)?.text ?? null;

describe('parts by their z-score (obstetric 3.8)', () => {
  it.each([
    [-1.99, null],
    [-2.01, 'Short femur'],
  ])('a femur of z %d: %s', (fl, word) => {
    const text = textOf(interpret34({ fl }), 'femur-size');
    if (word) expect(text).toMatch(new RegExp(`^${word}`));
    else expect(text).toBeNull();
  });

  it('a small BPD in a head of normal size is a matter of shape, and not a small head', () => {
    const result = interpret34({ bpd: -2.3 });
    expect(textOf(result, 'bpd-shape')).toContain('attributable to head shape');
    expect(textOf(result, 'head-size')).toBeNull();
    expect(textOf(interpret34({ bpd: -1.9 }), 'bpd-shape')).toBeNull();
  });

  it('a small AC is reported even if the weight is not small, and leads to advice on Doppler', () => {
    const result = interpret34({ ac: -1.45, hc: 1.5, fl: 1.5 });
    expect(textOf(result, 'abdomen-size')).toContain('below the 10th centile');
    expect(result.guidance[0]?.text).toMatch(
      /^Abdominal circumference below the 10th centile, but not the weight; .*Doppler is needed/,
    );
  });
});

describe('macrosomia is a matter of grams', () => {
  const heavy = (grams: number) => {
    const efw = createMeasurement('efw', 'efw', grams, 'hadlock-1985-efw-hc-ac-fl', {
      section: 'biometry',
    });
    return weightFinding([efw]).map(({ statement }) => statement?.params.grams);
  };

  it.each([
    [3999, []],
    [4000, [4000]],
    [4499, [4000]],
    [4500, [4500]],
  ])('%d g reaches the limits %j', (grams, reached) => {
    expect(heavy(grams)).toEqual(reached);
  });
});

describe('a weight that a machine reports', () => {
  const weight = (value: number, fetus: string | null = null) =>
    cartValue({
      key: 'efw',
      concept: { scheme: 'LN', code: '11727-5', meaning: 'Estimated Weight' },
      value,
      unit: 'g',
      fetus,
    });
  const interpret = (cart: ReturnType<typeof cartValue>[], options: Record<string, unknown>) =>
    interpretReadings({
      readings: [],
      options: { ...options, report: true },
      evidence: { study: { clips: [], refused: [], files: 1, series: 1, cart } },
    });

  it('of 4700 g is macrosomia even without a gestational age', () => {
    expect(textOf(interpret([weight(4700)], {}), 'macrosomia')).toBe(
      'Estimated weight 4700 g: macrosomia range (4500 g or more).',
    );
    expect(textOf(interpret([weight(3900)], {}), 'macrosomia')).toBeNull();
  });

  it('for each of two twins is named with its fetus in the impression', () => {
    const { impression = [] } =
      interpret([weight(2100, 'A'), weight(1500, 'B')], at(231)).report ?? {};
    const line = impression.find((one) => one.includes('2100 g'));
    expect(line).toMatch(/^Weights from the report of the ultrasound machine: fetus A 2100 g/);
  });

  it('of one of two fetuses is listed for that fetus', () => {
    for (const options of [at(231), {}]) {
      const result = interpret([weight(2100, 'B')], options);
      expect(measurementOf(result, 'cart-efw-B')).toMatchObject({ value: 2100, fetus: 'B' });
      expect(sectionOf(result, 'growth').summary).toContain('(fetus B) 2100 g');
    }
  });

  it('for two of three fetuses has no discordance', () => {
    const hc = cartValue({
      key: 'hc',
      concept: { scheme: 'LN', code: '11984-2', meaning: 'HC' },
      value: 280,
      unit: 'mm',
      fetus: 'C',
    });
    const twins = [weight(2100, 'A'), weight(1500, 'B')];
    expect(textOf(interpret(twins, at(231)), 'twin-discordance')).toContain('28.6 %');
    expect(textOf(interpret([...twins, hc], at(231)), 'twin-discordance')).toBeNull();
  });
});

describe('the category', () => {
  it('is not given if an interval includes a cut-off, and both sides are stated', () => {
    const result = interpretReadings({ readings: fetus34({ ac: -1.3 }), options: at(238) });
    const { summary, status } = sectionOf(result, 'growth');
    const sides =
      'appropriate or small for gestational age, as the 10th centile is within the interval';
    expect(summary).toContain(`: ${sides}; measure by hand.`);
    expect(status).toBe('partial');
    expect(conclusionTexts(result).join(' ')).toContain(sides);
    expect(result.classifications.map(({ id }) => id)).not.toContain('size-category');
    expect(result.findings.map(({ id }) => id)).not.toContain('size');
  });

  it('by a weight without FL, which is no more exact, is not given either', () => {
    const [hc, ac] = (['hc', 'ac'] as const).map((key) => intergrowthSizeAt(key, 30, -1.2) ?? 0);
    const [a = 0, b = 0] = [(hc ?? 0) / Math.PI, (ac ?? 0) / Math.PI];
    const result = interpretReadings({
      readings: [head(a * 1.12, a * 0.88), abdomen(b, b)],
      options: at(210),
      evidence: EXACT,
    });
    const efw = measurementOf(result, 'efw');
    expect(efw.method).toBe('intergrowth-2017-efw-hc-ac');
    expect(efw.uncertainty).toBeCloseTo(0.15 * efw.value);
    expect(result.classifications.map(({ id }) => id)).not.toContain('size-category');
  });

  it('that is open is stated in the impression and not repeated among the limitations', () => {
    const { impression, limitations } = writeReport(
      interpretReadings({ readings: fetus34({ ac: -1.3 }), options: at(238) }),
    );
    const lines = (texts: readonly string[]) =>
      texts.filter((text) => text.includes('measure by hand')).length;
    expect([lines(impression), lines(limitations)]).toEqual([1, 0]);
    expect(limitations.length).toBeGreaterThan(0);
  });

  it.each([
    [['sga-severe', 'aga'], 'aga', [10], 'appropriate or small', 'the 10th centile is'],
    [['sga-severe', 'aga'], 'aga', [3], 'appropriate or small', 'the 3rd centile is'],
    [['sga', 'aga'], 'sga', [10], 'small or appropriate', 'the 10th centile is'],
    [['aga', 'lga-severe'], 'lga', [90], 'large or appropriate', 'the 90th centile is'],
    [['sga', 'aga'], undefined, undefined, 'small or appropriate', 'a cut-off is'],
  ] as const)('of %j, at the value itself %s, is open', (between, own, cutOffs, sizes, why) => {
    expect(openSizeText({ between, ...(own && { own, cutOffs }) })).toBe(
      `${sizes} for gestational age, as ${why} within the interval`,
    );
  });

  it('is not classified if the interval includes all sizes, whose list would say nothing', () => {
    expect(openSizeText({ between: ['sga', 'lga'], own: 'aga', cutOffs: [10, 90] })).toBe(
      'size not classified, as the interval extends from below the 10th to above the 90th centile',
    );
  });

  it('is small if both ends of the interval are below the 10th centile', () => {
    const small = interpretReadings({
      readings: fetus34({ ac: -3.6, hc: -3.6, fl: -3.6 }),
      options: at(238),
    });
    expect(small.classifications.find(({ id }) => id === 'size-category')?.value).toMatch(/^sga/);
  });

  // At 28 weeks, 2 % of the AC are 0.4 standard deviations, so the interval of the second and third
  // includes the 3rd or 97th centile, and that of the fourth the 10th.
  it.each([
    [-3.6, 'sga-severe'],
    [-2, 'sga'],
    [2, 'lga'],
    [-1.4, undefined],
    [0, 'aga'],
  ])('of an AC with a z-score of %d within 2 %%: %s', (z, expected) => {
    const diameter = (intergrowthSizeAt('ac', 28, z) ?? 0) / Math.PI;
    const { classifications } = interpretReadings({
      readings: [abdomen(diameter, diameter)],
      options: at(196),
      evidence: { uncertainty: { hcPercent: null, acPercent: 2, flMm: null } },
    });
    expect(classifications.find(({ id }) => id === 'size-category')?.value).toBe(expected);
  });

  it('does not mention the interval if none is known', () => {
    const result = interpretReadings({
      readings: [abdomen(75, 73.5)],
      options: at(196),
      evidence: { uncertainty: { hcPercent: null, acPercent: null, flMm: null } },
    });
    expect(sectionOf(result, 'growth').summary).not.toContain('by hand');
  });
});

describe('several fetuses', () => {
  const cart = ['A', 'B'].map((fetus) =>
    cartValue({
      key: 'hc',
      concept: { scheme: 'LN', code: '11984-2', meaning: 'HC' },
      value: 260,
      unit: 'mm',
      fetus,
    }),
  );
  const twins = () => {
    const readings = [...MEDIAN_28_WEEKS(), femur(48)];
    const study = {
      clips: readings.map(({ clip }) => clip),
      refused: [],
      files: 4,
      series: 1,
      cart,
    };
    return interpretReadings({ readings, options: at(196), evidence: { study } });
  };

  it('share no value: each length is separate, without median, age, weight or ratio', () => {
    const result = twins();
    expect(result.measurements.map(({ id }) => id)).toEqual([
      'hc-1',
      'ofd-1',
      'bpd-1',
      'ac-1',
      'tad-1',
      'apad-1',
      'fl-1',
      'fl-2',
      'cart-hc-A',
      'cart-hc-B',
    ]);
    expect(sectionOf(result, 'biometry').reason).toMatchObject({ code: 'several_fetuses' });
  });

  it('have no size, because the images do not show which fetus is which', () => {
    const result = twins();
    expect(sectionOf(result, 'growth')).toMatchObject({
      status: 'not_assessed',
      reason: { code: 'several_fetuses' },
    });
    expect(sectionOf(result, 'growth').summary).toContain(
      'Selective growth restriction was not assessed.',
    );
    expect(result.measurements.every(({ reference }) => reference === null)).toBe(true);
    expect(result.classifications.map(({ section }) => section)).not.toContain('growth');
  });
});

describe('values that do not fit the stated age', () => {
  it('are listed with small letters within a sentence', () => {
    const result = interpretReadings({ readings: MEDIAN_28_WEEKS(), options: at(140) });
    const { text } = result.findings.find(({ id }) => id === 'dating-doubtful') ?? {};
    expect(text).toMatch(/^Head circumference, biparietal diameter, .*: more than 5 standard/);
  });

  it('lead to advice on the dating, and size is not evaluated', () => {
    const result = interpretReadings({ readings: MEDIAN_28_WEEKS(), options: at(140) });
    expect(result.findings.map(({ id }) => id)).toContain('dating-doubtful');
    expect(result.classifications.map(({ id }) => id)).not.toContain('size-category');
    expect(sectionOf(result, 'growth')).toMatchObject({
      status: 'partial',
      reason: { code: 'dating_doubtful' },
    });
  });
});
