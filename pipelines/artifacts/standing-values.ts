import type { Measurement } from '../result/envelope.ts';

/** Repeated values are summed up by a mean or a median, whose `inputs` they are. */
const SUMS_UP: ReadonlySet<Measurement['derivation']> = new Set(['mean', 'median']);

/**
 * The measurements that stand for their quantity: single values and the mean or median of repeated
 * ones, without the repeats.
 */
export function standingValues(measurements: readonly Measurement[]): Measurement[] {
  const repeats = new Set(
    measurements
      .filter(({ derivation }) => SUMS_UP.has(derivation))
      .flatMap(({ inputs }) => inputs),
  );
  return measurements.filter(({ id }) => !repeats.has(id));
}
