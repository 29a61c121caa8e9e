import { html, type TemplateResult } from './html.ts';

/** How a state is shown: with a word and a mark, never by colour alone (WCAG 1.4.1). */
export type Tone = 'critical' | 'attention' | 'good' | 'active' | 'quiet';

const MARKS = {
  critical: '▲',
  attention: '◆',
  good: '✓',
  active: '●',
  quiet: '–',
} as const satisfies Record<Tone, string>;

/** A state in words with its mark. */
export function chip(tone: Tone, text: string): TemplateResult {
  return html`<span class="chip ${tone}"><span aria-hidden="true">${MARKS[tone]}</span> ${text}</span>`;
}

/** Text that a DICOM header or a client gave: shown as text, kept apart from marks of direction. */
export function given(text: string): TemplateResult {
  return html`<bdi class="given">${text}</bdi>`;
}

/** "1 study", "3 studies"; the plural is given where it is not an added s. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}

/** What a page shows where there is nothing. */
export function empty(text: string, more: unknown = null): TemplateResult {
  return html`<div class="empty"><p>${text}</p>${more}</div>`;
}
