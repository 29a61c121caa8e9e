import { CONCEPTS, type ConceptKey } from '../concepts/concepts.ts';
import { type CartMeasurement, NOTHING_STATED } from '../contract/study.ts';
import type { Seed } from './seed.ts';

/** Made-up values vary with the input by at most this share, in either direction. */
const VARIATION = 0.02;

/**
 * Returns values as if from an ultrasound machine's structured report, in the units of the concept
 * table. A mock run uses them for the values that it does not draw.
 */
export function machineReport(
  file: string,
  values: Readonly<Partial<Record<ConceptKey, number>>>,
  seed: Seed,
): CartMeasurement[] {
  return Object.entries(values).map(([name, usual], n) => {
    const key = name as ConceptKey;
    const {
      unit,
      codings: [coding],
    } = CONCEPTS[key];
    return {
      key,
      concept: coding,
      value: Number((usual * (1 + VARIATION * (2 * seed.share(n) - 1))).toPrecision(3)),
      unit,
      ...NOTHING_STATED,
      file,
    };
  });
}
