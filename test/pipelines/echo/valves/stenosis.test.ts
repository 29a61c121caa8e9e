import { describe, expect, it } from 'vitest';
import {
  isForeignArea,
  pulmonaryStenosis,
  stenosisRemarks,
} from '../../../../pipelines/echo/valves/guideline.ts';
import type { AorticStenosisGrade } from '../../../../pipelines/result/render/echo/valves.ts';

const NONE = {
  peak: null,
  meanGradient: null,
  area: null,
  areaIndex: null,
  strokeIndex: null,
  ef: null,
  velocityIndex: null,
};
const read = (grade: AorticStenosisGrade, given: Partial<Record<keyof typeof NONE, number>> = {}) =>
  stenosisRemarks(grade, { ...NONE, ...given });

describe('a severe gradient with a large area (echo 11.1, row 3)', () => {
  const SEVERE = 'severe';
  it.each([
    [{ area: 1.01 }, 'unknown'],
    [{ area: 1.01, strokeIndex: 58 }, 'no'],
    [{ area: 1.01, strokeIndex: 59 }, 'yes'],
  ])('%o: high flow must be checked, it is present: %s', (given, expected) => {
    expect(read(SEVERE, given).highFlow).toBe(expected);
  });
  it.each([{ area: 1 }, { area: 1.004 }, {}])('%o: no check', (given) => {
    expect(read(SEVERE, given).highFlow).toBeNull();
  });
  it('is not checked for a moderate gradient', () => {
    expect(read('moderate', { area: 1.2 }).highFlow).toBeNull();
  });
});

describe('a small area with an ample DVI (echo 19.4)', () => {
  it.each([
    [1, 0.31, true],
    [1, 0.3, false],
    [1.01, 0.31, false],
  ])('AVA %d, DVI %d: the LVOT diameter is questioned: %s', (area, velocityIndex, doubted) => {
    const grade = 'normal-flow-low-gradient';
    expect(read(grade, { area, velocityIndex }).remarks.includes('small-outflow')).toBe(doubted);
  });
});

describe('advice by row (echo 11.1)', () => {
  it.each([
    ['classical-low-flow', 'dobutamine'],
    ['paradoxical-low-flow', 'calcium-score'],
    ['normal-flow-low-gradient', 'check-outflow'],
    ['low-flow-ef-unknown', 'exclude-underestimation'],
  ] as const)('%s: %s', (grade, expected) => {
    expect(read(grade).remarks).toContain(expected);
    expect(read(grade).remarks).toContain('exclude-underestimation');
  });
  it.each(['severe', 'moderate', 'discordant-flow-unknown'] as const)('%s: none', (grade) =>
    expect(read(grade).remarks).toEqual([]),
  );
});

describe('an area near a cut-off (echo 19, rule 2)', () => {
  it.each([
    [0.89, false],
    [0.9, true],
    [1.1, true],
    [1.11, false],
    [1.39, false],
    [1.4, true],
    [1.6, true],
    [1.61, false],
  ])('%d cm2: %s', (area, near) => {
    expect(read('moderate', { area }).remarks.includes('near-limit')).toBe(near);
  });
});

describe('an area and the DVI beside it', () => {
  it.each([
    // 1 % of a DVI of 0.80 is 0.008, but 1 % of 0.25 is less than the last printed digit.
    [0.8 * 3, 3, 0.8, false],
    [0.792 * 3, 3, 0.8, false],
    [0.791 * 3, 3, 0.8, true],
    [0.254 * 3, 3, 0.25, false],
    [0.256 * 3, 3, 0.25, true],
  ])('AVA %d over an LVOT of %d cm2, DVI %d: foreign %s', (area, outflow, index, foreign) => {
    expect(isForeignArea(area, outflow, index)).toBe(foreign);
  });
});

describe('pulmonary stenosis by peak velocity (echo 11.7)', () => {
  it.each([
    [2.94, null],
    [2.95, 'moderate'],
    [4.04, 'moderate'],
    [4.05, 'severe'],
  ])('%d m/s: %s', (peak, expected) => expect(pulmonaryStenosis(peak)).toBe(expected));
});
