import type { ConceptKey } from '../../concepts/concepts.ts';
import type { ReviewReason } from '../../concepts/method-evidence.ts';
import type { CartMeasurement } from '../../contract/study.ts';
import { implausibleNote } from '../hard-limits.ts';
import { format } from '../measurement.ts';
import { remarksOf, type SentenceTable } from '../statement.ts';
import { REVIEW_TEXT } from './shared.ts';

type Selection = NonNullable<CartMeasurement['selection']>;

/** Text for how the machine selected a value (PS3.16 CID 224 and CID 12301). */
const SELECTED: Readonly<Record<Selection, string>> = {
  user: 'chosen by the operator on the machine',
  'most-recent': 'the most recent value, chosen on the machine',
  mean: 'the mean, chosen on the machine',
  minimum: 'the smallest value, chosen on the machine',
  maximum: 'the largest value, chosen on the machine',
};

/** Number and range of repeated values if the machine selected none of them. */
interface Repeats {
  key: ConceptKey;
  count: number;
  low: number;
  high: number;
}

const rangeOf = ({ key, low, high }: Repeats): string =>
  `${format(key, low)} to ${format(key, high)}`;

const unchosen = (repeats: Repeats): string =>
  `of ${repeats.count} values, none selected on the machine (${rangeOf(repeats)})`;

/** Remarks about single measurements, shared by all endpoints. */
export const MEASUREMENT_REMARKS = {
  'value.implausible': ({ key }: { key: ConceptKey }) => implausibleNote(key),
  'value.needs-review': ({ reason }: { reason: ReviewReason }) =>
    `needs review: ${REVIEW_TEXT[reason]}`,
  /** `equation` is the meaning of a code in the machine's report. */
  'machine.equation': ({ equation }: { equation: string }) => `by ${equation}`,
  'machine.selected': ({ selection }: { selection: Selection }) => SELECTED[selection],
  'machine.end-of-repeats': ({ end, ...repeats }: Repeats & { end: 'highest' | 'lowest' }) =>
    `${end} ${unchosen(repeats)}`,
  'machine.median-of-repeats': (repeats: Repeats) => `median ${unchosen(repeats)}`,
  'machine.average-of': (repeats: Repeats) =>
    repeats.count === 1
      ? `average of the machine; single value ${format(repeats.key, repeats.high)}`
      : `average of the machine; ${repeats.count} single values, ${rangeOf(repeats)}`,
  'machine.mean-sac': ({ count }: { count: number }) =>
    `mean of the ${count} diameters reported by the machine`,
  'machine.no-mean-sac': () =>
    'a single gestational sac diameter, not the mean of three: not interpreted as mean sac diameter',
  'machine.too-far-apart': ({ count }: { count: number }) =>
    `one of ${count} values, none selected on the machine, too far apart for a median`,
  'review.accepted': () => 'accepted by the reader',
  'review.rejected': () => 'rejected by the reader',
  'review.passed-over': () => 'the reader chose another value',
  'review.by-person': ({ typed }: { typed: boolean }) =>
    typed ? 'entered by the reader' : 'measured by the reader',
} as const satisfies SentenceTable;

export const remark = remarksOf<typeof MEASUREMENT_REMARKS>();
