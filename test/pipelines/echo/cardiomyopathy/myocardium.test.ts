import { describe, expect, it } from 'vitest';
import {
  asymmetryOf,
  dilatedPattern,
  isConvention,
  obstructionCategory,
  provokedObstruction,
  wallStatement,
} from '../../../../pipelines/echo/cardiomyopathy/guideline.ts';
import {
  focusedBand,
  focusedEf,
  focusedLevel,
  focusedRightVentricle,
} from '../../../../pipelines/echo/focused/guideline.ts';
import { strainBand } from '../../../../pipelines/echo/lv-strain/judge.ts';
import {
  excursionScore,
  isAbsent,
  motionScore,
  regionalStatement,
  territoryOf,
  thickeningScore,
} from '../../../../pipelines/echo/wall-motion/guideline.ts';

describe('bands of strain (echo 8.2)', () => {
  it.each([
    [-18.1, 'normal'],
    [-18, 'borderline'],
    [-16, 'borderline'],
    [-15.9, 'abnormal'],
    [-18.04, 'borderline'],
  ])('%d %%: %s', (gls, expected) => expect(strainBand(gls)).toBe(expected));
});

describe('score of a segment from its outlines (echo 9)', () => {
  it.each([
    [31, 1],
    [30.4, 2],
    [30, 2],
    [10, 2],
    [9.4, 3],
    [0, 3],
    [-0.4, 3],
    [-0.5, 4],
    [-12, 4],
  ])('thickening of %d %% scores %d', (thickening, score) =>
    expect(thickeningScore(thickening)).toBe(score),
  );
  it.each([
    [21, 1],
    [20, 2],
    [5, 2],
    [4.4, 3],
    [-5, 3],
    [-5.6, 4],
  ])('inward motion of %d %% scores %d', (excursion, score) =>
    expect(excursionScore(excursion)).toBe(score),
  );
  it.each([
    ['both normal', 40, 30, 1],
    ['moves normally, thickens less', 10, 21, 1],
    ['moves normally, does not thicken: they do not agree', 9, 21, null],
    ['thickens normally, moves less: they do not agree', 31, 20, null],
    ['thickens normally, does not move', 40, 0, null],
    ['both reduced', 30, 20, 2],
    ['one reduced, one absent: the milder', 5, 10, 2],
    ['both absent', 5, 0, 3],
    ['outwards, thickening absent: dyskinetic', 9, -6, 4],
    ['outwards at the tolerance, thickening absent', 9, -5, 3],
    ['outwards, thickening reduced: look at thickening', 10, -15, 2],
    ['thinning, motion absent: dyskinetic', -1, 4, 4],
    ['thinning and outwards: dyskinetic', -20, -15, 4],
    ['thinning, and moving inwards: one sign against another', -1, 5, 2],
    ['thinning, and moving normally: they do not agree', -12, 21, null],
    ['thickness not seen, motion normal', null, 21, 1],
    ['thickness not seen, motion reduced', null, 20, 2],
    ['thickness not seen, outwards', null, -6, 4],
  ])('%s', (_, thickening, excursion, score) =>
    expect(motionScore(thickening, excursion)).toBe(score),
  );
  it.each([
    [10, 5, false],
    [9, 5, true],
    [10, 4, true],
    [null, 5, false],
    [null, 4, true],
  ])('thickening of %d %% and motion of %d %%: absent %s', (thickening, excursion, absent) =>
    expect(isAbsent(thickening, excursion)).toBe(absent),
  );
});

describe('wall motion and territories (echo 9)', () => {
  const scores = (abnormal: Record<number, number>) =>
    new Map(Array.from({ length: 16 }, (_, i) => [i + 1, abnormal[i + 1] ?? 1] as const));

  it('has every segment in one territory', () => {
    const all = [...territoryOf('LAD'), ...territoryOf('RCA'), ...territoryOf('LCx')];
    expect(all.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 17 }, (_, i) => i + 1));
  });

  it.each([
    ['all normal', {}, { kind: 'none' }],
    ['two neighbours on a ring', { 1: 2, 2: 3 }, { kind: 'territory', artery: 'LAD' }],
    ['two neighbours of the inferior wall', { 3: 2, 4: 2 }, { kind: 'territory', artery: 'RCA' }],
    ['two apical neighbours', { 13: 2, 14: 2 }, { kind: 'territory', artery: 'LAD' }],
    ['two neighbours across rings', { 4: 2, 10: 2 }, { kind: 'territory', artery: 'RCA' }],
    ['mid and apical neighbours', { 11: 2, 16: 2 }, { kind: 'territory', artery: 'LCx' }],
    ['one segment', { 13: 4 }, { kind: 'regional' }],
    ['two apart in one territory', { 1: 2, 14: 2 }, { kind: 'regional' }],
    ['an abnormal one outside', { 1: 2, 2: 2, 4: 2 }, { kind: 'regional' }],
  ])('%s', (_, abnormal, expected) => {
    expect(regionalStatement(scores(abnormal))).toEqual(expected);
  });

  const scored = (segments: readonly number[], score: number) =>
    new Map(segments.map((segment) => [segment, score] as const));
  const MID_AND_APICAL = [7, 8, 9, 10, 11, 12, 13, 14, 15, 16];
  it.each([
    [
      'all sixteen segments',
      scored(
        Array.from({ length: 16 }, (_, i) => i + 1),
        2,
      ),
      'global',
    ],
    ['the ten that two views can show', scored(MID_AND_APICAL, 2), 'global'],
    ['eight of all three territories', scored(MID_AND_APICAL.slice(0, 8), 2), 'global'],
    ['seven', scored(MID_AND_APICAL.slice(0, 7), 2), 'regional'],
    ['eight of two territories', scored([1, 2, 7, 8, 13, 14, 3, 4], 2), 'regional'],
    ['akinesia of all ten', scored(MID_AND_APICAL, 3), 'regional'],
    ['one of ten is akinetic', new Map([...scored(MID_AND_APICAL, 2), [7, 3]]), 'regional'],
    ['one of eleven is normal', new Map([...scored(MID_AND_APICAL, 2), [1, 1]]), 'regional'],
  ] as const)('hypokinesis of the scored segments, %s', (_, all, kind) => {
    expect(regionalStatement(all).kind).toBe(kind);
  });
});

describe('wall thickness and obstruction (echo 14.1)', () => {
  it.each([
    [12, null, 'below-criterion'],
    [12.4, true, 'below-criterion'],
    [13, null, 'criterion-in-relatives'],
    [14, false, 'criterion-in-relatives'],
    [13, true, 'meets-criterion'],
    [15, null, 'meets-criterion'],
    [29, null, 'meets-criterion'],
    [30, null, 'massive'],
  ])('%d mm (family %s): %s', (thickness, family, expected) => {
    expect(wallStatement(thickness, family)).toBe(expected);
  });

  it.each([
    [29, null, 'not-provoked', false],
    [30, null, 'at-rest', false],
    [29, 29, 'none', false],
    [29, 30, 'provocable', false],
    [29, 50, 'provocable', true],
    [50, null, 'at-rest', true],
    [30, 49, 'at-rest', false],
  ])('%d mmHg at rest, %s provoked: %s', (rest, provoked, obstruction, treatment) => {
    expect(obstructionCategory(rest, provoked)).toEqual({
      obstruction,
      treatment: treatment ? 50 : null,
    });
  });
});

describe('obstruction by a provoked gradient alone', () => {
  it.each([
    [30, false],
    [49, false],
    [50, true],
  ])('%d mmHg: treatment considered %s', (provoked, treatment) => {
    const expected = { obstruction: 'rest-not-measured', treatment: treatment ? 50 : null };
    expect(provokedObstruction(provoked)).toEqual(expected);
  });

  it('29 mmHg: none, because the category then depends on the gradient at rest', () => {
    expect(provokedObstruction(29)).toBeNull();
  });

  it.each([
    [obstructionCategory(29, null), true],
    [{ obstruction: 'rest-not-measured', treatment: 50 }, true],
    [obstructionCategory(30, null), false],
    [obstructionCategory(29, 29), false],
  ] as const)('%j is a convention of the project: %s', (category, expected) => {
    expect(isConvention(category)).toBe(expected);
  });
});

describe('asymmetric septal hypertrophy (echo 14.1)', () => {
  it.each([
    [12.9, 10, null],
    [13, 10, 'without-hypertension'],
    [14.9, 10, 'without-hypertension'],
    [15, 10, 'certain'],
  ])('septum %d mm, posterior wall %d mm', (septum, posterior, expected) => {
    expect(asymmetryOf(septum, posterior)).toEqual(expected);
  });
});

const NO_INDEX = 'volume-index-missing';
const NO_DIAMETER = 'diameter-missing';

describe('dilated pattern (echo 14.3)', () => {
  it.each([
    ['male', 50, 7, 120, 'none'],
    ['male', 49, 5.9, null, 'dilated'],
    ['male', 49, 5.8, 74, 'non-dilated'],
    ['male', 49, 5.8, null, NO_INDEX],
    ['male', 49, null, 75, 'dilated'],
    ['male', 49, null, 74, NO_DIAMETER],
    ['female', 49, 5.3, null, 'dilated'],
    ['female', 49, 5.2, 61, 'non-dilated'],
    ['female', 49, 5.2, 62, 'dilated'],
    ['male', 49, null, null, 'size-unknown'],
    // If the sex is unknown, only conclusions that hold for both limits are stated: above 5.8 cm,
    // and up to 5.2 cm.
    [null, 50, 7, 120, 'none'],
    [null, 49, 5.9, null, 'dilated'],
    [null, 49, 5.8, 61, 'sex-unknown'],
    [null, 49, 5.2, 61, 'non-dilated'],
    [null, 49, 5.2, null, NO_INDEX],
    [null, 49, null, null, 'size-unknown'],
  ] as const)('%s, EF %d, %s cm, %s ml/m2: %s', (sex, ef, diameter, index, expected) => {
    expect(dilatedPattern(sex, ef, diameter, index)).toBe(expected);
  });
});

describe('focused cardiac ultrasound (echo 15)', () => {
  it.each([
    [71, 'hyperdynamic', 'normal'],
    [70, 'normal', 'normal'],
    [50, 'normal', 'normal'],
    [49, 'mildly-reduced', 'reduced'],
    [40, 'mildly-reduced', 'reduced'],
    [39, 'moderately-reduced', 'reduced'],
    [30, 'moderately-reduced', 'reduced'],
    [29, 'severely-reduced', 'severely-reduced'],
  ])('EF %d: %s, %s', (ef, band, level) => {
    expect([focusedBand(ef), focusedLevel(ef)]).toEqual([band, level]);
  });
  it.each([
    [52.4, 50],
    [52.5, 55],
    // The nearest step in the same band: 50 % would be normal, 40 % mildly reduced, and so on.
    [48, 45],
    [49, 45],
    [49.5, 50],
    [39, 35],
    [29, 25],
    [70, 70],
    [71, 75],
  ])('gives %d as %i, in the band of the value', (ef, expected) => {
    expect(focusedEf(ef)).toBe(expected);
    expect(focusedBand(focusedEf(ef))).toBe(focusedBand(ef));
  });
  it.each([
    [0.6, 'normal'],
    [0.61, 'enlarged'],
    [1, 'enlarged'],
    [1.01, 'severely-enlarged'],
  ])('RV/LV %d: %s', (ratio, expected) => expect(focusedRightVentricle(ratio)).toBe(expected));
});
