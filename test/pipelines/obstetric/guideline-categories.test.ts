import { describe, expect, it } from 'vitest';
import {
  deepestPocketCategory,
  fluidIndexCategory,
} from '../../../pipelines/obstetric/amniotic-fluid/guideline.ts';
import { ventricleCategory } from '../../../pipelines/obstetric/anomaly-screen/guideline.ts';
import {
  pulsatilityIndex,
  resistanceIndex,
  systolicDiastolicRatio,
  umbilicalAt,
} from '../../../pipelines/obstetric/doppler/guideline.ts';
import { viability } from '../../../pipelines/obstetric/early-pregnancy/guideline.ts';
import {
  type RestrictionEvidence,
  restrictionForm,
  sizeCategory,
} from '../../../pipelines/obstetric/growth/guideline.ts';
import { placentaCategory } from '../../../pipelines/obstetric/placenta/guideline.ts';
import { dueDateByAge, dueDateByLmp } from '../../../pipelines/result/estimated-due-date.ts';
import { weeksAndDays } from '../../../pipelines/result/render/obstetric/shared.ts';

describe('size for gestational age: boundaries of obstetric 3.8', () => {
  it.each([
    [2.999, 'sga-severe'],
    [3, 'sga'],
    [9.6, 'sga'],
    [9.999, 'sga'],
    [10, 'aga'],
    [90, 'aga'],
    [90.001, 'lga'],
    [97, 'lga'],
    [97.001, 'lga-severe'],
  ])('a weight at centile %f is %s', (centile, category) => {
    expect(sizeCategory(centile)).toBe(category);
  });

  it('an AC below the 3rd centile is severe by itself, but not one at the 3rd', () => {
    expect(sizeCategory(40, 2.9)).toBe('sga-severe');
    expect(sizeCategory(40, 3)).toBe('aga');
  });
});

describe('fetal growth restriction (Delphi 2016)', () => {
  const form = (changes: Partial<RestrictionEvidence>) =>
    restrictionForm({
      gaWeeks: 30,
      efwCentile: 50,
      acCentile: null,
      uaPiCentile: null,
      utaPiCentile: null,
      cprCentile: null,
      endDiastolicFlow: null,
      centileFall: null,
      ...changes,
    });

  it.each([
    ['weight below the 3rd', { efwCentile: 2.9 }, 'early-fgr'],
    ['weight at the 3rd without Doppler', { efwCentile: 3 }, 'sga-doppler-needed'],
    ['small with a high UA-PI', { efwCentile: 9, uaPiCentile: 96 }, 'early-fgr'],
    ['absent flow at a normal weight', { endDiastolicFlow: 'absent' }, 'early-fgr'],
    [
      'small, all Doppler normal',
      { efwCentile: 8, uaPiCentile: 50, utaPiCentile: 50 },
      'sga-not-fgr',
    ],
    [
      'small, uterine arteries not measured',
      { efwCentile: 8, uaPiCentile: 50 },
      'sga-doppler-needed',
    ],
    ['weight and AC at the 10th', { efwCentile: 10, acCentile: 10 }, 'none'],
    ['weight at the 10th, AC not known', { efwCentile: 10 }, 'not-assessable'],
    ['AC at the 10th, weight not known', { efwCentile: null, acCentile: 10 }, 'not-assessable'],
    ['weight not known, AC small', { efwCentile: null, acCentile: 9.9 }, 'sga-doppler-needed'],
    ['a UA-PI at the 95th alone', { acCentile: 50, uaPiCentile: 95 }, 'none'],
    ['a high UA-PI alone', { acCentile: 50, uaPiCentile: 95.1 }, 'not-assessable'],
    ['a high UtA-PI alone', { acCentile: 50, utaPiCentile: 95.1 }, 'not-assessable'],
    ['nothing known', { efwCentile: null }, 'not-assessable'],
  ] as const)('early, %s: %s', (_, changes, expected) => {
    expect(form(changes)).toBe(expected);
  });

  it.each([
    ['31+6 is early', { gaWeeks: 223 / 7, efwCentile: 2 }, 'early-fgr'],
    ['32+0 is late', { gaWeeks: 32, efwCentile: 2 }, 'late-fgr'],
    ['one of three criteria is not enough', { gaWeeks: 36, efwCentile: 9 }, 'sga-doppler-needed'],
    ['two of three are', { gaWeeks: 36, efwCentile: 9, cprCentile: 4.9 }, 'late-fgr'],
    [
      'crossing counts above 50 centiles',
      { gaWeeks: 36, efwCentile: 9, centileFall: 51 },
      'late-fgr',
    ],
    [
      'uterine arteries do not count',
      { gaWeeks: 36, efwCentile: 9, utaPiCentile: 99 },
      'sga-doppler-needed',
    ],
    ['no criterion', { gaWeeks: 36, acCentile: 50, utaPiCentile: 99 }, 'none'],
    ['a CPR at the 5th alone', { gaWeeks: 36, acCentile: 50, cprCentile: 5 }, 'none'],
    ['a low CPR alone', { gaWeeks: 36, acCentile: 50, cprCentile: 4.9 }, 'not-assessable'],
    ['a fall of 50 points alone', { gaWeeks: 36, acCentile: 50, centileFall: 50 }, 'none'],
    ['a larger fall alone', { gaWeeks: 36, acCentile: 50, centileFall: 51 }, 'not-assessable'],
    [
      'absent flow alone',
      { gaWeeks: 36, acCentile: 50, endDiastolicFlow: 'absent' },
      'not-assessable',
    ],
  ] as const)('late, %s', (_, changes, expected) => {
    expect(form(changes)).toBe(expected);
  });
});

describe('thresholds of the other categories', () => {
  it.each([
    [1.99, 'oligohydramnios'],
    [2, 'normal'],
    [7.99, 'normal'],
    [8, 'polyhydramnios-mild'],
    [12, 'polyhydramnios-moderate'],
    [16, 'polyhydramnios-severe'],
    [0, 'anhydramnios'],
  ])('a deepest pocket of %f cm: %s', (dvp, category) => {
    expect(deepestPocketCategory(dvp)).toBe(category);
  });

  it.each([
    [5, 'oligohydramnios'],
    [5.01, 'normal'],
    [23.99, 'normal'],
    [24, 'polyhydramnios-mild'],
    [35, 'polyhydramnios-severe'],
  ])('an amniotic fluid index of %f cm: %s', (afi, category) => {
    expect(fluidIndexCategory(afi)).toBe(category);
  });

  it.each([
    [9.99, 'normal'],
    [10, 'mild'],
    [12.99, 'mild'],
    [13, 'moderate'],
    [15, 'moderate'],
    [15.01, 'severe'],
  ])('an atrium of %f mm: %s', (width, category) => {
    expect(ventricleCategory(width)).toBe(category);
  });

  it.each([
    [0, 20, 'praevia'],
    [-12, 20, 'praevia'],
    [0.1, 20, 'low-lying'],
    [19.9, 20, 'low-lying'],
    [20, 20, 'normal'],
    [0, 15.9, 'too-early'],
  ])('a placental edge %f mm from the os at %f weeks: %s', (edge, weeks, category) => {
    expect(placentaCategory(edge, weeks)).toBe(category);
  });

  it.each([
    [{ crl: 7, cardiacActivity: false }, 'diagnostic-of-pregnancy-loss'],
    [{ crl: 6.9, cardiacActivity: false }, 'suspicious-for-pregnancy-loss'],
    [{ crl: 9 }, 'not-assessable'],
    [{ crl: 3, cardiacActivity: true }, 'embryo-with-cardiac-activity'],
    [{ msd: 25, embryo: false }, 'diagnostic-of-pregnancy-loss'],
    [{ msd: 24.9, embryo: false }, 'suspicious-for-pregnancy-loss'],
    [{ msd: 15.9, embryo: false }, 'uncertain-viability'],
  ])('a first-trimester scan with %j: %s', (found, category) => {
    const nothing = { crl: null, msd: null, embryo: null, cardiacActivity: null };
    expect(viability({ ...nothing, ...found })).toBe(category);
  });
});

describe('Doppler indices', () => {
  it('with absent end-diastolic flow: RI 1, no S/D', () => {
    expect(pulsatilityIndex(40, 0, 14)).toBeCloseTo(2.85714, 5);
    expect(resistanceIndex(40, 0)).toBe(1);
    expect(systolicDiastolicRatio(40, 0)).toBeNull();
  });

  it('with reversed flow: RI above 1, no S/D', () => {
    expect(pulsatilityIndex(40, -5, 11)).toBeCloseTo(4.09091, 5);
    expect(resistanceIndex(40, -5)).toBeGreaterThan(1);
    expect(systolicDiastolicRatio(40, -5)).toBeNull();
  });

  it('have no value if the umbilical model diverges', () => {
    expect(umbilicalAt('sd', 30, 3.6)).not.toBeNull();
    expect(umbilicalAt('sd', 30, 3.7)).toBeNull();
  });
});

describe('dates', () => {
  it('count leap days and ignore daylight saving time', () => {
    expect(dueDateByLmp('2026-01-01')).toBe('2026-10-08');
    expect(dueDateByLmp('2027-06-01')).toBe('2028-03-07');
    expect(dueDateByAge('2026-03-02', 150)).toBe('2026-07-10');
    expect(dueDateByAge('2026-03-28', 279)).toBe('2026-03-29');
  });

  it('show an age in completed weeks and days', () => {
    expect(weeksAndDays(140)).toBe('20+0');
    expect(weeksAndDays(195)).toBe('27+6');
    expect(weeksAndDays(195.6)).toBe('28+0');
  });
});
