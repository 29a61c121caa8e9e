import { dayNumber } from '../../../pipelines/dicom/dates.ts';
import { DAY_MS } from '../../platform/time.ts';
import { GESTATIONAL_AGE_DAYS } from './clinical-context.ts';
import { TERM_DAYS } from './stated-age.ts';

/** A date that was observed. */
export interface ObservedDate {
  /** The date as a DA. */
  date: string;
  /** When it was observed, in milliseconds since 1970; -Infinity if not stated. */
  observedAt: number;
}

/**
 * Returns the last menstrual date that dates a study, as a DA; '' if no date gives a plausible
 * gestational age, as those of an earlier pregnancy do not. The due date is preferred, because a
 * pregnancy that was dated again has a new due date and the former menstrual date. A due date that
 * was observed before the last menstrual date is of an earlier pregnancy.
 */
export function datingMenstrualDate(
  { menstrual, due }: { menstrual: readonly ObservedDate[]; due: readonly ObservedDate[] },
  studyDate: string,
): string {
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
  return new Date(chosen.day * DAY_MS).toISOString().slice(0, 10).replaceAll('-', '');
}
