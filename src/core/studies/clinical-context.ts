import { type Specialty, specialtyOf } from '../../../pipelines/concepts/specialty.ts';
import { calendarDate, dayNumber } from '../../../pipelines/dicom/dates.ts';
import type { InstanceHeader } from './instance-header.ts';

/**
 * The part of a request that is read from the headers. Numbers and codes only: no identity, no
 * date.
 */
export interface HeaderContext {
  /**
   * An age computed from a due date has the basis `lmp` too: the four values of `dating.basis` are
   * fixed (api 2.3), and none of them means a due date of unknown origin.
   */
  dating: { ga_days: number; basis: 'lmp' } | null;
  age_years: number | null;
  sex: 'female' | 'male' | 'other' | null;
  height_cm: number | null;
  weight_kg: number | null;
}

/**
 * Limits of api 2.3 and 2.4. A value outside them is omitted; otherwise the request would be
 * refused.
 */
export const GESTATIONAL_AGE_DAYS = [42, 301] as const;
const AGE_YEARS = [0, 130] as const;
const HEIGHT_CM = [30, 250] as const;
const WEIGHT_KG = [1, 400] as const;

/** Patient's Sex (0010,0040), PS3.3 C.7.1.1. */
const SEX: Readonly<Record<string, HeaderContext['sex']>> = {
  F: 'female',
  M: 'male',
  O: 'other',
};

/** Fields of `clinical_context` that the endpoint of each specialty accepts. */
const CONTEXT_FIELDS: Readonly<
  Record<Specialty, readonly Exclude<keyof HeaderContext, 'dating'>[]>
> = {
  obstetric: ['age_years', 'sex'],
  echo: ['age_years', 'sex', 'height_cm', 'weight_kg'],
};

const contextFields = (specialty: Specialty | null) =>
  specialty === null ? [] : CONTEXT_FIELDS[specialty];

/** Returns true if the endpoint accepts `options.dating`. */
const isDated = (specialty: Specialty | null) => specialty === 'obstetric';

/** Reads the context from the headers of a study, each value from the first object that has it. */
export function contextFromHeaders(headers: readonly InstanceHeader[]): HeaderContext {
  return {
    dating: datingOf(headers),
    age_years: first(headers, ageOf),
    sex: first(headers, ({ identity }) => SEX[identity.PatientSex] ?? null),
    height_cm: first(headers, ({ patientSizeMetres }) =>
      within(HEIGHT_CM, patientSizeMetres === null ? null : round(patientSizeMetres * 100, 1)),
    ),
    weight_kg: first(headers, (header) => within(WEIGHT_KG, header.patientWeightKilograms)),
  };
}

/** Returns the fields of a context that an endpoint uses. */
export function fieldsOf(endpoint: string): (keyof HeaderContext)[] {
  const specialty = specialtyOf(endpoint);
  return [...(isDated(specialty) ? ['dating' as const] : []), ...contextFields(specialty)];
}

/**
 * Returns the options and the clinical context for an endpoint. The rule's options take precedence.
 */
export function inputFor(
  endpoint: string,
  ruleOptions: Readonly<Record<string, unknown>>,
  context: HeaderContext,
): { options: Record<string, unknown>; clinical_context: Record<string, unknown> } {
  const specialty = specialtyOf(endpoint);
  const dating = isDated(specialty) && context.dating ? { dating: context.dating } : {};
  const fields = contextFields(specialty).filter((field) => context[field] !== null);
  return {
    options: { ...dating, ...ruleOptions },
    clinical_context: Object.fromEntries(fields.map((field) => [field, context[field]])),
  };
}

/**
 * Returns the gestational age on the day of the study: computed from the (0010,21D0) Last Menstrual
 * Date of any object, otherwise as sent by the cart. A date that gives no plausible age, such as
 * one from an earlier pregnancy, is skipped.
 */
function datingOf(headers: readonly InstanceHeader[]): HeaderContext['dating'] {
  const days =
    first(headers, (header) => within(GESTATIONAL_AGE_DAYS, countedDays(header))) ??
    first(headers, ({ statedAgeDays }) => within(GESTATIONAL_AGE_DAYS, statedAgeDays));
  return days === null ? null : { ga_days: days, basis: 'lmp' };
}

function countedDays({ lastMenstrualDate, identity }: InstanceHeader): number | null {
  const from = dayNumber(lastMenstrualDate);
  const to = dayNumber(identity.StudyDate);
  return from === null || to === null ? null : to - from;
}

/**
 * Returns the age in whole years: (0010,1010) Patient's Age, otherwise computed from the birth date
 * and the study date.
 */
function ageOf({ patientAge, identity }: InstanceHeader): number | null {
  const stated = /^(\d{3})([DWMY])$/.exec(patientAge);
  if (stated) {
    const perYear = { D: 365.25, W: 365.25 / 7, M: 12, Y: 1 }[stated[2] as 'D' | 'W' | 'M' | 'Y'];
    return within(AGE_YEARS, Math.floor(Number(stated[1]) / perYear));
  }
  const birth = calendarDate(identity.PatientBirthDate);
  const study = calendarDate(identity.StudyDate);
  if (!birth || !study) return null;
  const years = study.year - birth.year;
  const isBirthdayToCome =
    study.month < birth.month || (study.month === birth.month && study.day < birth.day);
  return within(AGE_YEARS, isBirthdayToCome ? years - 1 : years);
}

function within([low, high]: readonly [number, number], value: number | null): number | null {
  return value !== null && value >= low && value <= high ? value : null;
}

function round(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}

function first<T>(
  headers: readonly InstanceHeader[],
  read: (header: InstanceHeader) => T | null,
): T | null {
  for (const header of headers) {
    const value = read(header);
    if (value !== null) return value;
  }
  return null;
}
