import type { Measured, MeasurementRow, ResultView } from '../contract.ts';
import { html, nothing, type TemplateResult } from './html.ts';
import { counted } from './words.ts';

/**
 * Formats a range, such as "62 – 80", with the quantity's decimals; a single bound is written as
 * "from" or "up to".
 */
export function rangeText(reference: Measured['reference'], decimals: number): string {
  if (!reference) return '';
  const { low, high } = reference;
  if (low !== null && high !== null) return `${low.toFixed(decimals)} – ${high.toFixed(decimals)}`;
  if (low !== null) return `from ${low.toFixed(decimals)}`;
  return high === null ? '' : `up to ${high.toFixed(decimals)}`;
}

/**
 * Formats the model's value minus the other value, with its sign; '' if either is missing or the
 * model's value was not accepted.
 */
export function differenceText(
  model: Measured | null,
  other: { value: number } | null,
  decimals: number,
): string {
  if (!model || !other || model.quality !== 'accepted') return '';
  const difference = model.value - other.value;
  const text = Math.abs(difference).toFixed(decimals);
  return `${Number(text) === 0 ? '±' : difference > 0 ? '+' : '−'}${text}`;
}

/**
 * Returns what distinguishes a row from others with the same name: fetus, side and phase, and the
 * site if two rows would otherwise look the same.
 */
function placeText(row: MeasurementRow, all: readonly MeasurementRow[]): string {
  const { label, site, laterality, fetus, phase } = row;
  const alike = all.some(
    (other) =>
      other !== row &&
      other.label === label &&
      other.laterality === laterality &&
      other.fetus === fetus &&
      other.phase === phase,
  );
  const parts = [
    fetus ? `fetus ${fetus}` : '',
    laterality ?? '',
    alike ? (site ?? '') : '',
    phase ?? '',
  ];
  return parts
    .filter((part) => part && !label.toLowerCase().includes(part.toLowerCase()))
    .join(', ');
}

/**
 * Maximum length of a remark in the table. Longer remarks are listed once below the table and
 * referred to by number.
 */
const SHORT_NOTE = 24;

/** Returns a table's longer remarks in the order of their numbers. */
function notesOf(rows: readonly MeasurementRow[]): string[] {
  const notes = rows.flatMap(({ model }) => (model?.note ? [model.note] : []));
  return [...new Set(notes.filter((note) => note.length > SHORT_NOTE))];
}

/** Describes how a value was measured, with its remark if that is short. */
function methodText(measured: Measured | null): string {
  const note = measured?.note && measured.note.length <= SHORT_NOTE ? measured.note : '';
  return [measured?.method ?? '', note].filter(Boolean).join(', ');
}

/** Marks for values below, above or otherwise outside the reference, as in the report. */
export const INTERPRETED = {
  N: { mark: '', text: '' },
  L: { mark: '▼', text: 'below the reference' },
  H: { mark: '▲', text: 'above the reference' },
  A: { mark: '●', text: 'abnormal' },
} as const;

interface MeasurementTable {
  result: ResultView;
  onImage(measured: Measured): boolean;
  show(measured: Measured): void;
  /** Ids of the rows that are expanded to show further values. */
  opened: ReadonlySet<string>;
  toggle(row: string): void;
}

/** Optional columns, shown only if at least one row has a value in them. */
interface Columns {
  cart: boolean;
  prior: boolean;
}

/** Renders a value and, after it, the half width of its interval (`spread`). */
function valueView(
  measured: Measured | null,
  unit: string,
  spread = '',
): TemplateResult | typeof nothing {
  if (!measured) return nothing;
  const below = spread ? html`<span class="second">${spread}</span>` : nothing;
  if (measured.quality === 'review') {
    return html`${measured.text} <span class="unit">${unit}</span>${below}
      <span class="second">${measured.doubt}</span>`;
  }
  if (measured.quality !== 'accepted') {
    return html`<span class="soft">not accepted</span>
      <span class="second">${measured.doubt}</span>`;
  }
  const { mark, text } = INTERPRETED[measured.interpretation ?? 'N'];
  return html`<span class=${mark ? 'outside' : ''}>
      ${mark ? html`<span aria-hidden="true">${mark}</span><span class="hidden-text">${text}: </span>` : nothing}
      ${measured.text} <span class="unit">${unit}</span>
    </span>${below}`;
}

function nameView(row: MeasurementRow, table: MeasurementTable): TemplateResult {
  const { measurements } = table.result;
  const seen = [row.model, row.cart, row.given, ...row.more].find(
    (one) => one && table.onImage(one),
  );
  const place = placeText(row, measurements);
  const number = notesOf(measurements).indexOf(row.model?.note ?? '') + 1;
  return html`${
    seen
      ? html`<button type="button" class="link" @click=${() => table.show(seen)}>${row.label}</button>`
      : row.label
  }${place ? html`<span class="soft">, ${place}</span>` : nothing}
  ${number > 0 ? html`<sup><a class="note-mark" href="#measurement-notes">${number}</a></sup>` : nothing}`;
}

/**
 * Renders a cell of a number. On a phone, where each row is a card, the cell shows its label, and
 * an empty cell is left out.
 */
function numberCell(
  label: string,
  shown: TemplateResult | string | number | null | undefined,
  below: TemplateResult | string | null | undefined | false,
): TemplateResult {
  return shown == null || shown === ''
    ? html`<td class="number blank"></td>`
    : html`<td class="number" data-label=${label}>${shown} ${below || nothing}</td>`;
}

function rowView(row: MeasurementRow, table: MeasurementTable, columns: Columns): TemplateResult {
  const { model, cart, given, prior, unitText, decimals, more } = row;
  const judged = model ?? cart ?? given;
  const reference = judged?.reference ?? null;
  // An age is shown in weeks, but its uncertainty in days.
  const spreadUnit = row.unit === 'd' ? ' days' : '';
  const spread = model?.uncertainty ? `± ${model.uncertainty.toFixed(decimals)}${spreadUnit}` : '';
  const open = table.opened.has(row.id);
  const difference = (other: { value: number } | null) =>
    html`<span class="second">${differenceText(model, other, decimals)}</span>`;
  return html`<tr>
      <th scope="row">${nameView(row, table)}</th>
      <td class="number value">
        ${valueView(model ?? given, unitText, spread)}
        ${model?.provenance === 'person' ? html`<span class="second">by the reader</span>` : nothing}
      </td>
      ${numberCell(
        'Reference',
        reference && rangeText(reference, decimals),
        reference?.chart &&
          html`<span class="second chart" title=${reference.chart}>${reference.chart}</span>`,
      )}
      ${numberCell(
        'Centile',
        reference?.centile,
        reference?.zScore != null && html`<span class="second">z ${reference.zScore}</span>`,
      )}
      ${columns.cart ? numberCell('Machine', cart && html`${valueView(cart, unitText)}`, difference(cart)) : nothing}
      ${columns.prior ? numberCell('Prior', prior?.text, difference(prior)) : nothing}
      <td class="method">
        <span class="small soft">${methodText(judged)}</span>
        ${
          more.length > 0
            ? html`<button type="button" class="link small" aria-expanded=${open} @click=${() => table.toggle(row.id)}>
                ${open ? 'Fewer' : `${more.length} more`}
              </button>`
            : nothing
        }
      </td>
    </tr>
    ${open ? more.map((one) => furtherRow(one, row, table, columns)) : nothing}`;
}

const PROVENANCE = {
  model: 'AI',
  'image-analysis': 'AI',
  'cart-sr': 'ultrasound machine',
  input: 'given with the request',
  person: 'by a person',
} as const satisfies Record<Measured['provenance'], string>;

/**
 * Renders a further value of a row: one from which the row's value was computed, or one that the
 * result did not use.
 */
function furtherRow(
  one: Measured,
  row: MeasurementRow,
  table: MeasurementTable,
  { cart, prior }: Columns,
): TemplateResult {
  const name = `${PROVENANCE[one.provenance]}, ${one.derivation}`;
  return html`<tr class="further">
    <th scope="row">
      ${
        table.onImage(one)
          ? html`<button type="button" class="link" @click=${() => table.show(one)}>${name}</button>`
          : name
      }
    </th>
    <td class="number value">${valueView(one, row.unitText)}</td>
    <td class="blank" colspan=${2 + Number(cart) + Number(prior)}></td>
    <td class="method"><span class="small soft">${methodText(one)}</span></td>
  </tr>`;
}

/**
 * Renders the model's values and the machine values side by side, with the reference and the prior
 * value, by section.
 */
export function measurementsView(table: MeasurementTable): TemplateResult {
  const { result } = table;
  const used = result.sections.filter(({ id }) =>
    result.measurements.some(({ section }) => section === id),
  );
  const notes = notesOf(result.measurements);
  const columns = {
    cart: result.measurements.some(({ cart }) => cart !== null),
    prior: result.measurements.some(({ prior }) => prior !== null),
  };
  const prior = result.prior ? `${counted(result.prior.daysBefore, 'day')} before` : 'Prior';
  return html`<section class="panel" id="measurements" aria-labelledby="measurements-head">
    <header>
      <h2 id="measurements-head">Measurements</h2>
      <span class="small soft push">▲ above, ▼ below the reference, ● abnormal; values without a reference range are not marked</span>
    </header>
    <div class="scrolls" tabindex="0" role="region" aria-label="Table of measurements">
      <table class="measurements as-cards">
        <thead>
          <tr>
            <th scope="col">Measurement</th>
            <th scope="col" class="number">Value</th>
            <th scope="col" class="number">Reference</th>
            <th scope="col" class="number">Centile</th>
            ${columns.cart ? html`<th scope="col" class="number">Machine</th>` : nothing}
            ${columns.prior ? html`<th scope="col" class="number">${prior}</th>` : nothing}
            <th scope="col">Method</th>
          </tr>
        </thead>
        ${used.map(
          ({ id, title }) => html`<tbody>
            <tr class="group"><th colspan=${5 + Number(columns.cart) + Number(columns.prior)} scope="rowgroup">${title}</th></tr>
            ${result.measurements
              .filter(({ section }) => section === id)
              .map((row) => rowView(row, table, columns))}
          </tbody>`,
        )}
      </table>
    </div>
    ${notes.length > 0 ? html`<ol class="notes small soft" id="measurement-notes">${notes.map((note) => html`<li>${note}</li>`)}</ol>` : nothing}
  </section>`;
}
