import { isoDate } from '../dicom/dates.ts';
import type { Subject } from '../dicom/subject.ts';

/** Days from the last menstrual period to the expected date of delivery. */
export const TERM_DAYS = 280;
const DAY_MS = 86_400_000;

/**
 * Adds whole days to `date` (YYYY-MM-DD) in the proleptic Gregorian calendar, ignoring time zones.
 */
function addDays(date: string, days: number): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10);
}

/** Returns the expected date of delivery, from the gestational age on the day of an examination. */
export function dueDateByAge(examDate: string, gaDays: number): string {
  return addDays(examDate, TERM_DAYS - gaDays);
}

/** Returns the expected date of delivery, from the first day of the last menstrual period. */
export function dueDateByLmp(lmp: string): string {
  return addDays(lmp, TERM_DAYS);
}

/**
 * Returns the expected date of delivery of a study as YYYY-MM-DD; null without a gestational age or
 * a study date.
 */
export function dueDate({ identity, dating }: Subject): string | null {
  const scan = isoDate(identity?.StudyDate ?? '');
  return scan && dating ? dueDateByAge(scan, dating.gaDays) : null;
}
