import { describe, expect, it } from 'vitest';
import {
  integratedGrade,
  isSevereRegurgitation,
  mitralStenosis2009,
  mitralStenosis2020,
  quantitativeGrade,
  severeAorticSigns,
  stenosisGrade,
  tricuspidGrade,
  tricuspidIntegrated,
} from '../../../../pipelines/echo/valves/guideline.ts';

const NONE = {
  peak: null,
  meanGradient: null,
  area: null,
  areaIndex: null,
  strokeIndex: null,
  ef: null,
};
const LOW_GRADIENT = { peak: 3.2, meanGradient: 28 };

describe('the rows of aortic stenosis, first match (echo 11.1)', () => {
  it.each([
    ['1', { area: 0.7 }, 'insufficient-data'],
    ['2, peak 5.0', { peak: 5, meanGradient: 50 }, 'very-severe'],
    ['2, gradient 60', { peak: 4.9, meanGradient: 60 }, 'very-severe'],
    ['3, peak 4.9 and 59', { peak: 4.9, meanGradient: 59 }, 'severe'],
    ['3, peak 4.0', { peak: 4, meanGradient: 30 }, 'severe'],
    ['3, peak 3.95, which is 4.0', { peak: 3.95 }, 'severe'],
    ['3, gradient 40', { peak: 3.9, meanGradient: 40 }, 'severe'],
    ['4, index 0.61', { ...LOW_GRADIENT, area: 1, areaIndex: 0.61 }, 'discordant-small-body'],
    ['5, index 0.60', { ...LOW_GRADIENT, area: 1, areaIndex: 0.6 }, 'discordant-flow-unknown'],
    ['6, EF 49', { ...LOW_GRADIENT, area: 1, strokeIndex: 35, ef: 49 }, 'classical-low-flow'],
    ['7, EF 50', { ...LOW_GRADIENT, area: 1, strokeIndex: 35, ef: 50 }, 'paradoxical-low-flow'],
    ['8', { ...LOW_GRADIENT, area: 1, strokeIndex: 35 }, 'low-flow-ef-unknown'],
    [
      '9, SVi 36',
      { ...LOW_GRADIENT, area: 1, strokeIndex: 36, ef: 60 },
      'normal-flow-low-gradient',
    ],
    ['9a', { meanGradient: 19 }, 'low-gradient-peak-unknown'],
    ['10, area 1.01', { peak: 3, meanGradient: 15, area: 1.01 }, 'moderate'],
    ['10, peak 3.0', { peak: 3 }, 'moderate'],
    ['10, gradient 20', { meanGradient: 20 }, 'moderate'],
    ['10, peak 2.6 and area 1.50', { peak: 2.6, area: 1.5 }, 'moderate'],
    ['11, peak 2.6 and area 1.51', { peak: 2.6, area: 1.51 }, 'mild'],
    ['11, peak 2.9', { peak: 2.9 }, 'mild'],
    ['12, peak 2.5', { peak: 2.5 }, 'none'],
  ])('row %s', (_, given, expected) => {
    expect(stenosisGrade({ ...NONE, ...given })).toBe(expected);
  });
});

describe('quantities of regurgitation (echo 11.2, 11.3)', () => {
  const one = (
    valve: 'aortic' | 'mitral',
    quantity: 'orifice' | 'volume' | 'fraction',
    value: number,
  ) => quantitativeGrade(valve, { orifice: null, volume: null, fraction: null, [quantity]: value });
  const grades = ['mild', 'moderate', 'moderate-to-severe', 'severe'];
  it.each([
    ['aortic', 'orifice', [9, 10, 20, 30]],
    ['aortic', 'orifice', [9, 19, 29, 31]],
    ['aortic', 'volume', [29, 30, 45, 60]],
    ['aortic', 'volume', [29, 44, 59, 60]],
    ['aortic', 'fraction', [29, 30, 40, 50]],
    ['aortic', 'fraction', [29, 39, 49, 50]],
    ['mitral', 'orifice', [19, 20, 30, 40]],
    ['mitral', 'orifice', [19, 29, 39, 40]],
    ['mitral', 'volume', [29, 30, 45, 60]],
    ['mitral', 'fraction', [29, 30, 40, 50]],
  ] as const)('%s %s at %o are grades I to IV', (valve, quantity, values) => {
    expect(values.map((value) => one(valve, quantity, value))).toEqual(grades);
  });

  it('lead to the highest grade, and to none without a value', () => {
    expect(quantitativeGrade('mitral', { orifice: 25, volume: 46, fraction: null })).toBe(
      grades[2],
    );
    expect(quantitativeGrade('mitral', { orifice: null, volume: null, fraction: null })).toBeNull();
  });
});

describe('integration of signs and quantities (echo 11.2)', () => {
  const nothing = { orifice: null, volume: null, fraction: null };
  it.each([
    ['three severe signs without quantities', 3, nothing, 'indeterminate'],
    ['quantities', 0, { ...nothing, orifice: 15 }, 'moderate'],
    ['quantities two grades apart', 0, { ...nothing, orifice: 9, volume: 45 }, 'inconsistent'],
    ['grade III and three severe signs', 3, { ...nothing, orifice: 25 }, 'severe'],
    ['grade III and two severe signs', 2, { ...nothing, orifice: 25 }, 'moderate-to-severe'],
  ])('%s', (_, signs, quantities, expected) => {
    expect(integratedGrade('aortic', signs, quantities)).toBe(expected);
  });

  it.each([
    [{ venaContracta: 0.29, jetWidth: 24, halfTime: 501 }, 0],
    [{ venaContracta: 0.3, jetWidth: 25, halfTime: 500 }, 0],
    [{ venaContracta: 0.6, jetWidth: 64, halfTime: 200 }, 0],
    [{ venaContracta: 0.61, jetWidth: 65, halfTime: 199 }, 3],
    [{ venaContracta: null, jetWidth: null, halfTime: null }, 0],
  ])('%o has %o severe signs', (given, expected) =>
    expect(severeAorticSigns(given)).toEqual(expected),
  );
});

describe('tricuspid regurgitation, five grades (echo 11.6)', () => {
  it.each([
    ['venaContracta', [2.9, 3, 7, 14, 21]],
    ['venaContracta', [2.9, 6.9, 13.9, 20.9, 25]],
    ['orifice', [19, 20, 40, 60, 80]],
    ['orifice', [19, 39, 59, 79, 90]],
  ] as const)('%s at %o', (quantity, values) => {
    expect(values.map((value) => tricuspidGrade(quantity, value))).toEqual([
      'mild',
      'moderate',
      'severe',
      'massive',
      'torrential',
    ]);
  });

  it.each([
    [7, 45, 'severe'],
    [7, 30, ['moderate', 'severe']],
    [14, 30, 'indeterminate'],
    [null, 30, 'moderate'],
    [null, null, null],
  ])('a vena contracta of %s mm and %s mm2: %s', (contracta, orifice, expected) => {
    expect(tricuspidIntegrated(contracta, orifice)).toEqual(expected);
  });
});

describe('regurgitation that is a finding', () => {
  it.each([
    ['moderate', false],
    ['moderate-to-severe', true],
    ['severe', true],
    ['inconsistent', false],
    [['mild', 'moderate'], false],
    [['moderate', 'severe'], true],
    [['massive', 'torrential'], true],
  ] as const)('%j: severe %s', (grade, expected) => {
    expect(isSevereRegurgitation(grade)).toBe(expected);
  });
});

describe('mitral stenosis (echo 11.5)', () => {
  it.each([
    [1, 'very-severe'],
    [1.01, 'severe'],
    [1.5, 'severe'],
    [1.51, 'progressive'],
  ])('%d cm2 by ACC/AHA 2020: %s', (area, expected) => {
    expect(mitralStenosis2020(area)).toBe(expected);
  });
  it.each([
    [0.99, 'severe'],
    [1, 'moderate'],
    [1.5, 'moderate'],
    [1.51, 'mild'],
  ])('%d cm2 by EAE/ASE 2009: %s', (area, expected) => {
    expect(mitralStenosis2009(area)).toBe(expected);
  });
});
