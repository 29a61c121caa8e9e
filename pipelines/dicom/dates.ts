import type { DicomIdentity } from './subject.ts';

const MILLISECONDS_PER_DAY = 86_400_000;
const SECONDS_PER_HOUR = 3600;

/** A day of the calendar; `month` counts from 1. */
interface CalendarDate {
  year: number;
  month: number;
  day: number;
}

/**
 * Parses a date (DA, PS3.5 6.2); returns null if the text is not a day of the calendar, such as 31
 * February. The ACR-NEMA form `2024.03.01` is accepted too.
 */
export function calendarDate(date: string): CalendarDate | null {
  const match = /^(\d{4})\.?(\d{2})\.?(\d{2})$/.exec(date);
  if (!match) return null;
  const [year, month, day] = match.slice(1).map(Number) as [number, number, number];
  // For a day that does not exist, `Date` counts on into the next month. It also reads the years 0
  // to 99 as 1900 to 1999.
  const counted = new Date(Date.UTC(year, month - 1, day));
  const isReal =
    counted.getUTCFullYear() === year &&
    counted.getUTCMonth() === month - 1 &&
    counted.getUTCDate() === day;
  return isReal ? { year, month, day } : null;
}

/** Returns the number of days from 1970-01-01 to a date; null if the text is not a date. */
export function dayNumber(date: string): number | null {
  const parts = calendarDate(date);
  return parts && Date.UTC(parts.year, parts.month - 1, parts.day) / MILLISECONDS_PER_DAY;
}

/** Returns a day number (`dayNumber`) as a DA. */
export const dicomDate = (day: number): string =>
  new Date(day * MILLISECONDS_PER_DAY).toISOString().slice(0, 10).replaceAll('-', '');

/**
 * Returns the seconds from midnight to a time (TM, PS3.5 6.2); null if the text is not a time. The
 * minutes or the seconds may be missing.
 */
export function secondsOfDay(time: string): number | null {
  const match = /^(\d{2}):?(\d{2})?:?(\d{2}(?:\.\d{0,6})?)?$/.exec(time);
  if (!match) return null;
  const [hours = 0, minutes = 0, seconds = 0] = match.slice(1).map((part) => Number(part ?? 0));
  // 60 is a leap second, which is read as the start of the next minute.
  if (hours > 23 || minutes > 59 || seconds > 60) return null;
  return hours * SECONDS_PER_HOUR + minutes * 60 + seconds;
}

/**
 * Returns a DA as YYYY-MM-DD, also a day that does not exist; null if it is not a date. Old objects
 * have YYYY.MM.DD (PS3.5 table 6.2-1).
 */
export function isoDate(date: string): string | null {
  const [, year, , month, day] = /^(\d{4})(\.?)(\d{2})\2(\d{2})$/.exec(date.trim()) ?? [];
  return year === undefined ? null : [year, month, day].join('-');
}

/**
 * Converts (0008,0201) Timezone Offset From UTC to minutes: "+0130" is 90. Returns null for any
 * other text.
 */
function offsetMinutes(offset: string): number | null {
  const match = /^([+-])(\d{2})(\d{2})$/.exec(offset.trim());
  if (!match) return null;
  const minutes = Number(match[2]) * 60 + Number(match[3]);
  return match[1] === '-' ? -minutes : minutes;
}

function offsetText(minutes: number): string {
  const [hours, rest] = [Math.trunc(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  const twoDigits = (value: number) => String(value).padStart(2, '0');
  return `${minutes < 0 ? '-' : '+'}${twoDigits(hours)}${twoDigits(rest)}`;
}

/** Returns this host's offset in minutes at the time of the study, or at `moment` if it has no date. */
function hostOffset({ StudyDate, StudyTime }: DicomIdentity, moment: Date): number {
  const [year, month, day] = (isoDate(StudyDate.trim()) ?? '').split('-').map(Number);
  const seconds = secondsOfDay(StudyTime.trim()) ?? SECONDS_PER_HOUR * 12;
  const then = year && month && day ? new Date(year, month - 1, day, 0, 0, seconds) : moment;
  return -then.getTimezoneOffset();
}

/**
 * Returns an instant as DICOM DA, TM and timezone offset. The offset applies to every time in the
 * data set, including times copied from the images (PS3.3 C.12.1.1.8), so the images' offset is
 * used. If they have none, the offset of this host on the day of the study is used: the host is in
 * the same hospital, and its current offset may differ by daylight saving time. If the result does
 * not contain the patient's identity yet, the offset is UTC.
 * @param instant RFC 3339, `generated_at` of the result.
 */
export function contentTime(
  instant: string,
  identity: DicomIdentity | null,
): { date: string; time: string; offset: string } {
  const moment = new Date(instant);
  const minutes = identity
    ? (offsetMinutes(identity.TimezoneOffsetFromUTC) ?? hostOffset(identity, moment))
    : 0;
  const shifted = new Date(moment.getTime() + minutes * 60_000).toISOString();
  return {
    date: shifted.slice(0, 10).replaceAll('-', ''),
    time: shifted.slice(11, 23).replaceAll(':', ''),
    offset: offsetText(minutes),
  };
}
