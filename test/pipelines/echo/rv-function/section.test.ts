import { describe, expect, it } from 'vitest';
import type { EchoConcept } from '../../../../pipelines/concepts/echo.ts';
import type { CartCode } from '../../../../pipelines/contract/study.ts';
import { isSurelyBeyond, RV_SIZE } from '../../../../pipelines/echo/rv-function/guideline.ts';
import { rvFunction } from '../../../../pipelines/echo/rv-function/section.ts';
import { valuesOf } from '../../../../pipelines/echo/shared/values.ts';
import { createMeasurement } from '../../../../pipelines/result/measurement.ts';
import { cartValue } from '../../cart-sample.ts';
import { measuredStudy } from '../measured-study.ts';

const code = (scheme: string, value: string): CartCode => ({ scheme, code: value, meaning: value });
const PULSED = code('SCT', '261199008');
const TISSUE = code('SCT', '439858009');
const CONTINUOUS = code('SCT', '261198000');

/**
 * Returns a result in which the machine reports RIMP in these image modes, together with its other
 * values.
 */
function withIndex(value: number, modes: readonly (CartCode | null)[], others = {}) {
  const cart = modes.map((imageMode) =>
    cartValue({ concept: code('LN', '80086-2'), key: 'rimp', value, unit: '1', imageMode }),
  );
  return measuredStudy({ machine: { rimp: value, ...others }, cart });
}

const summaryOf = (study: ReturnType<typeof measuredStudy>) =>
  study.section('rv-function')?.summary ?? '';

describe('RIMP among the indices of RV function (echo 7.2, 7.3)', () => {
  it('of 0.50 by an unstated method with TAPSE 20 mm is not a finding, and is reported as not counting', () => {
    const study = withIndex(0.5, [null], { tapse: 20 });
    expect(study.findings('rv-function')).toEqual([]);
    expect(study.category('rv-systolic-function')).toBe('single index normal');
    expect(summaryOf(study)).toContain('RIMP 0.50 was not used');
    expect(study.section('rv-function')?.status).toBe('partial');
  });
  it.each([
    ['pulsed Doppler', 0.44, [PULSED], 'reduced'],
    ['pulsed Doppler', 0.43, [PULSED], 'normal'],
    ['tissue Doppler', 0.54, [TISSUE], 'normal'],
    ['tissue Doppler', 0.55, [TISSUE], 'reduced'],
    ['an unstated method', 0.43, [null], 'normal'],
    ['an unstated method', 0.44, [null], 'single index normal'],
    ['an unstated method', 0.54, [null], 'single index normal'],
    ['an unstated method', 0.55, [null], 'reduced'],
    ['another mode', 0.5, [CONTINUOUS], 'single index normal'],
    ['both', 0.5, [PULSED, TISSUE], 'single index normal'],
    ['both, one unstated', 0.5, [TISSUE, null], 'single index normal'],
    ['tissue Doppler twice', 0.5, [TISSUE, TISSUE], 'normal'],
  ])('by %s, %d with TAPSE 20 mm', (_, value, modes, expected) => {
    const study = withIndex(value, modes, { tapse: 20 });
    expect(study.category('rv-systolic-function')).toBe(expected);
    expect(summaryOf(study).includes('was not used')).toBe(expected === 'single index normal');
  });
  it('leaves the function not assessed if it does not count and is the only index', () => {
    const study = withIndex(0.5, [null]);
    expect(study.category('rv-systolic-function')).toBeUndefined();
    expect(summaryOf(study)).toContain('there is no other accepted index');
  });
});

describe('size and wall of the RV (echo 7.2, 7.3)', () => {
  it.each([
    ['wall 5.4 mm', { 'rv-wall': 5.4 }, []],
    ['wall 5.5 mm', { 'rv-wall': 5.5 }, ['rv-wall-thickened: abnormal']],
    ['ratio 1.00', { 'rv-to-lv': 1 }, []],
    ['ratio 1.01', { 'rv-to-lv': 1.01 }, ['rv-larger-than-lv: abnormal']],
    ['basal 41 mm', { 'rv-basal': 41 }, []],
    ['basal 42 mm', { 'rv-basal': 42 }, ['rv-dilated: abnormal']],
    ['mid 36 mm', { 'rv-mid': 36 }, ['rv-dilated: abnormal']],
  ])('%s', (_, machine, expected) => {
    expect(measuredStudy({ machine }).findings('rv-function')).toEqual(expected);
    const child = measuredStudy({ machine, patient: { age: 17 } });
    expect(child.findings('rv-function')).toEqual([]);
  });
  it('a thick wall is described in words, and is not called dilatation', () => {
    const summary = summaryOf(measuredStudy({ machine: { 'rv-wall': 7 } }));
    expect(summary).toContain('RV free wall thickened: RV wall 7 mm');
    expect(summary).not.toContain('RV dilated');
  });
  it('a large ratio is part of the critical finding, not a separate finding', () => {
    const study = measuredStudy({
      machine: { 'rv-basal': 46, 'rv-to-lv': 1.2, tapse: 12, 'rv-s-prime': 6 },
    });
    expect(study.findings('rv-function')).toEqual(['rv-strain: critical']);
    const [critical] = study.result.findings.filter(({ id }) => id === 'rv-strain');
    expect(critical?.evidence).toContain('cart-rv-to-lv');
  });
  it.each([
    ['neither diameter', {}, true],
    ['the basal one', { 'rv-basal': 38 }, false],
    ['the mid one alone', { 'rv-mid': 36 }, false],
  ])('with %s: size not assessed %s', (_, sizes, expected) => {
    const study = measuredStudy({ machine: { tapse: 20, ...sizes } });
    expect(summaryOf(study).includes('RV size was not assessed')).toBe(expected);
  });
});

describe('RV dilatation with dysfunction, reported at once (echo 16)', () => {
  it.each([
    ['a wide RV and a single reduced index', { 'rv-basal': 42, tapse: 16 }, true],
    ['a wide RV and a single normal index', { 'rv-basal': 42, tapse: 17 }, false],
    ['an RV larger than the LV and a single reduced index', { 'rv-to-lv': 1.01, tapse: 16 }, true],
    ['an RV as large as the LV', { 'rv-to-lv': 1, tapse: 16 }, false],
    [
      'an RV larger than the LV, and most indices reduced',
      { 'rv-to-lv': 1.01, tapse: 16, 'rv-s-prime': 9 },
      true,
    ],
    [
      'an RV larger than the LV, and one of three indices reduced',
      { 'rv-to-lv': 1.01, tapse: 16, 'rv-s-prime': 10, 'rv-fac': 40 },
      false,
    ],
  ])('%s: %s', (_, machine, urgent) => {
    const findings = measuredStudy({ machine }).findings('rv-function');
    expect(findings.includes('rv-strain: critical')).toBe(urgent);
  });
});

describe('a value with an interval', () => {
  it.each([
    ['surely beyond', 48, 5.5, true],
    ['just beyond, with the limit in its interval', 44, 5.5, null],
    ['surely within', 30, 5.5, false],
    ['beyond, of a machine that gives no interval', 42, null, true],
  ])('of the basal width %s', (_, value, uncertainty, beyond) => {
    expect(isSurelyBeyond(RV_SIZE.basal, { value, uncertainty })).toBe(beyond);
  });
});

describe('an index or a size whose interval includes its limit', () => {
  const evidence = {
    patient: { sex: null, age: 50, height: null, weight: null, surface: null, childSized: false },
    performanceMethod: null,
    heart: { outlined: [] },
    clips: [],
  } as unknown as Parameters<typeof rvFunction.run>[0];

  function run(given: Partial<Record<EchoConcept, readonly [value: number, half: number]>>) {
    const measured = Object.entries(given).map(([key, [value, uncertainty]]) =>
      createMeasurement(key, key as EchoConcept, value, 'annulus-motion', {
        section: 'rv-function',
        uncertainty,
      }),
    );
    const outcome = rvFunction.run(evidence, valuesOf(measured));
    const said = outcome.statements.map(({ code, about }) => [code, ...about].join(' '));
    return {
      said,
      category: outcome.classifications?.[0]?.value,
      criteria: outcome.classifications?.[0]?.criteria.map(({ outcome }) => outcome),
      findings: outcome.findings?.map(({ id }) => id),
      evidence: outcome.findings?.flatMap(({ evidence }) => evidence),
    };
  }

  it('is stated with both sides, and not as an index that was not measured', () => {
    const { said, category } = run({ tapse: [17, 2] });
    expect(category).toBeUndefined();
    expect(said).toContain('echo.either-side tapse');
    expect(said).not.toContain('rv-function.no-index');
  });

  const DECIDED = { 'rv-s-prime': [12, 0.5], 'rv-fac': [45, 2] } as const;

  it('leaves a normal function open if its value is beyond the limit', () => {
    const open = run({ ...DECIDED, tapse: [16, 2] });
    expect(open.category).toBeUndefined();
    expect(open.said).toContain('echo.either-side tapse');
  });

  it('leaves a function that the other indices decide, and is stated beside it', () => {
    const { category, criteria, said } = run({ ...DECIDED, tapse: [18, 2] });
    expect(category).toEqual({ scale: 'rv-function', category: 'normal' });
    expect(criteria).toEqual(['at_cut_off', 'not_met', 'not_met']);
    expect(said).toContain('echo.either-side tapse');
    const reduced = run({ 'rv-s-prime': [6, 0.5], tapse: [17, 2] });
    expect(reduced.category).toMatchObject({ category: 'single-index-reduced' });
  });

  it('is not counted among the indices of a finding', () => {
    const reduced = { tapse: [11, 1], 'rv-s-prime': [6, 0.5], 'rv-fac': [40, 14] } as const;
    expect(run(reduced).findings).toEqual(['rv-dysfunction']);
    expect(run(reduced).evidence).toEqual(['tapse', 'rv-s-prime']);
  });

  it('does not hide the strain of a dilated ventricle', () => {
    const strained = { 'rv-s-prime': [6, 0.5], tapse: [18, 2], 'rv-fac': [40, 14] } as const;
    expect(run({ ...strained, 'rv-basal': [55, 5.5] }).findings).toEqual(['rv-strain']);
  });

  it('is stated for a size too, without a finding', () => {
    const { said, findings } = run({ tapse: [24, 2], 'rv-basal': [43, 5.5] });
    expect(said).toContain('echo.either-side rv-basal');
    expect(findings).toEqual([]);
  });
});

describe('normal ranges of the right heart (ASE15; echo 7.2)', () => {
  const rangeOf = (study: ReturnType<typeof measuredStudy>, key: EchoConcept) => {
    const found = study.value(key);
    return found && [found.reference?.low, found.reference?.high, found.interpretation];
  };
  it.each([
    ['tapse', 17, [17, null, 'N']],
    ['tapse', 16, [17, null, 'L']],
    ['rv-s-prime', 9.5, [9.5, null, 'N']],
    ['rv-s-prime', 9.4, [9.5, null, 'L']],
    ['rv-basal', 41, [null, 41, 'N']],
    ['rv-basal', 42, [null, 41, 'H']],
    ['rv-mid', 35, [null, 35, 'N']],
    ['rv-mid', 36, [null, 35, 'H']],
    ['rv-wall', 5, [null, 5, 'N']],
    ['rv-wall', 6, [null, 5, 'H']],
    ['ra-area', 18, [null, 18, 'N']],
    ['ra-area', 18.1, [null, 18, 'H']],
    ['ivc-diameter', 21, [null, 21, 'N']],
    ['ivc-diameter', 22, [null, 21, 'H']],
  ] as const)('%s %d', (key, value, expected) => {
    expect(rangeOf(measuredStudy({ machine: { [key]: value } }), key)).toEqual(expected);
  });
  it('are not given to a child', () => {
    const study = measuredStudy({ machine: { tapse: 16 }, patient: { age: 10 } });
    expect(rangeOf(study, 'tapse')).toEqual([undefined, undefined, null]);
  });
});
