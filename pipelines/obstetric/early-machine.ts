import { cartMeasurements } from '../result/cart-measurements.ts';
import type { ConceptKey } from '../result/concepts.ts';
import type { Measurement } from '../result/envelope.ts';
import { isOfMachine } from '../result/of-machine.ts';
import { machineUnused } from './machine-unused.ts';
import { ifPlausible, withMachineValues } from './machine-values.ts';
import { standing } from './measurement.ts';
import type { ObstetricEvidence } from './section.ts';
import { severalFetuses } from './several-fetuses.ts';

/** What of the first trimester is taken from the machine's report. */
const KEYS = [
  'mean-sac-diameter',
  'yolk-sac',
  'crl',
  'nuchal-translucency',
  'fetal-heart-rate',
] as const satisfies readonly ConceptKey[];
export type EarlyKey = (typeof KEYS)[number];

/** The lengths of an early pregnancy that are judged. */
export const EARLY_LENGTHS = ['mean-sac-diameter', 'yolk-sac', 'crl'] as const;
export type EarlyLength = (typeof EARLY_LENGTHS)[number];

export interface MachineValues {
  measurements: Measurement[];
  /** Why none of them is used: there are several fetuses; null where they are used. */
  unused: string | null;
}

/** The machine's values of these quantities; one beyond its plausible limits is not accepted. */
export function machineValues(
  evidence: ObstetricEvidence,
  section: string,
  keys: readonly EarlyKey[],
): MachineValues {
  const values = cartMeasurements(evidence.study.cart ?? [], section, keys);
  const unused = machineUnused(values, severalFetuses(evidence));
  return { measurements: unused ? [] : values.map(ifPlausible), unused };
}

const acceptedOfMachine = (measurements: readonly Measurement[], key: EarlyKey) =>
  measurements.filter(
    (one) => isOfMachine(one) && one.concept.key === key && one.quality === 'accepted',
  );

const ofMachine = (measurements: readonly Measurement[], key: EarlyKey) =>
  acceptedOfMachine(measurements, key)[0] ?? null;

/** The value that is judged: the machine's, which a person placed, before ours; null without one. */
export function judgedValue(
  measurements: readonly Measurement[],
  key: EarlyKey,
): Measurement | null {
  return ofMachine(measurements, key) ?? standing(measurements, key);
}

/**
 * The heart rate that stands, the machine's before that of a clip; null without an accepted one. Of
 * several of the machine the slowest, which is the gravest in an embryo.
 */
export function judgedRate(measurements: readonly Measurement[]): Measurement | null {
  const own = measurements.find(
    ({ id, quality }) => id === 'embryonic-heart-rate' && quality === 'accepted',
  );
  const [slowest] = acceptedOfMachine(measurements, 'fetal-heart-rate').toSorted(
    (one, other) => one.value - other.value,
  );
  return slowest ?? own ?? null;
}

/** Our own accepted value beside the machine's; null where one of the two is missing. */
export function bothValues(
  measurements: readonly Measurement[],
  key: EarlyKey,
): { machine: Measurement; own: Measurement } | null {
  const machine = ofMachine(measurements, key);
  const own = standing(measurements, key);
  return machine && own && own !== machine ? { machine, own } : null;
}

/** The machine's values, each with its difference from ours where we have an accepted one. */
export function withDifference(
  machine: readonly Measurement[],
  ours: readonly Measurement[],
): Measurement[] {
  return machine.map((value) => {
    const own = standing(ours, value.concept.key as EarlyKey);
    return (own && withMachineValues([value], [own]).find(isOfMachine)) ?? value;
  });
}

/** Whether the machine's value and ours are further apart than ours is uncertain. */
export function differ({ machine, own }: { machine: Measurement; own: Measurement }): boolean {
  return Math.abs(machine.value - own.value) > (own.uncertainty ?? 0);
}
