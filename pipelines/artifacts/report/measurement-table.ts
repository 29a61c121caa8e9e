import { methodEntry } from '../../result/concepts.ts';
import type { Measurement, Result } from '../../result/envelope.ts';
import { standingValues } from '../standing-values.ts';
import { centileText, valueText, withSubject } from '../wording.ts';
import { ALERT, MUTED } from './page.ts';
import type { Cell, Column } from './table.ts';

export const MEASUREMENT_COLUMNS: readonly Column[] = [
  { title: 'Measurement', width: 132 },
  { title: 'Value', width: 70, align: 'right' },
  { title: 'Reference', width: 84, align: 'right' },
  { title: 'Centile', width: 46, align: 'right' },
  { title: 'z', width: 36, align: 'right' },
  { title: 'Method', width: 131 },
];

/** Before the value: below, above, or otherwise outside its reference. */
const MARKS = { N: '', L: '\u25bc ', H: '\u25b2 ', A: '\u25cf ' } as const;

export const MARK_LEGEND =
  '\u25bc below, \u25b2 above the reference range; \u25cf abnormal. An unmarked value without a range was not rated.';

function rangeText({ reference, ...measurement }: Measurement): string {
  if (!reference) return '';
  const { low, high } = reference;
  const bound = (value: number) => valueText({ ...measurement, reference, value });
  if (low !== null && high !== null) return `${bound(low).split(' ')[0]} - ${bound(high)}`;
  if (low !== null) return `from ${bound(low)}`;
  return high === null ? '' : `up to ${bound(high)}`;
}

function methodText({ method, derivation, inputs }: Measurement): string {
  const text = methodEntry(method)?.text ?? method;
  // A mean within one image (of beats) has no measurements that it was made from.
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
    { text: `${mark}${valueText(measurement)}`, ...emphasis },
    { text: rangeText(measurement) },
    { text: reference?.centile == null ? '' : centileText(reference.centile), ...emphasis },
    { text: reference?.z_score == null ? '' : reference.z_score.toFixed(2) },
    { text: method ? methodText(measurement) : '', colour: MUTED },
  ];
}

function notAcceptedCells(measurement: Measurement): Cell[] {
  const why = measurement.quality === 'low' ? 'confidence too low' : 'image inadequate';
  return [
    { text: withSubject(measurement.label, measurement), colour: MUTED },
    { text: 'not accepted', colour: MUTED },
    { text: '' },
    { text: '' },
    { text: '' },
    { text: why, colour: MUTED },
  ];
}

/** A row for each value that stands for its quantity; a value not accepted shows no number. */
export function measurementRows({ measurements }: Result): Cell[][] {
  return standingValues(measurements).map((measurement) =>
    measurement.quality === 'accepted' ? valueCells(measurement) : notAcceptedCells(measurement),
  );
}
