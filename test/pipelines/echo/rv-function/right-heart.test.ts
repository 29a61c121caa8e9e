import { describe, expect, it } from 'vitest';
import {
  effusionGrade,
  isLarge,
  outgrows,
  respiratoryVariation,
  surelyLarge,
  TAMPONADE_SCHEME,
  tamponadeStatement,
} from '../../../../pipelines/echo/pericardial-effusion/guideline.ts';
import {
  atrialPressure,
  categoriesOf,
  isAtriumEnlarged,
  type PressureSigns,
  probability,
  type SignCategory,
  signsOf,
} from '../../../../pipelines/echo/pulmonary-hypertension/guideline.ts';
import {
  isBeyond,
  isPerformanceBeyond,
  RV_FUNCTION,
  RV_SIZE,
  rvConclusion,
} from '../../../../pipelines/echo/rv-function/guideline.ts';

describe('RA pressure from the IVC (echo 12.2)', () => {
  it.each([
    [21, 51, 3],
    [21, 50, 8],
    [22, 51, 8],
    [22, 50, 15],
    [21.4, 51, 3],
    [21.5, 51, 8],
  ] as const)('%d mm, %d %%: %i mmHg', (diameter, collapse, expected) => {
    expect(atrialPressure(diameter, collapse)).toBe(expected);
  });
});

describe('an RA area beyond its limit (echo 7.2)', () => {
  it.each([
    [18, false],
    [18.1, true],
  ])('%d cm²: %s', (area, expected) => expect(isAtriumEnlarged(area)).toBe(expected));
});

describe('probability of pulmonary hypertension (echo 12.4)', () => {
  it.each([
    [2.8, [], 'low'],
    [2.84, ['A'], 'low'],
    [2.8, ['A', 'A'], 'low'],
    [2.8, ['A', 'B'], 'intermediate'],
    [2.85, [], 'intermediate'],
    [3.4, ['C'], 'intermediate'],
    [3.4, ['A', 'C'], 'high'],
    [3.44, [], 'intermediate'],
    [3.45, [], 'high'],
    [null, [], 'low'],
    [null, ['B', 'C'], 'intermediate'],
  ] as [number | null, SignCategory[], string][])('%s m/s with %o: %s', (jet, signs, expected) => {
    expect(probability(jet, signs)).toBe(expected);
  });

  const NONE: PressureSigns = {
    ventricularRatio: null,
    areaRatio: null,
    eccentricity: null,
    coupling: null,
    acceleration: null,
    earlyRegurgitation: null,
    artery: null,
    aorticRoot: null,
    cava: null,
    collapse: null,
    atrialArea: null,
  };
  it.each([
    ['A', { ventricularRatio: 1.01 }, { ventricularRatio: 1 }],
    ['A', { areaRatio: 1.01 }, { areaRatio: 1 }],
    ['A', { eccentricity: 1.11 }, { eccentricity: 1.1 }],
    ['A', { coupling: 0.54 }, { coupling: 0.55 }],
    ['B', { acceleration: 104 }, { acceleration: 105 }],
    ['B', { earlyRegurgitation: 2.3 }, { earlyRegurgitation: 2.2 }],
    ['B', { artery: 26 }, { artery: 25 }],
    ['B', { artery: 24, aorticRoot: 23 }, { artery: 24, aorticRoot: 24 }],
    ['C', { cava: 22, collapse: 49 }, { cava: 22, collapse: 51 }],
    ['C', { cava: 22, collapse: 49 }, { cava: 21, collapse: 49 }],
    ['C', { atrialArea: 18.1 }, { atrialArea: 18 }],
  ] as const)(
    'category %s is present with %o, assessed and absent with %o',
    (category, met, not) => {
      expect(categoriesOf(signsOf({ ...NONE, ...met })).present).toEqual([category]);
      const absent = categoriesOf(signsOf({ ...NONE, ...not }));
      expect(absent).toEqual({ present: [], assessed: [category] });
    },
  );

  it('does not count a sign that was not measured as absent', () => {
    expect(categoriesOf(signsOf(NONE))).toEqual({ present: [], assessed: [] });
    expect(categoriesOf(signsOf({ ...NONE, cava: 30 })).assessed).toEqual([]);
  });

  it('does not decide on a wide IVC that collapses by exactly 50 %, at the limit', () => {
    expect(categoriesOf(signsOf({ ...NONE, cava: 22, collapse: 50 })).assessed).toEqual([]);
    expect(categoriesOf(signsOf({ ...NONE, cava: 21, collapse: 50 })).present).toEqual([]);
  });
});

describe('right ventricular function (echo 7)', () => {
  it.each([
    [0, 0, null],
    [1, 0, 'single-index-normal'],
    [1, 1, 'single-index-reduced'],
    [2, 0, 'normal'],
    [3, 1, 'borderline'],
    [2, 1, 'reduced'],
    [4, 1, 'borderline'],
    [4, 2, 'reduced'],
  ])('of %i indices %i abnormal: %s', (available, abnormal, expected) => {
    expect(rvConclusion(available, abnormal)).toBe(expected);
  });
  it.each([
    ['TAPSE', RV_FUNCTION.tapse, 16.4, 16.5],
    ["S'", RV_FUNCTION.sPrime, 9.44, 9.45],
    ['FAC', RV_FUNCTION.fac, 34.4, 34.5],
    ['RIMP, pulsed', RV_FUNCTION.rimpPulsed, 0.435, 0.4349],
    ['RIMP, tissue', RV_FUNCTION.rimpTissue, 0.545, 0.544],
    ['basal diameter', RV_SIZE.basal, 41.5, 41.4],
    ['mid diameter', RV_SIZE.mid, 36, 35],
    ['free wall', RV_SIZE.wall, 5.5, 5.4],
    ['RV/LV ratio', RV_SIZE.ratio, 1.01, 1],
  ])('%s is abnormal at %s %d and not at %d', (_, limit, abnormal, normal) => {
    expect([isBeyond(limit, abnormal), isBeyond(limit, normal)]).toEqual([true, false]);
  });
});

describe('RIMP by its method (echo 7.2: pulsed above 0.43, tissue above 0.54)', () => {
  it.each([
    [0.43, 'pulsed', false],
    [0.44, 'pulsed', true],
    [0.54, 'tissue', false],
    [0.55, 'tissue', true],
    [0.43, null, false],
    [0.44, null, null],
    [0.54, null, null],
    [0.55, null, true],
  ] as const)('%d, %s: abnormal %s', (value, method, expected) => {
    expect(isPerformanceBeyond(value, method)).toBe(expected);
  });
});

describe('pericardial effusion (echo 13)', () => {
  it.each([
    [0, 'none'],
    [1, 'small'],
    [9, 'small'],
    [9.5, 'moderate'],
    [10, 'moderate'],
    [20, 'moderate'],
    [21, 'large'],
    [25, 'large'],
    [26, 'very-large'],
  ])('%d mm: %s', (depth, expected) => expect(effusionGrade(depth)).toBe(expected));

  it.each([
    ['no effusion', { effusion: false }, 'no-effusion'],
    ['chambers that do not collapse', { collapse: [] }, 'no-sign'],
    ['chambers that were not looked at', {}, 'not-assessed'],
    ['an IVC that is not wide, and no chamber', { plethora: false }, 'not-assessed'],
    ['variation', { variation: true }, 'possible-effect'],
    ['RA alone', { collapse: ['RA'], plethora: false }, 'minor-sign'],
    ['RV', { collapse: ['RV'] }, 'compatible'],
    ['RA with plethora', { collapse: ['RA'], plethora: true }, 'compatible'],
    ['LA', { collapse: ['LA'] }, 'compatible'],
    ['LV', { collapse: ['LV'] }, 'compatible'],
    ['plethora alone', { plethora: true }, 'raised-atrial-pressure'],
  ] as const)('%s', (_, given, expected) => {
    const signs = { effusion: true, collapse: null, variation: null, plethora: null };
    expect(tamponadeStatement({ ...signs, ...given })).toBe(expected);
  });

  it('is graded by a separate table, which no society published', () => {
    expect(TAMPONADE_SCHEME).toContain('convention');
    expect(TAMPONADE_SCHEME).not.toMatch(/ASE|ESC|EACVI/);
  });

  it.each([
    // A 14 mm outline may correspond to 10 mm of fluid, which is moderate, and a 13 mm outline to 9
    // mm, which is small.
    [14, 9, true],
    [13, 9, false],
    [14, 10, false],
    [25, 20, true],
    [24, 20, false],
  ])('outlined %d mm deep has a higher grade than measured %d mm: %s', (outlined, mm, expected) => {
    expect(outgrows(outlined, mm)).toBe(expected);
  });

  it('is certainly large with an outline of 25 mm but not of 24, which may be 20 mm of fluid', () => {
    expect([surelyLarge(24), surelyLarge(25)]).toEqual([false, true]);
  });

  it('is large above 20 mm', () => {
    expect([isLarge(20), isLarge(21)]).toEqual([false, true]);
  });

  it('gives the magnitude of a respiratory variation', () => {
    expect(respiratoryVariation(90, 60)).toBeCloseTo(33.33, 2);
    expect(respiratoryVariation(30, 50)).toBeCloseTo(66.67, 2);
  });
});
