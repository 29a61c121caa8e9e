import { methodEntry } from '../../concepts/concepts.ts';
import type { Measurement, Result } from '../../result/envelope.ts';
import { withSubject } from '../../result/render/report-lines.ts';
import { doubtOf } from '../../result/render/statement.ts';
import { centileText, unitText, zScoreText } from '../../result/render/unit-text.ts';
import { plainNumber, valueText } from '../../result/render/value-text.ts';
import { countingValues } from '../../result/standing.ts';
import type { Cell, Column } from './page.ts';
import { ALERT, MUTED } from './page.ts';

/**
 * Name, value, reference, centile, z-score and method; the columns for centile and z-score are left
 * out where no value has them.
 */
const COLUMNS: readonly Column[] = [
  { title: 'Measurement', width: 132 },
  { title: 'Value', width: 101, align: 'right' },
  { title: 'Reference', width: 84, align: 'right' },
  { title: 'Centile', width: 40, align: 'right' },
  { title: 'z', width: 34, align: 'right' },
  { title: 'Method', width: 108 },
];
const CENTILE_COLUMNS = [3, 4];

/**
 * The mark before a value that is below its reference range (L), above it (H) or otherwise abnormal
 * (A).
 */
const MARKS = { N: '', L: '\u25bc ', H: '\u25b2 ', A: '\u25cf ' } as const;

export const MARK_LEGEND =
  '± half width of the 95 % interval; \u25bc below, \u25b2 above the reference range; \u25cf abnormal. An unmarked value without a range was not rated.';

function rangeText(measurement: Measurement): string {
  const { low = null, high = null } = measurement.reference ?? {};
  const number = (value: number) => plainNumber(measurement, value);
  const bound = (value: number) => `${number(value)} ${unitText(measurement.unit)}`.trimEnd();
  if (low !== null && high !== null) return `${number(low)} - ${bound(high)}`;
  if (low !== null) return `from ${bound(low)}`;
  return high === null ? '' : `up to ${bound(high)}`;
}

/**
 * Returns the value as text, with the half width of its 95 % interval where that is known: "162.4 ±
 * 5.1 mm".
 */
function intervalText(measurement: Measurement): string {
  const { uncertainty, unit } = measurement;
  const value = valueText(measurement);
  if (uncertainty === null) return value;
  if (unit === 'd') return `${value} ± ${uncertainty.toFixed(0)} days`;
  const [number = '', ...unitWords] = value.split(' ');
  return [number, '±', plainNumber(measurement, uncertainty), ...unitWords].join(' ');
}

function methodText({ method, derivation, inputs }: Measurement): string {
  const text = methodEntry(method)?.text ?? method;
  // A mean over the beats of one image has no input measurements.
  const repeated = (derivation === 'mean' || derivation === 'median') && inputs.length > 0;
  return repeated ? `${derivation} of ${inputs.length}; ${text}` : text;
}

function valueCells(measurement: Measurement): Cell[] {
  const { reference, interpretation, method } = measurement;
  const mark = interpretation ? MARKS[interpretation] : '';
  const emphasis = mark ? { colour: ALERT, bold: true } : {};
  const name = withSubject(measurement.label, measurement);
  return [
    { text: name, ...emphasis },
    { text: `${mark}${intervalText(measurement)}`, ...emphasis },
    { text: rangeText(measurement) },
    { text: reference?.centile == null ? '' : centileText(reference.centile), ...emphasis },
    { text: reference?.z_score == null ? '' : zScoreText(reference.z_score) },
    { text: method ? methodText(measurement) : '', colour: MUTED },
  ];
}

function notAcceptedCells(measurement: Measurement): Cell[] {
  return [
    { text: withSubject(measurement.label, measurement), colour: MUTED },
    { text: 'not accepted', colour: MUTED },
    { text: '' },
    { text: '' },
    { text: '' },
    { text: doubtOf(measurement) ?? '', colour: MUTED },
  ];
}

/**
 * Sections whose values are inputs of other values. They come last, after the values that a reader
 * looks for.
 */
const INTERMEDIATE = new Set(['segment-chambers']);

/** One part of the table: the values of a section. */
interface MeasurementGroup {
  /** Empty where the values belong to no section. */
  title: string;
  rows: Cell[][];
}

/**
 * Values that were not accepted are left out where their quantity has an accepted value; where it
 * has none, only the first is named.
 */
function rowsOf(standing: readonly Measurement[]): Measurement[] {
  const name = (one: Measurement) => withSubject(one.label, one);
  const told = new Set(standing.filter(({ quality }) => quality === 'accepted').map(name));
  return standing.filter((one) => {
    if (one.quality === 'accepted') return true;
    const first = !told.has(name(one));
    told.add(name(one));
    return first;
  });
}

/**
 * Returns a row for each value that counts for its quantity, grouped by section in the order of the
 * result. The row of a value that was not accepted shows no number.
 */
export function measurementTable(result: Pick<Result, 'measurements' | 'sections'>): {
  columns: readonly Column[];
  groups: MeasurementGroup[];
} {
  const standing = rowsOf(countingValues(result.measurements));
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
        .map((measurement) => {
          const cells =
            measurement.quality === 'accepted'
              ? valueCells(measurement)
              : notAcceptedCells(measurement);
          return shown.flatMap((i) => cells[i] ?? []);
        }),
    }));
  return { columns, groups };
}
