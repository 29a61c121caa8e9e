import type { ObstetricMethod } from '../../concepts/obstetric.ts';
import { OBSTETRIC_CONCEPTS, type ObstetricConcept } from '../../concepts/obstetric.ts';
import { median } from '../../measure/statistics.ts';
import type { Measurement } from '../../result/envelope.ts';
import { asRepeat, type Given, measurementOf, NO_FRAME } from '../../result/measured.ts';
import { cutOffWithin } from '../../result/obstetric/limits.ts';
import { sayOfObstetric } from '../../result/render/obstetric/shared.ts';
import type { Statement } from '../../result/statement.ts';

export { isOfMachine, lineBetween, measuredOn, NO_FRAME } from '../../result/measured.ts';
export { isPlausible } from '../../result/obstetric/limits.ts';

/** A measurement of an obstetric concept with the unit and label of the concept table. */
export const createMeasurement = (
  id: string,
  key: ObstetricConcept,
  value: number,
  method: ObstetricMethod,
  given: Given = {},
): Measurement => measurementOf(id, key, OBSTETRIC_CONCEPTS[key], value, method, given);

/** The value of a concept that counts: its median, or its only one; null unless accepted. */
export function acceptedValue(
  measurements: readonly Measurement[],
  key: ObstetricConcept,
): Measurement | null {
  const found = measurements.find(({ id }) => id === key);
  return found?.quality === 'accepted' ? found : null;
}

/** The median of the accepted values under the plain id; a single one takes that id itself. */
export function withMedian(key: ObstetricConcept, single: readonly Measurement[]): Measurement[] {
  const accepted = single.filter(({ quality }) => quality === 'accepted');
  const [first] = accepted;
  if (!first) return [...single];
  if (accepted.length === 1) {
    return single.map((one) => (one === first ? { ...one, id: key } : asRepeat(one)));
  }
  const combined: Measurement = {
    ...first,
    id: key,
    value: median(accepted.map(({ value }) => value)),
    derivation: 'median',
    source: NO_FRAME,
    confidence: median(accepted.map(({ confidence }) => confidence ?? 0)),
    inputs: accepted.map(({ id }) => id),
  };
  return [...single.map(asRepeat), combined];
}

/** That the interval of a value includes a cut-off; null where neither side is in doubt. */
export function acrossCutOff(
  one: Pick<Measurement, 'value' | 'uncertainty'>,
  cutOffs: readonly number[],
  unit: 'mm' | 'deg' | '' = 'mm',
): Statement | null {
  const cutOff = cutOffWithin(one, cutOffs);
  return cutOff === null ? null : sayOfObstetric.gap('obstetric.across-cut-off', { cutOff, unit });
}

/** Shorter over longer axis of an outline, below which it is rejected (obstetric 16.3). */
export const LOWEST_AXIS_RATIO = { head: 0.6, abdomen: 0.7 } as const;

/** A ratio outside of these points at a wrong measurement, not at a fetus (obstetric 0.6). */
export const SOFT_RATIOS = {
  flToAc: { low: 0.15, high: 0.28 },
  flToHc: { low: 0.1, high: 0.26 },
  tadToApad: { low: 0.75, high: 1.35 },
} as const;

/** A longer cervix warns of the lower segment taken for it, mm (obstetric 0.6 and 10). */
export const LONGEST_CERVIX_MM = 60;

/** |z| beyond which dating or measurement must be checked before size is judged. */
export const SOFT_Z = 5;

/** Share of the mean by which repeated circumferences may differ; FL in mm (obstetric 2.6). */
export const REPEATABILITY = { circumferenceShare: 0.05, femurMm: 3 } as const;
