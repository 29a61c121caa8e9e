import type { Measured, MeasurementRow } from '../contract.ts';

/** Pure: "62 - 80" in the decimals of the quantity; one bound as "from" or "up to". */
export function rangeText(reference: Measured['reference'], decimals: number): string {
  if (!reference) return '';
  const { low, high } = reference;
  if (low !== null && high !== null) return `${low.toFixed(decimals)} – ${high.toFixed(decimals)}`;
  if (low !== null) return `from ${low.toFixed(decimals)}`;
  return high === null ? '' : `up to ${high.toFixed(decimals)}`;
}

/** Pure: how far the model is from the other value, with its sign; '' where one is missing. */
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
 * Pure: what tells a row from others of its name: fetus, side and phase; the site only where another
 * row would read the same.
 */
export function placeText(row: MeasurementRow, all: readonly MeasurementRow[]): string {
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

/** Longer remarks stand once below the table, with a number at each value. */
const SHORT_NOTE = 24;

/** Pure: the longer remarks of a table in the order of their numbers. */
export function notesOf(rows: readonly MeasurementRow[]): string[] {
  const notes = rows.flatMap(({ model }) => (model?.note ? [model.note] : []));
  return [...new Set(notes.filter((note) => note.length > SHORT_NOTE))];
}

/** Pure: how it was measured, with a short remark. */
export function methodText(measured: Measured | null): string {
  const note = measured?.note && measured.note.length <= SHORT_NOTE ? measured.note : '';
  return [measured?.method ?? '', note].filter(Boolean).join(', ');
}
