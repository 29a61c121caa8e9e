import type { WorklistPage, WorklistQuery, WorklistRow } from '../contract.ts';
import { html, nothing, ref, repeat, styled, type TemplateResult } from './html.ts';
import { addressOf } from './router.ts';
import {
  deliveriesView,
  endpointText,
  examinationText,
  glanceView,
  hasUnseenFlag,
  identitySize,
  readersText,
  stateChip,
  subjectDetail,
  subjectText,
  waitingView,
} from './row-words.ts';
import { counted, given, momentText } from './words.ts';

/**
 * The loaded worklist rows: those with unacknowledged flags, then the others, each newest first.
 */
export interface RowList {
  flagged: readonly WorklistRow[];
  rows: readonly WorklistRow[];
  nextCursor: string | null;
}

export const NO_ROWS: RowList = { flagged: [], rows: [], nextCursor: null };

export const firstPage = ({ critical, rows, nextCursor }: WorklistPage): RowList => ({
  flagged: critical,
  rows,
  nextCursor,
});

/** Appends the next page to the list; a row that is already in the list keeps its place. */
export function withPage(list: RowList, { rows, nextCursor }: WorklistPage): RowList {
  const known = new Set([...list.flagged, ...list.rows].map(({ key }) => key));
  return {
    ...list,
    rows: [...list.rows, ...rows.filter(({ key }) => !known.has(key))],
    nextCursor,
  };
}

/**
 * Returns whether a row matches the filter; null for a search, which only the server can evaluate
 * because it uses data that is not in the row.
 */
export function belongs(row: WorklistRow, query: WorklistQuery): boolean | null {
  const states = query.state === undefined ? [] : [query.state].flat();
  if (states.length > 0 && !states.includes(row.state)) return false;
  if (query.source && row.source !== query.source) return false;
  if (query.endpoint && row.endpoint !== query.endpoint) return false;
  if (query.tag && !row.tags.includes(query.tag)) return false;
  if (query.critical && !hasUnseenFlag(row)) return false;
  if (query.signature && signatureOf(row) !== query.signature) return false;
  return query.q ? null : true;
}

/** Returns whether a result is signed; null for a row without a result, or if it was withdrawn. */
function signatureOf({ review }: WorklistRow): WorklistQuery['signature'] | null {
  if (review === null || review === 'withdrawn') return null;
  return review === 'signed' || review === 'amended' ? 'signed' : 'unsigned';
}

/** Compares two rows for sorting: newest first, then by key. */
function before(one: WorklistRow, other: WorklistRow): number {
  if (one.arrivedAt !== other.arrivedAt) return one.arrivedAt < other.arrivedAt ? 1 : -1;
  return one.key < other.key ? 1 : -1;
}

/**
 * Returns the list after a row has changed. A row that no longer matches is removed. A row that
 * belongs on a page that is not loaded yet is omitted.
 */
export function withRow(list: RowList, row: WorklistRow, stays: boolean): RowList {
  const without = (rows: readonly WorklistRow[]) => rows.filter(({ key }) => key !== row.key);
  const [flagged, rows] = [without(list.flagged), without(list.rows)];
  if (!stays) return { ...list, flagged, rows };
  if (hasUnseenFlag(row)) return { ...list, flagged: [...flagged, row].sort(before), rows };
  const last = rows.at(-1);
  const notLoaded = list.nextCursor !== null && last !== undefined && before(row, last) > 0;
  return { ...list, flagged, rows: notLoaded ? rows : [...rows, row].sort(before) };
}

/**
 * Returns the range of rows on the screen, with a few more above and below. All rows have the same
 * height.
 */
export function visibleRange(
  { top, height, rowHeight }: { top: number; height: number; rowHeight: number },
  count: number,
): { from: number; to: number } {
  const more = 8;
  const from = Math.max(0, Math.floor(top / rowHeight) - more);
  return {
    from: Math.min(from, count),
    to: Math.min(count, Math.ceil((top + height) / rowHeight) + more),
  };
}

/** More rows are requested once fewer than this many remain below the screen. */
const NEAR_END = 60;

function rowView(row: WorklistRow, place: number, now: Date, focus: (link: Element) => void) {
  const examined = examinationText(row) || endpointText(row);
  const reading = readersText(row.readers);
  const about = [row.source, counted(row.objects, 'image object'), ...row.tags].join(' · ');
  return html`<tr class=${hasUnseenFlag(row) ? 'flagged' : ''} aria-rowindex=${place + 2}>
    <td class=${`who ${identitySize(subjectText(row.subject) + subjectDetail(row.subject))}`}>
      <a class="open" href=${addressOf('study', { id: row.key })} ${ref((link) => link && focus(link))}>
        ${given(subjectText(row.subject))}
      </a>
      <span class="small soft">${given(subjectDetail(row.subject))}</span>
    </td>
    <td class="examination">
      <span class="first">${given(examined)}</span>
      <span class="second" title=${about}>${given(about)}</span>
    </td>
    <td>
      <span class="chips">
        ${stateChip(row)} ${row.test ? html`<span class="chip">Test</span>` : nothing}
        ${deliveriesView(row)}
      </span>
      ${reading ? html`<span class="second" title=${reading}>${given(reading)}</span>` : waitingView(row, now)}
    </td>
    <td class="result">${glanceView(row)}</td>
    <td class="number">
      <time class="first" datetime=${row.arrivedAt}>${momentText(row.arrivedAt, now)}</time>
    </td>
  </tr>`;
}

/**
 * The table of the worklist. It draws only the rows on the screen; empty space above and below
 * replaces the others.
 */
export class RowTable {
  readonly #redraw: () => void;
  readonly #nearEnd: () => void;
  readonly #sized: ResizeObserver;
  #box: HTMLElement | null = null;
  /** Key of the row that was chosen with the keyboard. */
  #chosen: string | null = null;
  #focusDue = false;

  /** @param nearEnd is called when the last rows are about to be shown and more can be loaded. */
  constructor({ redraw, nearEnd }: { redraw(): void; nearEnd(): void }) {
    this.#redraw = redraw;
    this.#nearEnd = nearEnd;
    this.#sized = new ResizeObserver(redraw);
  }

  /** @param whole true if no more rows can be loaded. */
  view(rows: readonly WorklistRow[], whole: boolean): TemplateResult {
    const height = rowHeight();
    const seen = {
      top: this.#box?.scrollTop ?? 0,
      height: this.#box?.clientHeight || innerHeight,
      rowHeight: height,
    };
    const { from, to } = visibleRange(seen, rows.length);
    if (!whole && to + NEAR_END > rows.length) queueMicrotask(this.#nearEnd);
    const now = new Date();
    const room = (count: number) =>
      count > 0
        ? html`<tr class="room" aria-hidden="true"><td colspan="5" ${styled({ height: `${count * height}px` })}></td></tr>`
        : nothing;
    return html`<div class="rows" tabindex="0" role="region" aria-label="Studies" @scroll=${this.#redraw} ${ref(this.#place)}>
        <table aria-rowcount=${whole ? rows.length + 1 : -1}>
          <thead>
            <tr aria-rowindex="1">
              <th class="patient">Patient</th>
              <th class="study">Examination</th>
              <th class="state">Status</th>
              <th>Result</th>
              <th class="number when">Arrived</th>
            </tr>
          </thead>
          <tbody>
            ${room(from)}
            ${repeat(
              rows.slice(from, to),
              ({ key }) => key,
              (row, index) => rowView(row, from + index, now, (link) => this.#focusRow(row, link)),
            )}
            ${room(rows.length - to)}
          </tbody>
        </table>
      </div>`;
  }

  /** Chooses the row `step` rows further on. */
  move(step: number, rows: readonly WorklistRow[]): void {
    if (rows.length === 0) return;
    const at = rows.findIndex(({ key }) => key === this.#chosen);
    const next = at < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, at + step));
    this.#chosen = rows[next]?.key ?? null;
    this.#focusDue = true;
    this.#bringIntoView(next);
    this.#redraw();
  }

  /** Opens the study of the chosen row. */
  open(rows: readonly WorklistRow[], go: (address: string) => void): void {
    const row = rows.find(({ key }) => key === this.#chosen);
    if (row) go(addressOf('study', { id: row.key }));
  }

  toTop(): void {
    if (this.#box) this.#box.scrollTop = 0;
  }

  /** Keeps the rows on the screen in place after a row was inserted above them. */
  grewAbove(): void {
    if (this.#box && this.#box.scrollTop > 0) this.#box.scrollTop += rowHeight();
  }

  close(): void {
    this.#sized.disconnect();
  }

  /**
   * Receives the scrolling element from `ref`. It is a property rather than an inline function,
   * because `ref` calls a new function again at every render.
   */
  readonly #place = (element: Element | undefined): void => {
    const next = element instanceof HTMLElement ? element : null;
    if (next === this.#box) return;
    this.#sized.disconnect();
    this.#box = next;
    if (next) this.#sized.observe(next);
  };

  /** Scrolls by the smallest distance that brings the row into view. */
  #bringIntoView(index: number): void {
    const box = this.#box;
    if (!box) return;
    const height = rowHeight();
    const head = box.querySelector('thead')?.clientHeight ?? height;
    const room = box.clientHeight - head;
    const top = index * height;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + height > box.scrollTop + room) box.scrollTop = top + height - room;
  }

  #focusRow(row: WorklistRow, link: Element): void {
    if (!this.#focusDue || row.key !== this.#chosen || !(link instanceof HTMLElement)) return;
    this.#focusDue = false;
    link.focus({ preventScroll: true });
  }
}

/**
 * Returns the row height in pixels. The style sheet defines it in `rem`, depending on the screen
 * width.
 */
function rowHeight(): number {
  const root = getComputedStyle(document.documentElement);
  return Number.parseFloat(root.getPropertyValue('--row')) * Number.parseFloat(root.fontSize);
}
