import { dayNumber } from '../../../pipelines/dicom/dates.ts';
import { DAY_MS } from '../../platform/time.ts';
import { TERM_DAYS } from './stated-age.ts';

/** LOINC codes of observations in an order that date a pregnancy or describe the patient. */
export const ORDER_LOINC = {
  lastMenstrualDate: '8665-2',
  dueDate: '11778-8',
  height: '8302-2',
  weight: '29463-7',
} as const;

/** Factors to metres and kilograms for the UCUM units that are understood. */
export const METRES: Readonly<Record<string, number>> = { m: 1, cm: 0.01, '[in_i]': 0.0254 };
export const KILOGRAMS: Readonly<Record<string, number>> = { kg: 1, g: 0.001 };

/**
 * Returns the last menstrual date computed from the due date of an order, otherwise the stated one,
 * as a DA; '' without either. A pregnancy that was dated again has a new due date and the former
 * menstrual date. @param dates as DA.
 */
export function lastMenstrualDateFrom(dates: { stated: string; due: string }): string {
  const due = dayNumber(dates.due);
  if (due === null) return dates.stated;
  return new Date((due - TERM_DAYS) * DAY_MS).toISOString().slice(0, 10).replaceAll('-', '');
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
