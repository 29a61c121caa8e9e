import { dayNumber, secondsOfDay } from '../../dicom/dates.ts';
import { ACQUISITION_TIMES, STUDY_TIME } from './attributes.ts';

/**
 * Time at which an image was acquired. These numbers are used only to order images; no text from
 * the header is stored. `day` is a count of days, or null if the header contains only a time of
 * day. `seconds` are counted from midnight.
 */
export interface AcquisitionTime {
  day: number | null;
  seconds: number;
}

const SECONDS_PER_DAY = 86_400;

/**
 * If the study's time of day is later than an image's by more than this many seconds, midnight was
 * between them, and the image was taken on the day after the study's date. This assumes that a
 * study lasts at most six hours.
 */
const AFTER_MIDNIGHT_SECONDS = 18 * 3600;

/**
 * Parses a DT. Its offset from UTC is ignored, because all images of a study have the same offset.
 */
function ofDateTime(text: string): AcquisitionTime | null {
  const [stamp = ''] = text.split(/[+-]/);
  const seconds = secondsOfDay(stamp.slice(8));
  return seconds === null ? null : { day: dayNumber(stamp.slice(0, 8)), seconds };
}

/**
 * Returns the acquisition time from the most precise readable date and time in a header (texts by
 * tag); null if the header has no time. Acquisition Date is optional (PS3.3 C.7.6.1). If it is
 * missing, the most precise of the other dates is used or, if midnight was between that date and
 * the acquisition, the day after it.
 */
export function acquisitionTimeOf(texts: ReadonlyMap<number, string>): AcquisitionTime | null {
  return firstReadable(texts, ACQUISITION_TIMES);
}

/**
 * Returns when the examination described in a report took place. The other dates in the report only
 * state when it was written.
 */
export function studyTimeOf(texts: ReadonlyMap<number, string>): AcquisitionTime | null {
  return firstReadable(texts, [STUDY_TIME]);
}

function firstReadable(
  texts: ReadonlyMap<number, string>,
  pairs: readonly (readonly number[])[],
): AcquisitionTime | null {
  const textAt = (tag: number | undefined) => (tag ? (texts.get(tag) ?? '') : '');
  const days = pairs.map(([date]) => dayNumber(textAt(date).slice(0, 8)));
  const dated = days.findIndex((day) => day !== null);
  const [, datedTime] = pairs[dated] ?? [];
  const dayOf = (seconds: number) => {
    const isDayBefore = (secondsOfDay(textAt(datedTime)) ?? 0) - seconds > AFTER_MIDNIGHT_SECONDS;
    return (days[dated] ?? 0) + (isDayBefore ? 1 : 0);
  };
  for (const [index, [date, time]] of pairs.entries()) {
    if (!time) {
      const taken = ofDateTime(textAt(date));
      if (taken) return taken;
      continue;
    }
    const seconds = secondsOfDay(textAt(time));
    if (seconds === null) continue;
    return { day: days[index] ?? (dated < 0 ? null : dayOf(seconds)), seconds };
  }
  return null;
}

/**
 * Returns the seconds from the first image of `current` to each image. Callers never receive an
 * absolute time. If an image of the study has no date, only times of day are compared.
 *
 * @param priors earlier examinations. Their seconds count from the midnight before the first image,
 * so that whole days of the calendar can be counted; null if a date is missing.
 */
export function secondsFromFirst(
  current: readonly (AcquisitionTime | null)[],
  priors: readonly (AcquisitionTime | null)[] = [],
): { current: (number | null)[]; priors: (number | null)[] } {
  const known = current.filter((taken) => taken !== null);
  const dated = known.every(({ day }) => day !== null);
  const absolute = ({ day, seconds }: AcquisitionTime) =>
    dated ? (day ?? 0) * SECONDS_PER_DAY + seconds : seconds;
  const first = known.reduce((least, taken) => Math.min(least, absolute(taken)), Infinity);
  const since = (start: number, taken: AcquisitionTime) =>
    Math.round((absolute(taken) - start) * 1000) / 1000;
  const midnight = Math.floor(first / SECONDS_PER_DAY) * SECONDS_PER_DAY;
  return {
    current: current.map((taken) => taken && since(first, taken)),
    priors: priors.map((taken) =>
      taken && taken.day !== null && dated && known.length > 0 ? since(midnight, taken) : null,
    ),
  };
}
