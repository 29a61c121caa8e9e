const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const clock = new Intl.DateTimeFormat('en-GB', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});
const shortClock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const dayOfYear = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
});

/** Pure: a duration for people, in one unit: "12 s", "3 min", "2 h", "4 d". */
export function durationText(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 2 * MINUTE) return `${whole} s`;
  if (whole < 2 * HOUR) return `${Math.round(whole / MINUTE)} min`;
  if (whole < 2 * DAY) return `${Math.round(whole / HOUR)} h`;
  return `${Math.round(whole / DAY)} d`;
}

/** Pure: "in 20 s" or "3 min ago" of an instant (RFC 3339). */
export function distanceText(instant: string, now: Date): string {
  const seconds = (Date.parse(instant) - now.getTime()) / 1000;
  return seconds >= 1 ? `in ${durationText(seconds)}` : `${durationText(-seconds)} ago`;
}

/** The hour of today, else the day too; of another year with the year. */
export function momentText(instant: string, now = new Date()): string {
  const at = new Date(instant);
  if (at.toDateString() === now.toDateString()) return shortClock.format(at);
  const date = at.getFullYear() === now.getFullYear() ? day : dayOfYear;
  return `${date.format(at)}, ${shortClock.format(at)}`;
}

/** To the second, for a timeline. */
export function secondText(instant: string): string {
  return clock.format(new Date(instant));
}

export function dateText(instant: string): string {
  return dayOfYear.format(new Date(instant));
}
