import { describe, expect, it } from 'vitest';
import {
  algorithm2016A,
  algorithm2016B,
} from '../../../../pipelines/echo/diastolic/guideline-2016.ts';
import {
  algorithm2025,
  discordant,
  fibrillationPressure,
  primaryVariables,
} from '../../../../pipelines/echo/diastolic/guideline-2025.ts';

const NONE_2016 = {
  averageRatio: null,
  septalRatio: null,
  lateralRatio: null,
  septal: null,
  lateral: null,
  jet: null,
  atrialIndex: null,
};

describe('algorithm A of 2016 (echo 10.3)', () => {
  const NEGATIVE = { averageRatio: 14, septal: 7, lateral: 10, jet: 2.8, atrialIndex: 34 };
  it.each([
    ['every value on its strict limit', NEGATIVE, 'normal-function'],
    ["E/e' above 14", { ...NEGATIVE, averageRatio: 14.1 }, 'normal-function'],
    ['two of four', { ...NEGATIVE, averageRatio: 14.1, jet: 2.9 }, 'indeterminate'],
    [
      'two of four, the velocity of one wall',
      { ...NEGATIVE, septal: 6.9, jet: 2.9 },
      'indeterminate',
    ],
    ['three of four', { ...NEGATIVE, lateral: 9.9, jet: 2.9, atrialIndex: 35 }, 'dysfunction'],
    ['2.84 m/s, which is 2.8', { averageRatio: 10, jet: 2.84 }, 'normal-function'],
    ['one of two', { averageRatio: 10, jet: 2.85 }, 'indeterminate'],
    ['two of two', { averageRatio: 15, jet: 2.9 }, 'dysfunction'],
    ['two of three', { averageRatio: 15, jet: 2.9, atrialIndex: 30 }, 'dysfunction'],
    [
      'the septal ratio alone, 15.1, and a wide atrium',
      { septalRatio: 15.1, atrialIndex: 35 },
      'dysfunction',
    ],
    ['the septal ratio on its limit', { septalRatio: 15, atrialIndex: 35 }, 'indeterminate'],
    ['the lateral ratio above 13', { lateralRatio: 13.1, atrialIndex: 35 }, 'dysfunction'],
    ['one criterion', { averageRatio: 20 }, 'insufficient-data'],
    ['none', {}, 'insufficient-data'],
  ])('%s', (_, given, expected) => {
    expect(algorithm2016A({ ...NONE_2016, ...given })).toBe(expected);
  });
});

describe('algorithm B of 2016 (echo 10.4)', () => {
  const b = (given: object) =>
    algorithm2016B({
      ...NONE_2016,
      ratio: null,
      early: null,
      veinRatio: null,
      reducedEf: false,
      ...given,
    });
  const between = { ratio: 1.2, early: 90 };
  it.each([
    ['1: E/A of 2', { ratio: 2, early: 90 }, 'grade-iii'],
    ['1: E/A of 1.995, which is 2.00', { ratio: 1.995, early: 90 }, 'grade-iii'],
    ['2: E/A 0.8 and E 50', { ratio: 0.8, early: 50 }, 'grade-i'],
    ['3a', { ratio: 0.8, early: 51, averageRatio: 15, jet: 2.9, atrialIndex: 30 }, 'grade-ii'],
    ['3b', { ...between, averageRatio: 14, jet: 2.8, atrialIndex: 40 }, 'grade-i'],
    ['3c', { ...between, averageRatio: 15, jet: 2.9 }, 'grade-ii'],
    ['3d', { ...between, averageRatio: 10, jet: 2.5 }, 'grade-i'],
    ['3e', { ...between, averageRatio: 15, atrialIndex: 30 }, 'indeterminate'],
    [
      '3e with a blunted vein and a reduced EF',
      { ...between, averageRatio: 15, atrialIndex: 30, veinRatio: 0.9, reducedEf: true },
      'grade-ii',
    ],
    [
      '3e with a blunted vein, EF preserved',
      { ...between, averageRatio: 15, atrialIndex: 30, veinRatio: 0.9 },
      'indeterminate',
    ],
    [
      '3e with S/D of 1',
      { ...between, averageRatio: 15, atrialIndex: 30, veinRatio: 1, reducedEf: true },
      'indeterminate',
    ],
    ['3f', { ...between, averageRatio: 15 }, 'indeterminate'],
    ['no E/A', { early: 90 }, 'insufficient-data'],
    ['1: E/A of 2 without E', { ratio: 2 }, 'grade-iii'],
    ['2: E/A of 0.8 without E', { ratio: 0.8 }, 'insufficient-data'],
    ['3c without E', { ratio: 0.81, averageRatio: 15, jet: 2.9 }, 'grade-ii'],
  ])('step %s', (_, given, expected) => expect(b(given)).toBe(expected));
});

const NONE_2025 = {
  septal: null,
  lateral: null,
  early: null,
  ratio: null,
  jet: null,
  systolicPressure: null,
  atrialIndex: null,
  veinRatio: null,
  reservoirStrain: null,
  relaxationTime: null,
};

describe('the primary variables of 2025, whose limits are inclusive (echo 10.5)', () => {
  it.each([
    ['septal 6.0', { septal: 6 }, true],
    ['septal 6.1', { septal: 6.1 }, false],
    ['lateral 7.0', { lateral: 7 }, true],
    ['lateral 7.1', { lateral: 7.1 }, false],
    ['an average of 7.0', { septal: 6.1, lateral: 7.9 }, false],
    ['none', {}, null],
  ])("e' reduced with %s", (_, given, expected) => {
    expect(primaryVariables({ ...NONE_2025, ...given }).reducedVelocity).toBe(expected);
  });
  it.each([
    ['an average of 14', { early: 98, septal: 6.5, lateral: 7.5 }, true],
    ['septal 15 alone', { early: 90, septal: 6 }, true],
    ['septal 14.9 alone', { early: 89.4, septal: 6 }, false],
    ['lateral 13 alone', { early: 91, lateral: 7 }, true],
    ['no E', { septal: 6 }, null],
  ])("E/e' raised with %s", (_, given, expected) => {
    expect(primaryVariables({ ...NONE_2025, ...given }).raisedRatio).toBe(expected);
  });
  it.each([
    [{ jet: 2.8 }, true],
    [{ jet: 2.74 }, false],
    [{ systolicPressure: 35 }, true],
    [{ systolicPressure: 34 }, false],
    [{}, null],
  ])('pressure raised with %o', (given, expected) => {
    expect(primaryVariables({ ...NONE_2025, ...given }).raisedPressure).toBe(expected);
  });
  it.each([
    ['average 14', { averageRatio: 14 }, true],
    ['average 13.9', { averageRatio: 13.9 }, false],
    ['septal 15', { septalRatio: 15 }, true],
    ['septal 14.9', { septalRatio: 14.9 }, false],
    ['lateral 13', { lateralRatio: 13 }, true],
    ['lateral 12.9', { lateralRatio: 12.9 }, false],
  ])("E/e' of the machine alone: %s", (_, given, expected) => {
    expect(primaryVariables({ ...NONE_2025, ...given }).raisedRatio).toBe(expected);
  });
});

describe('the branches of 2025', () => {
  const relaxed = { septal: 6, lateral: 9, early: 60, jet: 2.5 };
  it.each([
    ['a', { septal: 8, lateral: 11, early: 70, jet: 2.4 }, 'normal-lap-ungraded'],
    ['b, E/A 1.99', { septal: 5, lateral: 6, early: 90, jet: 2.8, ratio: 1.99 }, 'grade-2'],
    ['b, E/A 2', { septal: 5, lateral: 6, early: 90, jet: 2.8, ratio: 2 }, 'grade-3'],
    ['b without E/A', { septal: 5, lateral: 6, early: 90, jet: 2.8 }, 'elevated-lap-ungraded'],
    ['c, E/A 0.8', { ...relaxed, ratio: 0.8 }, 'grade-1'],
    ['d, E/A 0.81, nothing else', { ...relaxed, ratio: 0.81 }, 'indeterminate'],
    ['d, LAVi 34', { ...relaxed, ratio: 0.9, atrialIndex: 34 }, 'normal-lap-grade-1'],
    ['d, LAVi 35', { ...relaxed, ratio: 0.9, atrialIndex: 35 }, 'grade-2'],
    ['d, LARS 18', { ...relaxed, ratio: 0.9, reservoirStrain: 18 }, 'grade-2'],
    ['d, LARS 19', { ...relaxed, ratio: 0.9, reservoirStrain: 19 }, 'normal-lap-grade-1'],
    ['d, S/D 0.67', { ...relaxed, ratio: 0.9, veinRatio: 0.67 }, 'grade-2'],
    ['d, S/D 0.68', { ...relaxed, ratio: 0.9, veinRatio: 0.68 }, 'normal-lap-grade-1'],
    ['d, IVRT 70', { ...relaxed, ratio: 0.9, relaxationTime: 70 }, 'grade-2'],
    ['d, IVRT 71', { ...relaxed, ratio: 0.9, relaxationTime: 71 }, 'normal-lap-grade-1'],
    [
      'd, pressure alone, marker negative',
      { septal: 8, lateral: 11, early: 70, jet: 2.8, atrialIndex: 30 },
      'normal-lap-ungraded',
    ],
    ['d, any two', { septal: 5, lateral: 6, early: 90, jet: 2.5, ratio: 1.5 }, 'indeterminate'],
    [
      'two of the variables, both normal',
      { septal: 8, lateral: 11, early: 70 },
      'normal-lap-ungraded',
    ],
    [
      'two of the variables, never branch b',
      { septal: 5, lateral: 6, early: 90, ratio: 2.2 },
      'indeterminate',
    ],
    ['one variable', { jet: 3 }, 'insufficient-data'],
  ])('%s', (_, given, expected) => {
    expect(algorithm2025({ ...NONE_2025, ...given })).toBe(expected);
  });

  it('names a positive marker beside a grade given at once', () => {
    expect(discordant({ ...NONE_2025, ...relaxed, ratio: 0.8, atrialIndex: 40 })).toEqual([
      'lavi-above-34',
    ]);
    expect(discordant({ ...NONE_2025, ...relaxed, ratio: 0.9, atrialIndex: 40 })).toEqual([]);
  });
});

describe('atrial fibrillation (echo 10.6)', () => {
  const NEGATIVE = {
    early: 99,
    septalRatio: 11,
    jet: 2.8,
    systolicPressure: 35,
    deceleration: 161,
    reservoirStrain: null,
    veinRatio: null,
  };
  it.each([
    ['none', NEGATIVE, 'normal-lap'],
    ['one: E of 100', { ...NEGATIVE, early: 100 }, 'normal-lap'],
    ['two', { ...NEGATIVE, early: 100, deceleration: 160 }, 'indeterminate'],
    [
      'two and LARS 17',
      { ...NEGATIVE, early: 100, deceleration: 160, reservoirStrain: 17 },
      'elevated-lap',
    ],
    [
      'two and LARS 18',
      { ...NEGATIVE, early: 100, deceleration: 160, reservoirStrain: 18 },
      'indeterminate',
    ],
    [
      'two and S/D 0.99',
      { ...NEGATIVE, early: 100, deceleration: 160, veinRatio: 0.99 },
      'elevated-lap',
    ],
    ['three', { ...NEGATIVE, early: 100, deceleration: 160, septalRatio: 11.1 }, 'elevated-lap'],
    [
      'pressure for the jet',
      { ...NEGATIVE, early: 100, deceleration: 160, jet: null, systolicPressure: 36 },
      'elevated-lap',
    ],
    [
      'none of two, whatever the vein',
      { ...NEGATIVE, deceleration: null, septalRatio: null, veinRatio: 0.5 },
      'insufficient-data',
    ],
    [
      'none of three, whatever the vein',
      { ...NEGATIVE, deceleration: null, veinRatio: 0.5 },
      'normal-lap',
    ],
    [
      'one of three, which the fourth could make two',
      { ...NEGATIVE, early: 100, deceleration: null, veinRatio: 0.5 },
      'insufficient-data',
    ],
    [
      'two of two, and the vein',
      { ...NEGATIVE, early: 100, jet: 2.9, deceleration: null, septalRatio: null, veinRatio: 0.5 },
      'elevated-lap',
    ],
    [
      'one positive, two unknown',
      { ...NEGATIVE, early: 100, deceleration: null, septalRatio: null },
      'insufficient-data',
    ],
    [
      'three unknown',
      { ...NEGATIVE, deceleration: null, septalRatio: null, early: null },
      'insufficient-data',
    ],
  ])('%s', (_, given, expected) => expect(fibrillationPressure(given)).toBe(expected));
});
