import type { WorklistRow } from '../contract.ts';
import { html, nothing, ref, repeat, styled, type TemplateResult } from './html.ts';
import { addressOf } from './router.ts';
import { visibleRange } from './row-list.ts';
import {
  deliveriesView,
  endpointText,
  glanceView,
  hasUnseenFlag,
  stateChip,
  subjectDetail,
  subjectText,
  waitingView,
} from './row-words.ts';
import { momentText } from './times.ts';
import { counted, given } from './words.ts';

/** Height of a row in `rem`, as `--row` has it. */
const ROW_REM = 3.75;
/** So many rows before the end more are asked for. */
const NEAR_END = 60;

export interface RowTable {
  view(rows: readonly WorklistRow[], whole: boolean): TemplateResult;
  /** Moves the keyboard up or down the list. */
  move(step: number, rows: readonly WorklistRow[]): void;
  open(rows: readonly WorklistRow[], go: (address: string) => void): void;
  toTop(): void;
  /** A row came in above: what the reader looks at stays where it is. */
  grewAbove(): void;
  close(): void;
}

function rowView(row: WorklistRow, place: number, now: Date, focus: (link: Element) => void) {
  const description = row.subject?.shown === 'identity' ? row.subject.studyDescription : '';
  const examined =
    description && row.endpoint === null
      ? given(description)
      : html`${endpointText(row.endpoint)}${description ? html` · ${given(description)}` : nothing}`;
  const about = [row.source, counted(row.objects, 'object'), ...row.tags].join(' · ');
  return html`<tr class=${hasUnseenFlag(row) ? 'flagged' : ''} aria-rowindex=${place + 2}>
    <td>
      <a class="first open" href=${addressOf('study', { id: row.key })} ${ref((link) => link && focus(link))}>
        ${given(subjectText(row.subject))}
      </a>
      <span class="second">${given(subjectDetail(row.subject))}</span>
    </td>
    <td>
      <span class="first">${examined}</span>
      <span class="second" title=${about}>${given(about)}</span>
    </td>
    <td>${stateChip(row.state)} ${row.test ? html`<span class="chip">Test</span>` : nothing}
      ${waitingView(row, now)}</td>
    <td>${glanceView(row)}</td>
    <td>${deliveriesView(row)}</td>
    <td class="number">
      <time class="first" datetime=${row.arrivedAt}>${momentText(row.arrivedAt, now)}</time>
    </td>
  </tr>`;
}

/** The table draws the rows that are on the screen; the others are empty room above and below. */
export function createRowTable({ redraw, nearEnd }: { redraw(): void; nearEnd(): void }): RowTable {
  let box: HTMLElement | null = null;
  let chosen: string | null = null;
  let focusDue = false;
  const rowHeight = () =>
    ROW_REM * Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
  const sized = new ResizeObserver(redraw);

  function place(element: Element | undefined): void {
    const next = element instanceof HTMLElement ? element : null;
    if (next === box) return;
    sized.disconnect();
    box = next;
    if (next) sized.observe(next);
  }

  /** Scrolls as little as brings the row into view. */
  function bringIntoView(index: number): void {
    if (!box) return;
    const height = rowHeight();
    const head = box.querySelector('thead')?.clientHeight ?? height;
    const room = box.clientHeight - head;
    const top = index * height;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + height > box.scrollTop + room) box.scrollTop = top + height - room;
  }

  function focusRow(row: WorklistRow, link: Element): void {
    if (!focusDue || row.key !== chosen || !(link instanceof HTMLElement)) return;
    focusDue = false;
    link.focus({ preventScroll: true });
  }

  return {
    view(rows, whole) {
      const height = rowHeight();
      const seen = {
        top: box?.scrollTop ?? 0,
        height: box?.clientHeight || innerHeight,
        rowHeight: height,
      };
      const { from, to } = visibleRange(seen, rows.length);
      if (!whole && to + NEAR_END > rows.length) queueMicrotask(nearEnd);
      const now = new Date();
      const room = (count: number) =>
        count > 0
          ? html`<tr class="room" aria-hidden="true"><td colspan="6" ${styled({ height: `${count * height}px` })}></td></tr>`
          : nothing;
      return html`<div class="rows" tabindex="0" role="region" aria-label="Studies" @scroll=${redraw} ${ref(place)}>
        <table aria-rowcount=${whole ? rows.length + 1 : -1}>
          <thead>
            <tr aria-rowindex="1">
              <th class="patient">Patient</th>
              <th class="study">Examination</th>
              <th class="state">State</th>
              <th>Result at a glance</th>
              <th class="sent">Deliveries</th>
              <th class="number when">Arrived</th>
            </tr>
          </thead>
          <tbody>
            ${room(from)}
            ${repeat(
              rows.slice(from, to),
              ({ key }) => key,
              (row, index) => rowView(row, from + index, now, (link) => focusRow(row, link)),
            )}
            ${room(rows.length - to)}
          </tbody>
        </table>
      </div>`;
    },
    move(step, rows) {
      if (rows.length === 0) return;
      const at = rows.findIndex(({ key }) => key === chosen);
      const next = at < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, at + step));
      chosen = rows[next]?.key ?? null;
      focusDue = true;
      bringIntoView(next);
      redraw();
    },
    open(rows, go) {
      const row = rows.find(({ key }) => key === chosen);
      if (row) go(addressOf('study', { id: row.key }));
    },
    toTop() {
      if (box) box.scrollTop = 0;
    },
    grewAbove() {
      if (box && box.scrollTop > 0) box.scrollTop += rowHeight();
    },
    close: () => sized.disconnect(),
  };
}
