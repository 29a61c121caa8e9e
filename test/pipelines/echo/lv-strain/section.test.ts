import { describe, expect, it } from 'vitest';
import { CONCEPTS, type ConceptKey } from '../../../../pipelines/concepts/concepts.ts';
import { measuredStudy } from '../measured-study.ts';

type Three = readonly [number, number, number];

const views = ([four, two, three]: Three, timing: 'end-systolic' | 'peak-systolic' | 'peak') =>
  ({
    [`gls-${timing}-4c`]: four,
    [`gls-${timing}-2c`]: two,
    [`gls-${timing}-3c`]: three,
  }) as Partial<Record<ConceptKey, number>>;

const contour = (...given: Three) => views(given, 'end-systolic');
const summaryOf = (study: ReturnType<typeof measuredStudy>) => study.section('lv-strain')?.summary;

describe("the GLS that counts (echo 8.1; the machine's value precedes that of the images)", () => {
  it("is the machine's peak systolic one, whatever the outlines show", () => {
    const study = measuredStudy({
      machine: { 'gls-peak-systolic': -21, 'lvef-biplane': 62 },
      outlines: contour(-15, -15.2, -14.8),
    });
    expect(study.category('gls-band')).toBe('normal');
    expect(study.findings('lv-strain')).toEqual([]);
    expect(study.value('gls-end-systolic')).toBeUndefined();
    expect(study.value('gls-peak-systolic')).toMatchObject({ value: -21 });
    expect(study.value('gls-peak-systolic')?.note).toContain(
      'contour strain from the outlines: -15.0 %',
    );
    expect(summaryOf(study)).toContain('GLS: normal; endocardial, peak systolic, from the machine');
  });
  it("is the machine's end-systolic one rather than its peak systolic one", () => {
    const study = measuredStudy({ machine: { 'gls-end-systolic': -17, 'gls-peak-systolic': -19 } });
    expect(study.category('gls-band')).toBe('borderline');
    expect(study.value('gls-peak-systolic')?.value).toBe(-19);
  });
  it("is the mean of the machine's three views rather than that of three outlined views", () => {
    const study = measuredStudy({
      machine: views([-20, -21, -19], 'peak-systolic'),
      outlines: contour(-15, -15.2, -14.8),
    });
    expect(study.value('gls-peak-systolic')).toMatchObject({
      value: -20,
      source: { provenance: 'cart-sr' },
    });
    expect(study.category('gls-band')).toBe('normal');
    expect(summaryOf(study)).toContain('mean of three views from the machine');
  });
  it("is the machine's overall value rather than the mean of its views", () => {
    const study = measuredStudy({
      machine: { 'gls-peak-systolic': -19, ...views([-15, -15, -15], 'end-systolic') },
    });
    expect(study.category('gls-band')).toBe('normal');
  });
  it('is the mean of three outlines if the machine reports none, and is called contour strain', () => {
    const study = measuredStudy({ outlines: contour(-18.5, -20.1, -19) });
    expect(study.value('gls-end-systolic')?.value).toBeCloseTo(-19.2, 5);
    expect(summaryOf(study)).toContain('mean contour strain of three views');
    expect(summaryOf(study)).toContain('not speckle-tracking strain');
  });
});

describe('a mean of views', () => {
  it('never mixes speckle tracking of one view with outlines of the others', () => {
    const study = measuredStudy({
      machine: { 'gls-end-systolic-4c': -20 },
      outlines: { 'gls-end-systolic-2c': -13, 'gls-end-systolic-3c': -12 },
    });
    expect(study.value('gls-end-systolic')).toBeUndefined();
    expect(study.category('gls-band')).toBeUndefined();
    expect(study.findings('lv-strain')).toEqual([]);
    expect(summaryOf(study)).toContain('three views measured by one method are needed');
    expect(summaryOf(study)).toContain('The machine reports A4C. The outlines give A2C, A3C.');
  });
  it('never mixes end-systolic with peak systolic views', () => {
    const study = measuredStudy({
      machine: {
        'gls-end-systolic-4c': -20,
        'gls-peak-systolic-2c': -20,
        'gls-peak-systolic-3c': -20,
      },
    });
    expect(study.category('gls-band')).toBeUndefined();
  });
  it('refers to the views from which it was calculated, next to one of the machine', () => {
    const study = measuredStudy({
      machine: { 'gls-end-systolic-4c': -20 },
      outlines: contour(-15, -15, -15),
    });
    const ids = study.result.measurements.map(({ id }) => id);
    for (const id of study.value('gls-end-systolic')?.inputs ?? []) expect(ids).toContain(id);
    expect(ids).toContain('cart-gls-end-systolic-4c');
    expect(summaryOf(study)).toContain('differ by more than 1.5 points');
    expect(summaryOf(study)).not.toContain('the machine value is used');
  });
  it.each([
    [-30, -5, true],
    [-30.1, -5, false],
    [-30, -4.9, false],
  ])(
    'is calculated from views of %d and %d %%: %s (plausible are -30 to -5 %%)',
    (four, two, made) => {
      const study = measuredStudy({ outlines: contour(four, two, -24) });
      expect(study.value('gls-end-systolic') !== undefined).toBe(made);
    },
  );
  it('is not calculated from -3, -33 and -24 %, whose mean would be normal', () => {
    const study = measuredStudy({ outlines: contour(-3, -33, -24) });
    expect(study.category('gls-band')).toBeUndefined();
    expect(summaryOf(study)).toContain('withheld');
  });
});

describe('the codes of CID 12309', () => {
  it.each([
    ['gls-end-systolic', 130686],
    ['gls-peak-systolic', 130690],
    ['gls-peak', 130694],
  ] as const)('%s is %i, its A4C, A2C and A3C follow', (key, first) => {
    const keys = [key, `${key}-4c`, `${key}-2c`, `${key}-3c`] as const;
    const codes = keys.map((one) => CONCEPTS[one].codings.map(({ code }) => code));
    expect(codes).toEqual([0, 1, 2, 3].map((next) => [String(first + next)]));
  });
});

describe('peak strain at any time', () => {
  it('is shown and not graded', () => {
    const study = measuredStudy({ machine: { 'gls-peak': -21, 'gls-peak-4c': -20 } });
    expect(study.value('gls-peak')?.value).toBe(-21);
    expect(study.category('gls-band')).toBeUndefined();
    expect(summaryOf(study)).toContain('Peak strain at any time is not graded');
  });
});

describe('outlines compared with the machine', () => {
  const said = (mean: number) =>
    summaryOf(
      measuredStudy({ machine: { 'gls-end-systolic': -19 }, outlines: contour(mean, mean, mean) }),
    );
  it.each([
    [-17.5, false],
    [-17.4, true],
    [-20.5, false],
    [-20.6, true],
    // 19.0 and 20.46 are displayed as 19.0 and 20.5, and are compared as displayed.
    [-20.46, false],
  ])('-19.0 %% with a contour strain of %d %%: disagreement reported %s', (mean, expected) => {
    expect(said(mean)?.includes('the machine value is used')).toBe(expected);
  });
});

describe('statements about a GLS (echo 19)', () => {
  it.each([
    [-19.6, false],
    [-19.5, true],
    [-14.5, true],
    [-14.4, false],
  ])('%d %% is within variability of a limit: %s', (gls, expected) => {
    const study = measuredStudy({ machine: { 'gls-end-systolic': gls } });
    expect(summaryOf(study)?.includes('within measurement variability')).toBe(expected);
  });
  it.each([
    [62, -12, 'male', true],
    [52, -15.9, 'male', true],
    [51, -15.9, 'male', false],
    [52, -16, 'male', false],
    [53, -12, 'female', false],
    [54, -12, 'female', true],
    [53, -12, null, false],
    [54, -12, null, true],
  ] as const)('LVEF %d %% with GLS %d %% (%s): discordant %s', (ef, gls, sex, expected) => {
    const study = measuredStudy({
      machine: { 'lvef-biplane': ef, 'gls-end-systolic': gls },
      patient: { sex },
    });
    expect(study.findings('lv-strain').includes('gls-lvef-discordant: info')).toBe(expected);
    expect(summaryOf(study)?.includes('the two are discordant')).toBe(expected);
  });
  it('do not call an LVEF above the normal range normal', () => {
    const study = measuredStudy({ machine: { 'lvef-biplane': 80, 'gls-end-systolic': -14 } });
    expect(study.category('lvef-grade')).toBe('above normal range');
    expect(summaryOf(study)).toContain(
      'LVEF (biplane) 80 % is not reduced, but GLS -14.0 % is: the two are discordant.',
    );
  });
  it('are not made under 18 years', () => {
    const study = measuredStudy({
      machine: { 'lvef-biplane': 62, 'gls-end-systolic': -12 },
      patient: { age: 17 },
    });
    expect(study.findings('lv-strain')).toEqual([]);
    expect(summaryOf(study)).not.toMatch(/discordant|variability/);
  });
});

describe('the limit of a grade of LVEF (echo 19)', () => {
  it.each([
    [57, true],
    [58, false],
    [66, false],
    [67, true],
    [25, true],
    [24, false],
  ])('is within variability of %d %%: %s', (ef, expected) => {
    const study = measuredStudy({ machine: { 'lvef-biplane': ef } });
    expect(study.section('lvef')?.summary.includes('points of a grade limit')).toBe(expected);
  });
  it('is not mentioned without a grade', () => {
    const study = measuredStudy({ machine: { 'lvef-biplane': 52 }, patient: { sex: null } });
    expect(study.section('lvef')?.summary).not.toContain('grade limit');
  });
});
