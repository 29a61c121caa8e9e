import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { LEFT_ATRIUM } from '../../../../pipelines/echo/la-volume/guideline.ts';
import { geometryOf, LEFT_VENTRICLE } from '../../../../pipelines/echo/lv-size/guideline.ts';
import { EJECTION_FRACTION, heartFailureRange } from '../../../../pipelines/echo/lvef/guideline.ts';
import {
  type GradedQuantity,
  gradeFor,
  gradeOf,
  SEXES,
} from '../../../../pipelines/echo/shared/grading.ts';
import { rounded } from '../../../../pipelines/measure/rounding.ts';

describe('rounding before classification (echo 0.3)', () => {
  it.each([
    [51.5, 0, 52],
    [51.49, 0, 51],
    [-17.95, 1, -18],
    [2.85, 1, 2.9],
    [1.005, 2, 1.01],
    [0, 0, 0],
  ])('%d to %i decimals is %d, half away from zero', (value, decimals, expected) => {
    expect(rounded(value, decimals)).toBeCloseTo(expected, 10);
  });
});

const BANDS = [...['normal', 'normal', 'mild', 'mild'], ...['moderate', 'moderate', 'severe']];

/** Quantities by their names in the tables of docs/reference/echo.md (echo 4.4, 5.3). */
const PRINTED: Readonly<Record<string, GradedQuantity>> = {
  'LVEF, %': EJECTION_FRACTION,
  'LVEDVi, ml/m²': LEFT_VENTRICLE.edvIndex,
  'LVESVi, ml/m²': LEFT_VENTRICLE.esvIndex,
  'LVEDV, ml': LEFT_VENTRICLE.edv,
  'LVESV, ml': LEFT_VENTRICLE.esv,
  'LVIDd, cm': LEFT_VENTRICLE.diastolicDiameter,
  'LVIDs, cm': LEFT_VENTRICLE.systolicDiameter,
  'IVSd, LVPWd, cm': LEFT_VENTRICLE.wall,
  'LV mass, g': LEFT_VENTRICLE.mass,
  'LV mass index, g/m²': LEFT_VENTRICLE.massIndex,
  'the same from 2D areas': LEFT_VENTRICLE.massIndex2d,
  'LV mass / height^2.7, g/m^2.7': LEFT_VENTRICLE.massPerHeight,
  RWT: LEFT_VENTRICLE.relativeWallThickness,
  'FS, %': LEFT_VENTRICLE.shortening,
};
const ROW =
  /^\| (.+) \| ([MF]) \| ([\d.]+)-([\d.]+) \| ([\d.]+)-([\d.]+) \| ([\d.]+)-([\d.]+) \| ([<>≤]) ([\d.]+) \|/gm;
const ROWS = [...readFileSync('docs/reference/echo.md', 'utf8').matchAll(ROW)];

describe('the grades printed in the tables of the reference', () => {
  it.each(ROWS.map((row) => [...row]))('%s', (_, name = '', sex = '', ...numbers) => {
    const quantity = PRINTED[name];
    if (!quantity) throw new Error(`no quantity ${name}`);
    const step = { '<': -1, '>': 1, '≤': 0 }[numbers[6] ?? ''] ?? Number.NaN;
    const ends = [...numbers.slice(0, 6), numbers[7]].map(Number);
    const severe = Number(numbers[7]) + step * 10 ** -quantity.decimals;
    const values = [...ends.slice(0, 6), rounded(severe, quantity.decimals)];
    const grades = values.map((value) => gradeOf(quantity, sex === 'M' ? 'male' : 'female', value));
    expect(grades).toEqual(BANDS);
  });

  it('are those of every quantity of the LV, for both sexes', () => {
    expect(ROWS).toHaveLength(2 * Object.keys(PRINTED).length);
    expect(new Set(Object.values(PRINTED))).toEqual(
      new Set([EJECTION_FRACTION, ...Object.values(LEFT_VENTRICLE)]),
    );
  });

  // The 2005 table prints 5.2 cm for men both as moderate and as severe; it is severe.
  it.each([
    ['diameter', 'male', [3, 4, 4.1, 4.6, 4.7, 5.1, 5.2]],
    ['diameter', 'female', [2.7, 3.8, 3.9, 4.2, 4.3, 4.6, 4.7]],
    ['volumeIndex', 'male', [16, 34, 35, 41, 42, 48, 49]],
    ['volumeIndex', 'female', [16, 34, 35, 41, 42, 48, 49]],
  ] as const)('of the LA %s, %s, change between %j (echo 6)', (key, sex, values) => {
    expect(values.map((value) => gradeOf(LEFT_ATRIUM[key], sex, value))).toEqual(BANDS);
  });
});

const QUANTITIES: [string, GradedQuantity][] = [
  ['lvef', EJECTION_FRACTION],
  ...Object.entries(LEFT_VENTRICLE),
  ...Object.entries(LEFT_ATRIUM),
];
const CASES = QUANTITIES.flatMap(([name, quantity]) =>
  SEXES.map((sex) => [name, sex, quantity] as const),
);

describe.each(CASES)('bands of %s, %s', (_, sex, quantity) => {
  const { normal, mild } = quantity[sex];
  const [low, high] = normal;
  const step = 10 ** -quantity.decimals;
  const towardsLow = mild < low;
  const grade = (value: number) => gradeOf(quantity, sex, rounded(value, quantity.decimals));

  it('have no grades on the other side of the range', () => {
    expect(grade(towardsLow ? high + step : low - step)).toBe(
      towardsLow ? 'above-range' : 'below-range',
    );
  });
  it('classify the displayed value, not the measured one', () => {
    expect(gradeOf(quantity, sex, towardsLow ? low - 0.4 * step : high + 0.4 * step)).toBe(
      'normal',
    );
  });
});

describe('a grade without the sex', () => {
  // LVIDd is dilated from 5.9 cm in men and from 5.3 cm in women, severely from 6.9 and 6.2 cm.
  it.each([
    [3.7, 'below-range'],
    [3.8, null],
    [4.2, 'normal'],
    [5.2, 'normal'],
    [5.3, null],
    [5.8, null],
    [5.9, 'abnormal'],
    [6.8, 'abnormal'],
    [6.9, 'severe'],
  ])('of an LVIDd of %d cm is %s', (value, expected) => {
    expect(gradeFor(LEFT_VENTRICLE.diastolicDiameter, SEXES, value)).toBe(expected);
  });
  it.each([
    [29, 'severe'],
    [30, 'moderate'],
    [41, 'mild'],
    [51, 'mild'],
    [52, null],
    [53, null],
    [54, 'normal'],
    [72, 'normal'],
    [73, null],
  ])('of an LVEF of %d %% is %s', (value, expected) => {
    expect(gradeFor(EJECTION_FRACTION, SEXES, value)).toBe(expected);
  });
  it('of a child is not given', () => {
    expect(gradeFor(EJECTION_FRACTION, [], 62)).toBeNull();
  });
});

describe('geometry of the left ventricle (echo 5.4)', () => {
  it.each([
    ['male', 115, 0.42, 'normal'],
    ['male', 115, 0.43, 'concentric-remodelling'],
    ['male', 116, 0.43, 'concentric-hypertrophy'],
    ['male', 116, 0.42, 'eccentric-hypertrophy'],
    ['female', 95, 0.42, 'normal'],
    ['female', 95, 0.43, 'concentric-remodelling'],
    ['female', 96, 0.43, 'concentric-hypertrophy'],
    ['female', 96, 0.42, 'eccentric-hypertrophy'],
    ['male', 115.4, 0.424, 'normal'],
    ['male', 115.5, 0.425, 'concentric-hypertrophy'],
  ] as const)('%s, %d g/m2, RWT %d: %s', (sex, mass, thickness, expected) => {
    expect(geometryOf(sex, mass, thickness)).toBe(expected);
  });
});

describe('the EF range of heart failure (echo 4.5)', () => {
  it.each([
    [40, null, 'reduced'],
    [41, null, 'mildly-reduced'],
    [49, null, 'mildly-reduced'],
    [49.5, null, 'preserved'],
    [50, null, 'preserved'],
    [50, 40, 'improved'],
    [50, 41, 'preserved'],
    [49, 40, 'mildly-reduced'],
    [41, 31, 'improved'],
    [40, 20, 'reduced'],
  ])('%d %% after %s: %s', (ef, prior, expected) => {
    expect(heartFailureRange(ef, prior)).toBe(expected);
  });
});
