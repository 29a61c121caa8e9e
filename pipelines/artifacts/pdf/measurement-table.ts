import { methodEntry } from '../../concepts/concepts.ts';
import type { Measurement, Result } from '../../result/envelope.ts';
import { isConfirmed, isSummary } from '../../result/measured.ts';
import { numberText } from '../../result/render/number-text.ts';
import { withSubject } from '../../result/render/obstetric/shared.ts';
import { doubtOf, isShown, statedMethod } from '../../result/render/statement.ts';
import { centileText, withUnit, zScoreText } from '../../result/render/unit-text.ts';
import { marginText, plainNumber, valueText } from '../../result/render/value-text.ts';
import { INTERMEDIATE } from '../../result/standing.ts';
import type { Cell, Column } from './page.ts';
import { MUTED } from './page.ts';

/** The centile and z columns are left out if no value has a centile or a z-score. */
const COLUMNS: readonly Column[] = [
  { title: 'Measurement', width: 129 },
  { title: 'Value', width: 108, align: 'right' },
  { title: 'Reference', width: 84, align: 'right' },
  { title: 'Centile', width: 40, align: 'right' },
  { title: 'z', width: 28, align: 'right' },
  { title: 'Method', width: 110 },
];
const CENTILE_COLUMNS = [3, 4];

/**
 * Marks in front of a value below its reference range (L), above it (H) or otherwise abnormal (A).
 */
export const MARKS = { N: '', L: '\u25bc ', H: '\u25b2 ', A: '\u25cf ' } as const;

export const MARK_LEGEND =
  '± half width of the 95 % interval; \u25bc below, \u25b2 above the reference range; \u25cf abnormal. A value outside its range has no mark if its interval reaches into the range. A value without a mark and a range was not rated.';

/**
 * Returns the reference range as text. The unit can be left out where the value beside it already
 * has one.
 */
export function rangeText(measurement: Measurement, isUnitShown = true): string {
  const { low = null, high = null } = measurement.reference ?? {};
  const number = (value: number) => plainNumber(measurement, value);
  const bound = (value: number) =>
    isUnitShown ? withUnit(number(value), measurement.unit) : number(value);
  if (low !== null && high !== null) return `${number(low)} – ${bound(high)}`;
  if (low !== null) return `from ${bound(low)}`;
  return high === null ? '' : `up to ${bound(high)}`;
}

/** Returns the value as text, with the half width of its 95 % interval if known: "162.4 ± 5.1 mm". */
function intervalText(measurement: Measurement): string {
  const margin = marginText(measurement);
  const value = valueText(measurement);
  const { unit } = measurement;
  if (margin === null) return value;
  if (unit === 'd') return `${value} ± ${margin} days`;
  return withUnit(`${numberText(measurement)} ± ${margin}`, unit);
}

/**
 * Text printed before the method. It marks values that are listed in addition to the value that was
 * used.
 */
const STANDING = {
  ...{ counts: '', proposed: '', withheld: '' },
  ...{ repeat: 'repeat', 'part-of-mean': 'part of a mean or median', comparison: 'for comparison' },
} as const satisfies Record<Measurement['standing'], string>;

const SAME_METHOD = 'as above';

const nameOf = (one: Measurement) => withSubject(one.label, one);

/**
 * Returns how a value was obtained. The method of the row above is not repeated, unless that row
 * begins with another standing, such as "repeat": "as above" would then seem to include it.
 */
function methodText(
  measurement: Measurement,
  above: Measurement | undefined,
  parts: readonly Measurement[],
): string {
  const { derivation, inputs, standing } = measurement;
  const method = statedMethod(measurement);
  const isSame =
    above !== undefined &&
    isShown(above) &&
    statedMethod(above) === method &&
    (above.standing === standing || STANDING[above.standing] === '');
  const text = method === null ? 'entered by the reader' : (methodEntry(method)?.text ?? method);
  // A mean over the beats of one image has no input measurements, so the number of beats is not
  // printed.
  const repeated = isSummary(measurement) && inputs.length > 0;
  const listed = parts.length > 0 ? ` (${parts.map(numberText).join(', ')})` : '';
  const of = [STANDING[standing], repeated ? `${derivation} of ${inputs.length}${listed}` : ''];
  return [...of, isSame ? '' : text].filter(Boolean).join('; ') || SAME_METHOD;
}

function valueCells(
  measurement: Measurement,
  above: Measurement | undefined,
  parts: readonly Measurement[],
): Cell[] {
  const { reference, interpretation, method } = measurement;
  const mark = interpretation ? MARKS[interpretation] : '';
  const emphasis = mark ? { bold: true } : {};
  const proposal = measurement.quality === 'review';
  const shown = proposal ? { colour: MUTED } : emphasis;
  return [
    { text: nameOf(measurement), ...shown },
    { text: `${mark}${intervalText(measurement)}${proposal ? '\nneeds review' : ''}`, ...shown },
    { text: rangeText(measurement) },
    { text: reference?.centile == null ? '' : centileText(reference.centile), ...emphasis },
    { text: reference?.z_score == null ? '' : zScoreText(reference.z_score) },
    { text: method ? methodText(measurement, above, parts) : '', colour: MUTED },
  ];
}

function notAcceptedCells(measurement: Measurement): Cell[] {
  return [
    { text: nameOf(measurement), colour: MUTED },
    { text: 'not accepted', colour: MUTED },
    { text: '' },
    { text: '' },
    { text: '' },
    { text: doubtOf(measurement) ?? '', colour: MUTED },
  ];
}

interface MeasurementGroup {
  /** Empty if the values belong to no section. */
  title: string;
  rows: Cell[][];
}

/**
 * Returns the parts of a mean or median that its own row lists: all of them if they measure the same
 * quantity, are as certain as the mean and no person decided on them; otherwise none.
 */
function listedParts(summary: Measurement, all: readonly Measurement[]): Measurement[] {
  const parts = all.filter(
    (one) =>
      summary.inputs.includes(one.id) &&
      one.standing === 'part-of-mean' &&
      nameOf(one) === nameOf(summary) &&
      isShown(one) &&
      one.quality === summary.quality &&
      !isConfirmed(one),
  );
  return parts.length === summary.inputs.length ? parts : [];
}

/**
 * Leaves out values whose number is not printed (neither accepted nor for review) if another value
 * of the same quantity is printed. If no value of a quantity is printed, only the first is kept, so
 * that the quantity still has a row.
 */
function rowsOf(standing: readonly Measurement[]): Measurement[] {
  const listed = new Set(standing.filter(isShown).map(nameOf));
  return standing.filter((one) => {
    if (isShown(one)) return true;
    const first = !listed.has(nameOf(one));
    listed.add(nameOf(one));
    return first;
  });
}

/**
 * Returns the rows of the table, including repeats, grouped by section. The sections have the order
 * of the result, but those with inputs of other values (`INTERMEDIATE`) come last. A row shows a
 * number only if its value was accepted or needs review. The parts of a mean or median are listed in
 * its row if possible (`listedParts`).
 */
export function measurementTable(result: Pick<Result, 'measurements' | 'sections'>): {
  columns: readonly Column[];
  groups: MeasurementGroup[];
} {
  const parts = new Map(
    result.measurements.map((one) => [one.id, listedParts(one, result.measurements)]),
  );
  const inOtherRows = new Set([...parts.values()].flat());
  const standing = rowsOf(result.measurements.filter((one) => !inOtherRows.has(one)));
  const charted = standing.some(
    ({ reference }) => reference?.centile != null || reference?.z_score != null,
  );
  const shown = COLUMNS.flatMap((_, i) => (charted || !CENTILE_COLUMNS.includes(i) ? [i] : []));
  const freed = charted ? 0 : CENTILE_COLUMNS.reduce((sum, i) => sum + (COLUMNS[i]?.width ?? 0), 0);
  const columns = shown.flatMap((i) => {
    const column = COLUMNS[i];
    if (!column) return [];
    const wider = column.title === 'Method' || column.title === 'Measurement' ? freed / 2 : 0;
    return [{ ...column, width: column.width + wider }];
  });
  const order = (id: string) => {
    const place = result.sections.findIndex((section) => section.id === id);
    return INTERMEDIATE.has(id) ? result.sections.length + place : place;
  };
  const ids = [...new Set(standing.map(({ section }) => section))];
  const groups = ids
    .toSorted((one, other) => order(one) - order(other))
    .map((id) => ({
      title: result.sections.find((section) => section.id === id)?.title ?? '',
      rows: standing
        .filter(({ section }) => section === id)
        .map((measurement, at, own) => {
          const cells = isShown(measurement)
            ? valueCells(measurement, own[at - 1], parts.get(measurement.id) ?? [])
            : notAcceptedCells(measurement);
          return shown.flatMap((i) => cells[i] ?? []);
        }),
    }));
  return { columns, groups };
}
