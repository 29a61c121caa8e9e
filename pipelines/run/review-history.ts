import type { Change, Changed } from '../contract/review.ts';
import { identityOf, type ReviewedResult } from '../result/decisions.ts';
import type { Measurement, Result } from '../result/envelope.ts';
import { measurementNamed } from './review-effects.ts';

/** The history of a review lists the value of each change before and after it. */

const NOTHING: Changed = {
  value: null,
  unit: null,
  quality: null,
  text: null,
  frame: null,
  points: null,
};

/** Returns the state of a value in the form used in the history of the review. */
function historyStateOf(one: Measurement | null): Changed {
  if (!one) return NOTHING;
  const [caliper] = one.source.calipers;
  return {
    ...NOTHING,
    value: one.value,
    unit: one.unit,
    quality: one.quality,
    frame: one.source.frame,
    points: caliper?.points ?? null,
  };
}

/**
 * Returns the value that a change applies to, before the change, and a function that finds it
 * afterwards.
 * @throws ChangeRefused if there is no such value.
 */
export function subjectOf(
  change: Change,
  state: ReviewedResult,
): { before: Changed; afterIn(result: Result): Changed } {
  const text = (words: string): Changed => ({ ...NOTHING, text: words });
  switch (change.kind) {
    case 'undo':
      return { before: NOTHING, afterIn: () => NOTHING };
    case 'note':
      return { before: NOTHING, afterIn: () => text(change.text) };
    case 'name-view':
      return { before: NOTHING, afterIn: () => text(change.view) };
    case 'name-plane':
      return { before: NOTHING, afterIn: () => text(change.plane) };
    default: {
      const one = measurementNamed(change.measurement, state);
      return {
        before: historyStateOf(one),
        afterIn: (result) => historyStateOf(successorOf(one, result)),
      };
    }
  }
}

/**
 * Returns the same value from another result: the value with the same identity, otherwise the value
 * of the same quantity with the same id, otherwise the value of the quantity that a person
 * confirmed.
 */
function successorOf(one: Measurement, { measurements }: Result): Measurement | null {
  const own = identityOf(one);
  const isSame = (other: Measurement) =>
    other.concept.key === one.concept.key &&
    other.laterality === one.laterality &&
    other.fetus === one.fetus;
  return (
    measurements.find((other) => identityOf(other) === own) ??
    measurements.find((other) => other.id === one.id && isSame(other)) ??
    measurements.find((other) => isSame(other) && other.confirmed !== undefined) ??
    null
  );
}
