import type { ConceptKey } from '../../concepts/concepts.ts';
import { fetusKey } from '../../contract/fetus-name.ts';
import type { Measurement } from '../../result/envelope.ts';
import { isOfMachine } from '../../result/measurement.ts';
import { acceptedValue } from '../../result/render/number-text.ts';
import { implausibleNote, isPlausible } from './plausibility.ts';
import type { SectionEvidence } from './section.ts';

/** Said of a value that stands in our place. */
export const STANDS_IN =
  'taken from the report of the ultrasound machine, as no value measured here was accepted';

/** Said where the machine's reports name several fetuses, whose the images are not known to be. */
export const MACHINE_UNUSED =
  'The values of the ultrasound machine were not used: its reports name several fetuses.';

/** Whether the values of the machine are of more than one fetus. */
export const ofSeveralFetuses = (values: readonly Measurement[]) =>
  new Set(values.map(({ fetus }) => fetusKey(fetus))).size > 1;

/** The id under which a value stands for its quantity where no side of the body counts. */
const keyOf = ({ concept }: Measurement) => concept.key;

/** The parts of a note that are there. */
export const joined = (...notes: readonly (string | null)[]) =>
  notes.filter(Boolean).join('; ') || null;

function besideOwn(value: Measurement, own: Measurement): Measurement {
  const difference = (100 * (value.value - own.value)) / own.value;
  const side = difference < 0 ? 'below' : 'above';
  const note = `${Math.abs(difference).toFixed(1)} % ${side} the value measured here`;
  return { ...value, note: joined(value.note, note) };
}

/** A value of the machine as it is, or not accepted where it is beyond its hard limits (obstetric 0.6). */
export function ifPlausible(value: Measurement): Measurement {
  if (value.quality === 'inadequate') return value;
  const key = value.concept.key as ConceptKey;
  return isPlausible(key, value.value)
    ? value
    : { ...value, quality: 'inadequate', note: joined(value.note, implausibleNote(key)) };
}

/** Said of a value that nothing was judged by: another of the machine stands for its quantity. */
export const PASSED_OVER = 'not judged: another value of the machine stands for it';

/**
 * The machine's own values with ours: in place of ours under the plain id where we have none accepted,
 * else beside them with the difference. Of several with the same plain id the first that is plausible
 * stands, and the others say that they do not; what is implausible stands nowhere (obstetric
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
      ? { ...value, id: plain, note: joined(value.note, STANDS_IN) }
      : { ...value, note: joined(value.note, PASSED_OVER) };
  });
  const replaced = new Set(machine.map(({ id }) => id));
  const kept = ours.map((one) => (replaced.has(one.id) ? { ...one, id: `${one.id}-traced` } : one));
  return [...kept, ...machine];
}

/** Why no value of the machine is used where there is more than one fetus; null where they are. */
export function machineUnused(
  values: readonly Measurement[],
  several: string | null,
): string | null {
  if (ofSeveralFetuses(values)) return MACHINE_UNUSED;
  return several && values.length > 0
    ? 'No value of the ultrasound machine was used: of which fetus it is, is not known.'
    : null;
}

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
  evidence: SectionEvidence,
  section: string,
  keys: readonly EarlyKey[],
): MachineValues {
  const values = evidence.machine.values(section, keys);
  const unused = machineUnused(values, evidence.severalFetuses);
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
  return ofMachine(measurements, key) ?? acceptedValue(measurements, key);
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
  const own = acceptedValue(measurements, key);
  return machine && own && own !== machine ? { machine, own } : null;
}

/** The machine's values, each with its difference from ours where we have an accepted one. */
export function withDifference(
  machine: readonly Measurement[],
  ours: readonly Measurement[],
): Measurement[] {
  return machine.map((value) => {
    const own = acceptedValue(ours, value.concept.key as EarlyKey);
    return (own && withMachineValues([value], [own]).find(isOfMachine)) ?? value;
  });
}

/** Whether the machine's value and ours are further apart than ours is uncertain. */
export function differ({ machine, own }: { machine: Measurement; own: Measurement }): boolean {
  return Math.abs(machine.value - own.value) > (own.uncertainty ?? 0);
}
