/** Days of a pregnancy dated by the last menstrual period, from it to the expected date (EDD). */
const TERM_DAYS = 280;
const DAY_MS = 86_400_000;

/** `date` (YYYY-MM-DD) plus whole days, in the proleptic Gregorian calendar without a time zone. */
function addDays(date: string, days: number): string {
  return new Date(Date.parse(`${date}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10);
}

/** Expected date of delivery by the gestational age on the day of an examination. */
export function dueDateByAge(examDate: string, gaDays: number): string {
  return addDays(examDate, TERM_DAYS - gaDays);
}

/** Expected date of delivery by the last menstrual period. */
export function dueDateByLmp(lmp: string): string {
  return addDays(lmp, TERM_DAYS);
}
