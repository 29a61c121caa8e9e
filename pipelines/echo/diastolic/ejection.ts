import { rounded } from '../../measure/rounding.ts';
import { EF_PRECEDENCE, headlineEf, ungradedEf } from '../ejection-fraction.ts';
import { DYSFUNCTION } from '../guidelines/cardiomyopathy.ts';
import type { Values } from '../values.ts';

/** What the LVEF says to the algorithms of 2016, which it chooses. */
export interface Ejection {
  /** Null: not known, or contested. */
  reduced: boolean | null;
  /** A value is there, and left open on which side of the limit it lies. */
  contested: boolean;
}

/** As shown, which is what a value is classified by (echo reference 0.3). */
const isReduced = (percent: number) => rounded(percent, 0) < DYSFUNCTION.ef;

const EF_KEYS: ReadonlySet<string> = new Set(EF_PRECEDENCE);

/** Readings that contradict each other may still lie on the same side of the limit. */
export function ejectionOf(values: Values): Ejection {
  const headline = headlineEf(values);
  if (!headline) return { reduced: null, contested: false };
  const reduced = isReduced(headline.value);
  const { between } = ungradedEf(values) ?? { between: null };
  const settled =
    between === null ||
    (between.length > 1 &&
      between.every(
        ({ concept, value }) => EF_KEYS.has(concept.key) && isReduced(value) === reduced,
      ));
  return settled ? { reduced, contested: false } : { reduced: null, contested: true };
}
