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

// echo 6. The 2005 table prints 5.2 cm for men both as moderate and as severe; it is severe.
it.each([
  ['male', [4, 4.1, 4.6, 4.7, 5.1, 5.2]],
  ['female', [3.8, 3.9, 4.2, 4.3, 4.6, 4.7]],
] as const)('the grades of the LA diameter, %s, change between %j', (sex, values) => {
  expect(values.map((value) => gradeOf(LEFT_ATRIUM.diameter, sex, value))).toEqual([
    'normal',
    ...['mildly abnormal', 'mildly abnormal', 'moderately abnormal', 'moderately abnormal'],
    'severely abnormal',
  ]);
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
  const { normal, mild, moderate } = quantity[sex];
  const [low, high] = normal;
  const step = 10 ** -quantity.decimals;
  const towardsLow = mild < low;
  const beyond = towardsLow ? -step : step;
  const grade = (value: number) => gradeOf(quantity, sex, rounded(value, quantity.decimals));

  it('are normal at both ends of the range', () => {
    expect([grade(low), grade(high)]).toEqual(['normal', 'normal']);
  });
  it('have no grades on the other side of the range', () => {
    expect(grade(towardsLow ? high + step : low - step)).toBe(
      towardsLow ? 'above normal range' : 'below normal range',
    );
  });
  it('are mild from the next value to the end of the band', () => {
    expect(grade((towardsLow ? low : high) + beyond)).toBe('mildly abnormal');
    expect(grade(mild)).toBe('mildly abnormal');
  });
  it('are moderate from there to the end of that band', () => {
    expect(grade(mild + beyond)).toBe('moderately abnormal');
    expect(grade(moderate)).toBe('moderately abnormal');
  });
  it('are severe beyond', () => {
    expect(grade(moderate + beyond)).toBe('severely abnormal');
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
    [3.7, 'below normal range'],
    [3.8, null],
    [4.2, 'normal'],
    [5.2, 'normal'],
    [5.3, null],
    [5.8, null],
    [5.9, 'abnormal'],
    [6.8, 'abnormal'],
    [6.9, 'severely abnormal'],
  ])('of an LVIDd of %d cm is %s', (value, expected) => {
    expect(gradeFor(LEFT_VENTRICLE.diastolicDiameter, SEXES, value)).toBe(expected);
  });
  it.each([
    [29, 'severely abnormal'],
    [30, 'moderately abnormal'],
    [41, 'mildly abnormal'],
    [51, 'mildly abnormal'],
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
    ['male', 115, 0.42, 'normal geometry'],
    ['male', 115, 0.43, 'concentric remodelling'],
    ['male', 116, 0.43, 'concentric hypertrophy'],
    ['male', 116, 0.42, 'eccentric hypertrophy'],
    ['female', 95, 0.42, 'normal geometry'],
    ['female', 95, 0.43, 'concentric remodelling'],
    ['female', 96, 0.43, 'concentric hypertrophy'],
    ['female', 96, 0.42, 'eccentric hypertrophy'],
    ['male', 115.4, 0.424, 'normal geometry'],
    ['male', 115.5, 0.425, 'concentric hypertrophy'],
  ] as const)('%s, %d g/m2, RWT %d: %s', (sex, mass, thickness, expected) => {
    expect(geometryOf(sex, mass, thickness)).toBe(expected);
  });
});

describe('the EF range of heart failure (echo 4.5)', () => {
  it.each([
    [40, null, 'HFrEF range'],
    [41, null, 'HFmrEF range'],
    [49, null, 'HFmrEF range'],
    [49.5, null, 'HFpEF range'],
    [50, null, 'HFpEF range'],
    [50, 40, 'HFimpEF range'],
    [50, 41, 'HFpEF range'],
    [49, 40, 'HFmrEF range'],
    [41, 31, 'HFimpEF range'],
    [40, 20, 'HFrEF range'],
  ])('%d %% after %s: %s', (ef, prior, expected) => {
    expect(heartFailureRange(ef, prior)).toBe(expected);
  });
});
