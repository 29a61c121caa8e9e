import { describe, expect, it } from 'vitest';
import {
  effusionGrade,
  respiratoryVariation,
  tamponadeStatement,
} from '../../../../pipelines/echo/guidelines/pericardium.ts';
import {
  atrialPressure,
  categoriesOf,
  type PressureSigns,
  probability,
  type SignCategory,
  signsOf,
} from '../../../../pipelines/echo/guidelines/pulmonary-pressure.ts';
import {
  isBeyond,
  RV_FUNCTION,
  RV_SIZE,
  rvConclusion,
} from '../../../../pipelines/echo/guidelines/right-ventricle.ts';

describe('RA pressure from the IVC (echo reference 12.2)', () => {
  it.each([
    [21, 51, 'sniff', 3],
    [21, 50, 'sniff', 8],
    [22, 51, 'sniff', 8],
    [22, 50, 'sniff', 15],
    [21.4, 51, 'sniff', 3],
    [21.5, 51, 'sniff', 8],
    [21, 21, 'quiet', 3],
    [21, 20, 'quiet', 8],
    [22, 21, 'quiet', 8],
    [22, 20, 'quiet', 15],
  ] as const)('%d mm, %d %% (%s): %i mmHg', (diameter, collapse, breathing, expected) => {
    expect(atrialPressure(diameter, collapse, breathing)).toBe(expected);
  });
});

describe('probability of pulmonary hypertension (reference 12.4)', () => {
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
    ['A', { eccentricity: 1.11 }, { eccentricity: 1.1 }],
    ['A', { coupling: 0.54 }, { coupling: 0.55 }],
    ['B', { acceleration: 104 }, { acceleration: 105 }],
    ['B', { earlyRegurgitation: 2.3 }, { earlyRegurgitation: 2.2 }],
    ['B', { artery: 26 }, { artery: 25 }],
    ['B', { artery: 24, aorticRoot: 23 }, { artery: 24, aorticRoot: 24 }],
    ['C', { cava: 22, collapse: 49 }, { cava: 22, collapse: 50 }],
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
});

describe('right ventricular function (reference 7)', () => {
  it.each([
    [0, 0, 'not assessed'],
    [1, 0, 'single index normal'],
    [1, 1, 'single index reduced'],
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
    ['free-wall strain', RV_FUNCTION.freeWallStrain, -19.9, -20],
    ['3D EF', RV_FUNCTION.ef3d, 44.4, 44.5],
    ['basal diameter', RV_SIZE.basal, 41.5, 41.4],
    ['mid diameter', RV_SIZE.mid, 36, 35],
    ['RA area', RV_SIZE.atrialArea, 18.1, 18],
    ['RV/LV ratio', RV_SIZE.ratio, 1.01, 1],
  ])('%s is abnormal at %s %d and not at %d', (_, limit, abnormal, normal) => {
    expect([isBeyond(limit, abnormal), isBeyond(limit, normal)]).toEqual([true, false]);
  });
});

describe('pericardial effusion (reference 13)', () => {
  it.each([
    [0, 'none'],
    [1, 'small'],
    [9, 'small'],
    [9.5, 'moderate'],
    [10, 'moderate'],
    [20, 'moderate'],
    [21, 'large'],
    [25, 'large'],
    [26, 'very large'],
  ])('%d mm: %s', (depth, expected) => expect(effusionGrade(depth)).toBe(expected));

  it.each([
    ['no effusion', { effusion: false }, 'no effusion seen'],
    ['nothing else', { collapse: [] }, 'effusion, no echo sign of tamponade'],
    ['variation', { variation: true }, 'possible haemodynamic effect; urgent clinical correlation'],
    ['RA alone', { collapse: ['RA'], plethora: false }, 'minor sign; correlate'],
    ['RV', { collapse: ['RV'] }, 'echo signs compatible with tamponade; urgent review'],
    [
      'RA with plethora',
      { collapse: ['RA'], plethora: true },
      'echo signs compatible with tamponade; urgent review',
    ],
    ['LA', { collapse: ['LA'] }, 'echo signs compatible with tamponade; urgent review'],
    ['LV', { collapse: ['LV'] }, 'echo signs compatible with tamponade; urgent review'],
    ['plethora alone', { plethora: true }, 'raised RA pressure; tamponade not excluded'],
  ] as const)('%s', (_, given, expected) => {
    const signs = { effusion: true, collapse: null, variation: null, plethora: null };
    expect(tamponadeStatement({ ...signs, ...given })).toBe(expected);
  });

  it('gives the magnitude of a respiratory variation', () => {
    expect(respiratoryVariation(90, 60)).toBeCloseTo(33.33, 2);
    expect(respiratoryVariation(30, 50)).toBeCloseTo(66.67, 2);
  });
});
