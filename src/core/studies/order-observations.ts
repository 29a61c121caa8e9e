import { dayNumber, dicomDate } from '../../../pipelines/dicom/dates.ts';
import { TERM_DAYS } from '../../../pipelines/result/estimated-due-date.ts';
import { DAY_MS } from '../../platform/time.ts';
import { GESTATIONAL_AGE_DAYS } from './clinical-context.ts';

/** LOINC codes of order observations that date a pregnancy or describe the patient. */
export const ORDER_LOINC = {
  lastMenstrualDate: '8665-2',
  dueDate: '11778-8',
  height: '8302-2',
  weight: '29463-7',
} as const;

/** Factors for converting the supported UCUM units to metres and kilograms. */
export const METRES: Readonly<Record<string, number>> = { m: 1, cm: 0.01, '[in_i]': 0.0254 };
export const KILOGRAMS: Readonly<Record<string, number>> = { kg: 1, g: 0.001 };

export interface ObservedDate {
  /** The date as a DA. */
  date: string;
  /** When it was observed, in milliseconds since 1970; -Infinity if not stated. */
  observedAt: number;
}

/** The dates of a pregnancy given in an order. */
export interface PregnancyDates {
  menstrual: readonly ObservedDate[];
  due: readonly ObservedDate[];
}

/**
 * Returns the last menstrual date that dates a study, as a DA; '' if no date gives a plausible
 * gestational age, as with dates from an earlier pregnancy. The due date is preferred: a re-dated
 * pregnancy has a new due date but still the old menstrual date. A due date observed before the
 * last menstrual date, or at an unstated time, may belong to an earlier pregnancy; it is used only
 * if there is no menstrual date.
 */
export function datingMenstrualDate({ menstrual, due }: PregnancyDates, studyDate: string): string {
  const study = dayNumber(studyDate);
  if (study === null) return '';
  const newest = (dates: readonly ObservedDate[], lessDays: number) =>
    dates
      .map(({ date, observedAt }) => ({ day: dayNumber(date), observedAt }))
      .flatMap(({ day, observedAt }) => (day === null ? [] : [{ day: day - lessDays, observedAt }]))
      .filter(({ day }) => {
        const [least, most] = GESTATIONAL_AGE_DAYS;
        return study - day >= least && study - day <= most;
      })
      .toSorted((a, b) => b.observedAt - a.observedAt)
      .at(0);
  const stated = newest(menstrual, 0);
  const computed = newest(due, TERM_DAYS);
  const isFormer = stated && computed && computed.observedAt < stated.day * DAY_MS;
  const chosen = isFormer ? stated : (computed ?? stated);
  if (!chosen) return '';
  return dicomDate(chosen.day);
}

/** Returns a quantity in the base unit; null if the unit is not one of `units`. */
export function quantityOf(
  { value, unit }: { value: number | undefined; unit: string },
  units: Readonly<Record<string, number>>,
): number | null {
  const factor = Object.hasOwn(units, unit) ? units[unit] : undefined;
  if (value === undefined || factor === undefined) return null;
  return Number((value * factor).toPrecision(6));
}
