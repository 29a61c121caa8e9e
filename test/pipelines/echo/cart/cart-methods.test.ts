import { describe, expect, it } from 'vitest';
import type { EchoConcept } from '../../../../pipelines/concepts/echo.ts';
import type { CartCode, CartMeasurement } from '../../../../pipelines/contract/study.ts';
import { gatherEvidence, NO_OUTLINES } from '../../../../pipelines/echo/evidence.ts';
import type { EchoContext } from '../../../../pipelines/echo/input.ts';
import { interpretStudy } from '../../../../pipelines/echo/interpret-study.ts';
import { SECTIONS } from '../../../../pipelines/echo/sections.ts';
import { convert } from '../../../../pipelines/input/cart-sr/vocabulary.ts';
import { cartValue } from '../../cart-sample.ts';
import { failTest } from '../../fail-test.ts';
import { noteOf } from '../rendered.ts';

const code = (scheme: string, value: string): CartCode => ({ scheme, code: value, meaning: value });
const ln = (value: string) => code('LN', value);
const sct = (value: string) => code('SCT', value);
const dcm = (value: string) => code('DCM', value);

const TWO_DIMENSIONAL = sct('399064001');
const M_MODE = sct('399155008');

type Given = Partial<CartMeasurement> & { value: number };
const value = (concept: CartCode, unit: string, given: Given) =>
  cartValue({ concept, unit, ...given });
const lvidd = (given: Given) => value(ln('29436-3'), 'cm', { key: 'lvidd', ...given });
const ef = (given: Given) => value(ln('18043-0'), '%', { key: 'lvef', ...given });

/**
 * Returns the measurements and the rendered report of a study that contains nothing but the
 * machine's report.
 */
function reported(cart: readonly CartMeasurement[], context: Partial<EchoContext> = {}) {
  const evidence = gatherEvidence(
    {
      study: { clips: [], refused: [], files: 1, series: 1, cart: [...cart] },
      context: { sex: 'male', age_years: 60, height_cm: 175, weight_kg: 70, ...context },
      spectra: [],
      clips: [],
      views: { apical: null, parasternal: null },
      priors: [],
      accept: 'real',
      models: [],
    },
    SECTIONS,
  );
  expect(evidence.heart).toBe(NO_OUTLINES);
  const options = { report: true, report_language: 'en', return: ['json'] } as const;
  const result = interpretStudy(
    evidence,
    { ...options, return: ['json'] },
    new Date(0),
    [],
    'real',
    failTest,
  );
  return {
    evidence,
    result,
    measured: (key: EchoConcept) => evidence.measured.find(({ concept }) => concept.key === key),
    value: (key: EchoConcept) => result.measurements.find(({ concept }) => concept.key === key),
    category: (id: string) => result.classifications.find((one) => one.id === id)?.value,
    gaps: (id: string) => result.sections.find((one) => one.id === id)?.reason?.detail ?? '',
  };
}

describe('one quantity that the machine measured in several ways', () => {
  it.each([
    ['the codes say the mode', [ln('80008-6'), ln('80007-8')], [null, null]],
    ['the image mode does', [ln('29436-3'), ln('29436-3')], [M_MODE, TWO_DIMENSIONAL]],
    ['one does not say it', [ln('80008-6'), ln('29436-3')], [null, null]],
  ] as const)('prefers 2D to M-mode where %s', (_, [one, other], [mode, second]) => {
    const { measured } = reported([
      lvidd({ concept: one, imageMode: mode, value: 5.6 }),
      lvidd({ concept: other, imageMode: second, value: 5 }),
    ]);
    expect(measured('lvidd')).toMatchObject({ value: 5, note: null });
  });
  it('is by the median of one mode, never of both', () => {
    const { measured } = reported([
      lvidd({ imageMode: TWO_DIMENSIONAL, value: 5 }),
      lvidd({ imageMode: TWO_DIMENSIONAL, value: 5.2 }),
      lvidd({ imageMode: M_MODE, value: 6 }),
    ]);
    expect(measured('lvidd')?.value).toBeCloseTo(5.1, 6);
    expect(noteOf(measured('lvidd'))).toContain('median of 2 values');
  });
  it('uses M-mode where the operator chose that value', () => {
    const { measured } = reported([
      lvidd({ imageMode: TWO_DIMENSIONAL, value: 5 }),
      lvidd({ imageMode: M_MODE, value: 6, selection: 'user' }),
    ]);
    expect(measured('lvidd')?.value).toBe(6);
  });
  it.each([
    ['area-length in two planes before one', '125204', '125205'],
    ['area-length in one plane before an unknown method', '125205', '125211'],
    ['a stated method before the cube', '125211', '125206'],
  ])('as LVEF uses %s', (_, better, worse) => {
    const { measured } = reported([
      ef({ method: dcm(worse), value: 70 }),
      ef({ method: dcm(better), value: 50 }),
    ]);
    expect(measured('lvef')?.value).toBe(50);
  });
  it('as LVEF of an unstated method takes precedence only over the cube formula', () => {
    const values = (method: string) =>
      reported([ef({ value: 50 }), ef({ method: dcm(method), value: 70 })]).measured('lvef')?.value;
    expect(values('125206')).toBe(50);
    expect(values('125205')).toBe(70);
  });
});

describe('the method of an LVEF of the machine', () => {
  it.each([
    [null, 'The machine does not state how the LVEF was measured'],
    ['125316', 'The machine does not state how the LVEF was measured'],
    ['125204', 'by biplane area-length'],
    ['125205', 'by single-plane area-length'],
    ['125206', 'by the cube method'],
    ['125208', 'Single plane that is not known to be A4C or A2C'],
    ['125211', 'by a machine method other than biplane discs'],
  ])('%s is named in the section', (method, expected) => {
    const { gaps } = reported([ef({ value: 60, method: method === null ? null : dcm(method) })]);
    expect(gaps('lvef')).toContain(expected);
  });
});

describe('LA volume of TID 5200', () => {
  const volume = (given: Partial<CartMeasurement> = {}) =>
    reported([value(sct('399235004'), 'ml', { value: 70, ...given })]);
  it.each([
    ['no method', {}, 'la-volume-area-length'],
    ['area-length, biplane', { method: dcm('125204') }, 'la-volume-area-length'],
    ['biplane discs', { method: dcm('125207') }, 'la-volume-biplane'],
    ['discs in one plane', { method: dcm('125208'), imageView: sct('399214001') }, 'la-volume-4c'],
  ] as const)('of %s is %s', (_, given, key) => {
    expect(volume(given).measured(key)?.value).toBe(70);
  });
  it('of another method is not used', () => {
    expect(volume({ method: dcm('125205') }).evidence.measured.length).toBe(1);
  });
  it('is indexed and graded: 70 ml over 1.85 m2 are 38', () => {
    expect(volume().category('la-volume-grade')).toBe('mildly abnormal');
  });
});

describe('LV mass by the method of the machine', () => {
  const mass = (value: number, method: string | null) =>
    reported([
      cartValue({
        concept: ln('18087-7'),
        key: 'lv-mass',
        unit: 'g',
        value,
        method: method === null ? null : dcm(method),
      }),
    ]);
  // For 1.848 m2, the indices are 102.4 and 102.6, and 115.4 and 115.6 g/m2.
  it.each([
    [189.2, '125270', 'normal'],
    [189.7, '125270', 'mildly abnormal'],
    [189.2, '125222', 'normal'],
    [189.7, '125222', 'mildly abnormal'],
    [213.2, null, 'normal'],
    [213.7, null, 'mildly abnormal'],
    [213.2, '125221', 'normal'],
  ] as const)('of %d g, method %s, has an index that is %s', (grams, method, expected) => {
    expect(mass(grams, method).category('lv-mass-index-grade')).toBe(expected);
  });
  it('by 2D areas has no absolute limits, and is not held against the cube of the diameters', () => {
    const { category, value } = mass(260, '125270');
    expect(category('lv-mass-grade')).toBeUndefined();
    expect(value('lv-mass')?.note).toBeNull();
  });
  it('by 2D areas above its range is LVH for diastolic function too, by its own limit', () => {
    const e = (site: string, value: number) =>
      cartValue({ concept: sct('399133000'), site: sct(site), unit: 'cm/s', value });
    const scheme = (grams: number) =>
      reported([
        cartValue({
          concept: ln('18087-7'),
          key: 'lv-mass',
          unit: 'g',
          value: grams,
          method: dcm('125270'),
        }),
        cartValue({ concept: ln('18037-2'), unit: 'cm/s', value: 70 }),
        cartValue({ concept: ln('17978-8'), unit: 'cm/s', value: 60 }),
        e('399093001', 8),
        e('399086000', 11),
      ]).result.classifications.find(({ id }) => id === 'diastolic-2016')?.scheme;
    expect(scheme(189.2)).toBe('ASE/EACVI 2016, algorithm A');
    expect(scheme(189.7)).toBe('ASE/EACVI 2016, algorithm B');
  });
  it('adjusted by height is no mass', () => {
    expect(mass(100, '125271').value('lv-mass')).toBeUndefined();
  });
});

describe('body surface area in the report of the machine', () => {
  const surface = value(ln('8277-6'), 'm2', { key: 'body-surface-area', value: 2 });
  const mass = value(ln('18087-7'), 'g', { key: 'lv-mass', value: 200 });
  const none = { height_cm: undefined, weight_kg: undefined };
  const indexed = (given: number, context: Partial<EchoContext> = none) =>
    reported([{ ...surface, value: given }, mass], context);

  it('indexes where the request says no height and weight, and is named', () => {
    const { value: of } = indexed(2);
    expect(of('lv-mass-index')?.value).toBe(100);
    expect(noteOf(of('body-surface-area'))).toContain(
      'the request does not give height and weight',
    );
  });
  it('is used only if the request gives none', () => {
    expect(indexed(2, {}).value('body-surface-area')?.value).toBeCloseTo(1.848, 3);
  });
  it('does not pass over a height that cannot be', () => {
    expect(indexed(2, { height_cm: 90 }).value('lv-mass-index')).toBeUndefined();
  });
  it.each([
    [0.99, 'inadequate'],
    [1, 'accepted'],
    [3.2, 'accepted'],
    [3.21, 'inadequate'],
  ] as const)('of %d m2 is %s', (given, quality) => {
    const { result } = indexed(given);
    const own = result.measurements.filter(({ concept }) => concept.key === 'body-surface-area');
    expect(own.map((one) => one.quality)).toEqual([quality]);
  });
});

describe('units of the machine', () => {
  it.each([
    ['mL/m2', 'ml/m2', 1],
    ['ml/m2', 'ml/m2', 1],
    ['mL', 'ml', 1],
    ['L', 'ml', 1000],
    ['dL', 'ml', 100],
  ])('%s is %s times %d', (from, to, factor) => {
    expect(convert(1, from, to)).toBeCloseTo(factor, 9);
  });
  it('have a litre in no other word', () => {
    expect(convert(1, 'L/min', 'ml/min')).toBeNull();
    expect(convert(1, 'mol', 'mL')).toBeNull();
  });
});

describe('the age is unknown', () => {
  const surface = value(ln('8277-6'), 'm2', { key: 'body-surface-area', value: 0.8 });
  const unknown = { age_years: undefined, height_cm: undefined, weight_kg: undefined } as object;
  const grade = (context: Partial<EchoContext>, ...others: readonly CartMeasurement[]) =>
    reported([ef({ value: 40 }), ...others], { ...unknown, ...context }).category('lvef-grade');
  it.each([
    ['height', grade({ height_cm: 110 })],
    ['weight', grade({ weight_kg: 20 })],
    ['body surface area of the machine', grade({}, surface)],
  ])('a %s below that of adults: nothing is graded', (_, given) => {
    expect(given).toBeUndefined();
  });
  it.each([
    ['an adult size', grade({ height_cm: 150, weight_kg: 40 })],
    ['no known size', grade({})],
    ['an adult of 110 cm', grade({ height_cm: 110, age_years: 40 })],
  ])('%s: graded as an adult', (_, given) => expect(given).toBeDefined());
});
