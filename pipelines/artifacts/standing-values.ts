import type { Measurement } from '../result/envelope.ts';

/** Repeated values are summed up by a mean or a median, whose `inputs` they are. */
const SUMS_UP: ReadonlySet<Measurement['derivation']> = new Set(['mean', 'median']);

/**
 * The measurements without those of the ultrasound machine that are only shown beside an accepted one
 * of ours: the machine sends its own report, and a receiver takes one value for each quantity.
 */
export function withoutComparisons(measurements: readonly Measurement[]): Measurement[] {
  const ours = new Set(
    measurements
      .filter(({ quality, source }) => quality === 'accepted' && source.provenance !== 'cart-sr')
      .map(({ concept }) => concept.key),
  );
  return measurements.filter(
    ({ source, concept }) => source.provenance !== 'cart-sr' || !ours.has(concept.key),
  );
}

/**
 * The measurements that stand for their quantity: single values and the mean or median of repeated
 * ones, without the repeats and the comparisons.
 */
export function standingValues(measurements: readonly Measurement[]): Measurement[] {
  const repeats = new Set(
    measurements
      .filter(({ derivation }) => SUMS_UP.has(derivation))
      .flatMap(({ inputs }) => inputs),
  );
  return withoutComparisons(measurements).filter(({ id }) => !repeats.has(id));
}
