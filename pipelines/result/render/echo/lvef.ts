import type { EchoConcept } from '../../../concepts/echo.ts';
import {
  categoriesOf,
  type ScaleTable,
  type SentenceTable,
  statementsOf,
} from '../../statement.ts';
import {
  type Abnormality,
  type About,
  abnormalityText,
  allNamed,
  codeOf,
  inWords,
  namedText,
  namedValue,
} from './shared.ts';

/**
 * Limitation of each EF that was not measured by biplane discs. The key is the concept or the
 * machine's method.
 */
const LIMITS = {
  'lvef-networks': 'Single plane (A4C), not biplane.',
  'lvef-4c': 'Single plane (A4C), not biplane.',
  'lvef-2c': 'Single plane (A2C), not biplane.',
  'cart-sr': 'The machine does not state how the LVEF was measured.',
  'cart-area-length-biplane': 'LVEF by biplane area-length, not by biplane discs.',
  'cart-area-length': 'LVEF by single-plane area-length, not biplane.',
  'cart-discs': 'Single plane that is not known to be A4C or A2C, not biplane.',
  'cart-cube': 'LVEF by the cube method is not valid with any regional wall motion abnormality.',
  'cart-stated': 'LVEF by a machine method other than biplane discs.',
  'lvef-teichholz': 'LVEF by Teichholz is not valid with any regional wall motion abnormality.',
} as const;

type EfLimit = keyof typeof LIMITS;
export const isEfLimit = (method: string): method is EfLimit => method in LIMITS;

/** Types of heart failure, by the EF range that defines them (HF21; echo 4.5). */
const HEART_FAILURE = {
  improved: 'HFimpEF',
  reduced: 'HFrEF',
  'mildly-reduced': 'HFmrEF',
  preserved: 'HFpEF',
} as const;
export type HeartFailureRange = keyof typeof HEART_FAILURE;

/** Ranges of the EF, in their published wording. */
const RANGES = {
  improved: 'HFimpEF range',
  reduced: 'HFrEF range',
  'mildly-reduced': 'HFmrEF range',
  preserved: 'HFpEF range',
} as const satisfies Record<HeartFailureRange, string>;
export const heartFailureText = (range: HeartFailureRange): string => inWords(RANGES, range);

export const LVEF_SENTENCES = {
  'lvef.grade': ({ grade }: { grade: Abnormality }) =>
    `LV systolic function by LVEF: ${abnormalityText(grade)}.`,
  'lvef.heart-failure-range': ({ range }: { range: HeartFailureRange }) =>
    `LVEF is in the range used for ${HEART_FAILURE[codeOf(RANGES, range) ?? range]} if clinical heart failure is present.`,
  'lvef.variability': ({ points }: { points: number }) =>
    `A change of less than ${points} points is within measurement variability.`,
  'lvef.at-limit': ({ points }: { points: number }) =>
    `The LVEF lies within ${points} points of a grade limit, which is within measurement variability.`,
  /**
   * `about` contains the LVEF that is used, followed by the LVEF by other methods; `grades`
   * contains the grades of these others.
   */
  'lvef.methods-disagree': (
    { grades }: { grades: readonly Abnormality[] },
    { about: [ef, ...others] }: About,
  ) => {
    const each = others.map((one, i) => {
      const grade = grades[i];
      return grade ? `${namedText(one)} (${abnormalityText(grade)})` : namedText(one);
    });
    return `The methods disagree on the category: ${each.join(', ')}; ${ef ? namedText(ef) : ''} is used.`;
  },
  'lvef.not-assessed': () => 'LVEF was not assessed: there is no accepted value.',
  'lvef.foreshortened': () =>
    'Apical views of unequal length: one appears foreshortened; volumes may be underestimated.',
  'lvef.volumes-differ': () =>
    'The end-diastolic volumes of the two apical views differ by more than 25 %.',
  'lvef.limited-method': ({ method }: { method: EfLimit }) => LIMITS[method],
  'lvef.dysfunction': ({ grade }: { grade: Abnormality }, { about }: About) =>
    `${allNamed(about)}: LV systolic function ${abnormalityText(grade)}.`,
  'lvef.severe': (_: Record<string, never>, { about }: About) =>
    `${allNamed(about)}: severely reduced LV systolic function; whether this is new is unknown.`,
  'lvef.severe-by-one-method': ({ limit }: { limit: number }) =>
    `The methods disagree: one of two methods gives LVEF below ${limit} %; whether this is new is unknown.`,
  'lvef.severe-by-each-method': ({ limit }: { limit: number }) =>
    `The methods disagree, but each gives LVEF below ${limit} %; whether this is new is unknown.`,
  'lvef.severe-by-invalid-method': ({ limit }: { limit: number }, { about }: About) =>
    `${allNamed(about)}: below ${limit} % by a method that is not valid here; whether this is new is unknown.`,
  'lvef.severe-of-machine': (of: { key: EchoConcept; value: number; limit: number }) =>
    `${namedValue(of.key, of.value)} from the machine: one of two methods gives LVEF below ${of.limit} %; whether this is new is unknown.`,
} as const satisfies SentenceTable;

export const sayOfLvef = statementsOf<typeof LVEF_SENTENCES>();

/** Scales of its classifications. */
export const LVEF_SCALES = {
  'heart-failure-range': heartFailureText,
} as const satisfies ScaleTable;

export const categoryOfLvef = categoriesOf<typeof LVEF_SCALES>();
