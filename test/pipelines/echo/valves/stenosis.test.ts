import { describe, expect, it } from 'vitest';
import type { StenosisGrade } from '../../../../pipelines/echo/valves/guideline.ts';
import {
  isForeignArea,
  pulmonaryStenosis,
  stenosisStatements,
} from '../../../../pipelines/echo/valves/guideline.ts';

const NONE = {
  peak: null,
  meanGradient: null,
  area: null,
  areaIndex: null,
  strokeIndex: null,
  ef: null,
  velocityIndex: null,
};
const said = (grade: StenosisGrade, given: Partial<Record<keyof typeof NONE, number>> = {}) =>
  stenosisStatements(grade, { ...NONE, ...given }).join(' ');

describe('a severe gradient with a large area (echo 11.1, row 3)', () => {
  const SEVERE = 'severe AS (high-gradient)';
  it.each([
    [{ area: 1.01 }, 'SVi above 58'],
    [{ area: 1.01, strokeIndex: 58 }, 'SVi is not above 58'],
    [{ area: 1.01, strokeIndex: 59 }, 'SVi is above 58'],
  ])('%o: high flow is to be checked, %s', (given, expected) => {
    expect(said(SEVERE, given)).toContain('check high flow');
    expect(said(SEVERE, given)).toContain(expected);
  });
  it.each([{ area: 1 }, { area: 1.004 }, {}])('%o: not', (given) => {
    expect(said(SEVERE, given)).not.toContain('high flow');
  });
  it('is no matter of a moderate one', () => {
    expect(said('moderate AS', { area: 1.2 })).not.toContain('high flow');
  });
});

describe('a small area with an ample DVI (echo 19.4)', () => {
  it.each([
    [1, 0.31, true],
    [1, 0.3, false],
    [1.01, 0.31, false],
  ])('AVA %d, DVI %d: the LVOT diameter is doubted: %s', (area, velocityIndex, doubted) => {
    const grade = 'normal-flow low-gradient AS, severe AS unlikely';
    expect(said(grade, { area, velocityIndex }).includes('probably too small')).toBe(doubted);
  });
});

describe('advice by row (echo 11.1)', () => {
  it.each([
    ['classical low-flow low-gradient AS (LVEF <50%)', 'dobutamine'],
    ['paradoxical low-flow low-gradient AS (LVEF >=50%)', 'CT calcium'],
    ['normal-flow low-gradient AS, severe AS unlikely', 'LVOT diameter is to be checked'],
    ['low-flow low-gradient AS, LVEF unknown', 'hypertension'],
  ] as const)('%s: %s', (grade, expected) => {
    expect(said(grade)).toContain(expected);
    expect(said(grade)).toContain('First exclude');
  });
  it.each([
    'severe AS (high-gradient)',
    'moderate AS',
    'discordant low-gradient AS, flow state unknown',
  ] as const)('%s: none', (grade) => expect(said(grade)).toBe(''));
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
    expect(said('moderate AS', { area }).includes('variability')).toBe(near);
  });
});

describe('an area and the DVI beside it', () => {
  it.each([
    // 1 % of a DVI of 0.80 is 0.008; of 0.25 less than the last digit that is printed.
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
    [2.95, 'moderate PS'],
    [4.04, 'moderate PS'],
    [4.05, 'severe PS'],
  ])('%d m/s: %s', (peak, expected) => expect(pulmonaryStenosis(peak)).toBe(expected));
});
