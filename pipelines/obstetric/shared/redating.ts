/**
 * Accepted differences in days. `untilDays` is the last age by last period, inclusive, at which
 * each applies.
 */
const REDATING = [
  { untilDays: 62, days: 5 },
  { untilDays: 111, days: 7 },
  { untilDays: 153, days: 10 },
  { untilDays: 195, days: 14 },
] as const;
const REDATING_LATE_DAYS = 21;
/**
 * Age in days from which a single scan does not change the dating, because disturbed growth looks
 * the same as a wrong date (ACOG 700).
 */
export const NO_REDATING_FROM_DAYS = 196;

/**
 * Returns the maximum accepted difference in days between the ages by ultrasound and by last period
 * (ACOG Committee Opinion 700, 2017).
 */
export function redatingDays(daysByLmp: number): number {
  return REDATING.find(({ untilDays }) => daysByLmp <= untilDays)?.days ?? REDATING_LATE_DAYS;
}
