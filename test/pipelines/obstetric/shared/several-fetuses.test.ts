import { describe, expect, it } from 'vitest';
import type { CartMeasurement } from '../../../../pipelines/contract/study.ts';
import {
  type FetusEvidence,
  severalFetuses,
} from '../../../../pipelines/obstetric/shared/several-fetuses.ts';
import { cartValue } from '../../cart-sample.ts';
import { spectrum } from '../doppler/doppler-sample.ts';
import { clip, head, interpretReadings, sectionOf } from '../evidence-sample.ts';

const HC = { scheme: 'LN', code: '11984-2', meaning: 'HC' };

const several = (given: { names?: string[]; cart?: CartMeasurement[] } & Partial<FetusEvidence>) =>
  severalFetuses({
    study: {
      clips: (given.names ?? []).map((viewName) => clip('a.dcm', { viewName })),
      ...(given.cart && { cart: given.cart }),
    },
    views: given.views ?? {},
  });

const ofFetus = (fetus: string | null) =>
  cartValue({ key: 'hc', concept: HC, value: 260, unit: 'mm', fetus });
const counted = (code: string, value: number) =>
  cartValue({
    concept: { scheme: code.includes('-') ? 'LN' : 'DCM', code, meaning: 'number of fetuses' },
    value,
    unit: '1',
  });

describe('the reports of the machine', () => {
  it.each([
    [['A', 'B'], 'named-in-reports'],
    [['XKQ', 'PLM'], 'named-in-reports'],
    [['B'], 'further-named'],
    [['2'], 'further-named'],
    [['A'], null],
    [['1'], null],
    [['A', '1'], null],
    [['A', null], null],
    [['XKQ'], null],
    [[null], null],
  ])('with values of %j: %s', (names, source) => {
    expect(several({ cart: names.map(ofFetus) })).toBe(source);
  });

  it.each([
    ['11878-6', 0],
    ['11878-6', 1],
    ['121038', 1],
  ])('that count by %s %d fetuses show one', (code, value) => {
    expect(several({ cart: [counted(code, value)] })).toBeNull();
  });

  it.each(['11878-6', '121038'])('that count two by %s show several', (code) => {
    expect(several({ cart: [counted(code, 2)] })).toBe('counted');
  });
});

describe('the labels of the images', () => {
  it.each([
    [['FETUS A HC', 'FETUS B HC'], true],
    [['TWIN_A_HC'], true],
    [['HC TWINS'], true],
    [['FETUS 2 HC'], true],
    [['FETUS A HC', 'FETUS A AC', 'FL'], false],
    [['FETUS A HC', 'FETUS 1 AC'], false],
    [['FETUS 4 CHAMBER', 'FETUS 3 VESSEL VIEW'], false],
    [['HC', 'AC'], false],
  ])('%j show several fetuses: %s', (names, shown) => {
    expect(several({ names })).toBe(shown ? 'named-on-images' : null);
  });

  it('make a study in which no two images are combined', () => {
    const named = (name: string) => head(91.8, 73.5, { clip: { viewName: name } });
    const twins = interpretReadings({ readings: [named('FETUS A HC'), named('FETUS B HC')] });
    expect(sectionOf(twins, 'biometry').reason).toMatchObject({ code: 'several_fetuses' });
    const one = interpretReadings({ readings: [named('FETUS A HC'), named('FETUS A HC')] });
    expect(sectionOf(one, 'biometry').reason).not.toMatchObject({ code: 'several_fetuses' });
  });
});

describe('a sweep along the uterus', () => {
  const swept = (parts: readonly ('head' | 'trunk')[]) => ({
    presentation: {
      sweeps: [
        {
          clip: clip('sweep.dcm'),
          direction: 'to-cranial' as const,
          runs: parts.map((part, i) => ({ part, from: 10 * i, to: 10 * i + 6 })),
        },
      ],
    },
  });

  it.each([
    [['head', 'trunk', 'head'], 'seen-on-sweep'],
    [['head', 'trunk'], null],
    [['trunk', 'head', 'trunk'], 'seen-on-sweep'],
    [['trunk', 'trunk'], null],
  ] as const)('that shows %j: %s', (parts, source) => {
    expect(several({ views: swept(parts) })).toBe(source);
  });
});

describe('twins called A and B on the images, and 1 and 2 in the report', () => {
  const weight = (fetus: string, value: number) =>
    cartValue({
      key: 'efw',
      concept: { scheme: 'LN', code: '11727-5', meaning: 'Estimated Weight' },
      value,
      unit: 'g',
      fetus,
    });
  const result = interpretReadings({
    readings: [],
    options: { dating: { ga_days: 224 } },
    evidence: {
      study: {
        clips: ['TWIN A UA', 'TWIN B UA'].map((viewName) => clip('ua.dcm', { viewName })),
        cart: [weight('1', 1800), weight('2', 1500)],
        ...{ refused: [], files: 3, series: 1 },
      },
      views: {
        spectra: ['A', 'B'].map((fetus) => spectrum('umbilical-artery', {}, { fetus })),
      },
    },
  });

  it('are two fetuses in the whole result, not four', () => {
    const fetuses = new Set(result.measurements.flatMap(({ fetus }) => fetus ?? []));
    expect([...fetuses].toSorted()).toEqual(['A', 'B']);
    expect(sectionOf(result, 'growth').summary).toContain('fetus A 1800 g, fetus B 1500 g');
  });
});
