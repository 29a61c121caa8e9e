import {
  OBSTETRIC_CONCEPTS,
  type ObstetricConcept,
  type ObstetricMethod,
} from '../../concepts/obstetric.ts';
import { median } from '../../measure/statistics.ts';
import type { Measurement } from '../../result/envelope.ts';
import {
  asRepeat,
  fetusKey,
  type Given,
  isOfMachine,
  measurementOf,
  NO_FRAME,
} from '../../result/measured.ts';
import { cutOffWithin, isPlausible } from '../../result/obstetric/limits.ts';
import { remark, sayOfObstetric } from '../../result/render/obstetric/shared.ts';
import type { Remark, Statement } from '../../result/statement.ts';
import type { SectionEvidence } from './section.ts';

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

/**
 * States that the interval of a value includes a cut-off; null where the value is certain to be on
 * one side.
 */
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

/**
 * Limits of plausible ratios: a ratio outside them points to a measurement error, not to the fetus
 * (obstetric 0.6).
 */
export const SOFT_RATIOS = {
  flToAc: { low: 0.15, high: 0.28 },
  flToHc: { low: 0.1, high: 0.26 },
  tadToApad: { low: 0.75, high: 1.35 },
} as const;

/**
 * A cervix longer than this, in mm, warns that the lower segment was mistaken for cervix (obstetric
 * 0.6 and 10).
 */
export const LONGEST_CERVIX_MM = 60;

/** |z| beyond which dating or measurement must be checked before size is judged. */
export const SOFT_Z = 5;

/**
 * Largest differences accepted between repeated values: circumferences as a share of the mean, FL
 * in mm (obstetric 2.6).
 */
export const REPEATABILITY = { circumferenceShare: 0.05, femurMm: 3 } as const;

/** A measurement with further remarks behind those that it has. */
export const remarked = (value: Measurement, ...remarks: readonly Remark[]): Measurement => ({
  ...value,
  remarks: [...value.remarks, ...remarks],
});

/** On a value of the machine that counts because we have none. */
export const IN_PLACE_OF_OURS = remark('machine.in-place-of-ours', {});

/** Whether the values of the machine are of more than one fetus. */
export const ofSeveralFetuses = (values: readonly Measurement[]) =>
  new Set(values.map(({ fetus }) => fetusKey(fetus))).size > 1;

/** Why no value of the machine is used where there is more than one fetus; null where they are used. */
export function machineUnused(
  values: readonly Measurement[],
  { severalFetuses }: Pick<SectionEvidence, 'severalFetuses'>,
): Statement | null {
  if (ofSeveralFetuses(values)) return sayOfObstetric.gap('machine.of-several-fetuses', {});
  return severalFetuses && values.length > 0
    ? sayOfObstetric.gap('machine.fetus-not-known', {})
    : null;
}

/** The id under which a value counts for its quantity where the side of the body does not matter. */
const keyOf = ({ concept }: Measurement) => concept.key;

function besideOwn(value: Measurement, own: Measurement): Measurement {
  const percent = (100 * (value.value - own.value)) / own.value;
  return remarked(value, remark('machine.difference', { percent }));
}

/** A value of the machine as it is, or not accepted where it is beyond its hard limits (obstetric 0.6). */
export function ifPlausible(value: Measurement): Measurement {
  if (value.quality === 'inadequate' || isPlausible(value.concept.key, value.value)) return value;
  return remarked({ ...value, quality: 'inadequate' }, remark('obstetric.implausible', {}));
}

/**
 * The machine's own values with ours: in place of ours under the plain id where we have none accepted,
 * else beside them with the difference. Of several with the same plain id the first plausible one
 * counts, and the others are marked as passed over; an implausible value is used nowhere (obstetric
 * 0.6).
 */
export function withMachineValues(
  values: readonly Measurement[],
  ours: readonly Measurement[],
  plainId: (value: Measurement) => string = keyOf,
): Measurement[] {
  const given = values.map(ifPlausible);
  const usable = given.filter(({ quality }) => quality !== 'inadequate');
  const machine = given.map((value): Measurement => {
    if (value.quality === 'inadequate') return value;
    const plain = plainId(value);
    const own = ours.find(({ id, quality }) => id === plain && quality === 'accepted');
    if (own) return besideOwn(value, own);
    return usable.find((one) => plainId(one) === plain) === value
      ? remarked({ ...value, id: plain }, IN_PLACE_OF_OURS)
      : remarked(value, remark('machine.passed-over', {}));
  });
  const replaced = new Set(machine.map(({ id }) => id));
  const kept = ours.map((one) => (replaced.has(one.id) ? { ...one, id: `${one.id}-traced` } : one));
  return [...kept, ...machine];
}

/** The first-trimester values that are taken from the machine's report. */
export type EarlyKey =
  | 'mean-sac-diameter'
  | 'yolk-sac'
  | 'crl'
  | 'nuchal-translucency'
  | 'fetal-heart-rate';

/** The lengths of an early pregnancy that are judged. */
export const EARLY_LENGTHS = ['mean-sac-diameter', 'yolk-sac', 'crl'] as const;
export type EarlyLength = (typeof EARLY_LENGTHS)[number];

export interface MachineValues {
  measurements: Measurement[];
  /** Why none of them is used: there are several fetuses; null where they are used. */
  unused: Statement | null;
}

/** The machine's values of these quantities; one beyond its plausible limits is not accepted. */
export function machineValues(
  evidence: SectionEvidence,
  section: string,
  keys: readonly EarlyKey[],
): MachineValues {
  const values = evidence.machine.values(section, keys);
  const unused = machineUnused(values, evidence);
  return { measurements: unused ? [] : values.map(ifPlausible), unused };
}

const acceptedOfMachine = (measurements: readonly Measurement[], key: EarlyKey) =>
  measurements.filter(
    (one) => isOfMachine(one) && one.concept.key === key && one.quality === 'accepted',
  );

const firstOfMachine = (measurements: readonly Measurement[], key: EarlyKey) =>
  acceptedOfMachine(measurements, key)[0] ?? null;

/** The value that is judged: the machine's, which a person placed, before ours; null without one. */
export const judgedValue = (
  measurements: readonly Measurement[],
  key: EarlyKey,
): Measurement | null => firstOfMachine(measurements, key) ?? acceptedValue(measurements, key);

/**
 * The heart rate that is judged, the machine's before that of a clip; null without an accepted one.
 * Of several of the machine the slowest, which is the gravest in an embryo.
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
  const machine = firstOfMachine(measurements, key);
  const own = acceptedValue(measurements, key);
  return machine && own && own !== machine ? { machine, own } : null;
}

/** The machine's values, each with its difference from ours where we have an accepted one. */
export function withDifference(
  machine: readonly Measurement[],
  ours: readonly Measurement[],
): Measurement[] {
  return machine.map((value) => {
    const own = acceptedValue(ours, value.concept.key as ObstetricConcept);
    return (own && withMachineValues([value], [own]).find(isOfMachine)) ?? value;
  });
}

/** Whether the machine's value and ours are further apart than ours is uncertain. */
export const differ = ({ machine, own }: { machine: Measurement; own: Measurement }): boolean =>
  Math.abs(machine.value - own.value) > (own.uncertainty ?? 0);
