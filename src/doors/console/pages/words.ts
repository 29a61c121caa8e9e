import { html, type TemplateResult } from './html.ts';

/** The urgency of a state. It is shown by a mark and a word, never by colour alone (WCAG 1.4.1). */
export type Tone = 'critical' | 'attention' | 'good' | 'active' | 'quiet';

const MARKS = {
  critical: '▲',
  attention: '◆',
  good: '✓',
  active: '●',
  quiet: '–',
} as const satisfies Record<Tone, string>;

/** Renders a state in words with its mark. */
export function chip(tone: Tone, text: string): TemplateResult {
  return html`<span class="chip ${tone}"><span aria-hidden="true">${MARKS[tone]}</span> ${text}</span>`;
}

/**
 * Renders text from a DICOM header or a client as plain text, isolated so that its direction marks
 * do not affect the text around it.
 */
export function given(text: string): TemplateResult {
  return html`<bdi class="given">${text}</bdi>`;
}

/**
 * Formats a number with its noun, such as "1 study" and "3 studies". `many` is the plural, if it is
 * irregular.
 */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}

/** Renders the text of a page that has nothing to show. */
export function empty(text: string, more: unknown = null): TemplateResult {
  return html`<div class="empty"><p>${text}</p>${more}</div>`;
}

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
const month = new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric' });

/** Formats a duration for display, in one unit: "12 s", "3 min", "2 h", "4 d". */
export function durationText(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 2 * MINUTE) return `${whole} s`;
  if (whole < 2 * HOUR) return `${Math.round(whole / MINUTE)} min`;
  if (whole < 2 * DAY) return `${Math.round(whole / HOUR)} h`;
  return `${Math.round(whole / DAY)} d`;
}

/** Formats the time between an instant (RFC 3339) and now, such as "in 20 s" or "3 min ago". */
export function distanceText(instant: string, now: Date): string {
  const seconds = (Date.parse(instant) - now.getTime()) / 1000;
  return seconds >= 1 ? `in ${durationText(seconds)}` : `${durationText(-seconds)} ago`;
}

/**
 * Formats an instant: only the time if it is today, otherwise with the day, and with the year if it
 * is not the current year.
 */
export function momentText(instant: string, now = new Date()): string {
  const at = new Date(instant);
  if (at.toDateString() === now.toDateString()) return shortClock.format(at);
  const date = at.getFullYear() === now.getFullYear() ? day : dayOfYear;
  return `${date.format(at)}, ${shortClock.format(at)}`;
}

/** Formats an instant to the second, for a timeline. */
export function secondText(instant: string): string {
  return clock.format(new Date(instant));
}

/** Formats a month such as `2026-11` as "November 2026". */
export const monthText = (text: string): string => month.format(new Date(`${text}-01T12:00:00`));

export function dateText(instant: string): string {
  return dayOfYear.format(new Date(instant));
}

/** Renders the parts of a text between backticks, such as commands and settings, as code. */
export function withCode(text: string): (string | TemplateResult)[] {
  return text.split('`').map((part, at) => (at % 2 === 1 ? html`<code>${part}</code>` : part));
}
