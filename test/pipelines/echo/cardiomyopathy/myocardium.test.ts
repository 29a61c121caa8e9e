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

describe('bands of strain (echo 8.2)', () => {
  it.each([
    [-18.1, 'normal'],
    [-18, 'borderline'],
    [-16, 'borderline'],
    [-15.9, 'abnormal'],
    [-18.04, 'borderline'],
  ])('%d %%: %s', (gls, expected) => expect(strainBand(gls)).toBe(expected));
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
