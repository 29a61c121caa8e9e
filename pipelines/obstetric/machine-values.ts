import { fetusKey } from '../contract/fetus-name.ts';
import type { ConceptKey } from '../result/concepts.ts';
import type { Measurement } from '../result/envelope.ts';
import { implausibleNote, isPlausible } from './plausibility.ts';

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

/** A value of the machine as it is, or not accepted where it is beyond its hard limits (reference 0.6). */
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
 * reference 0.6).
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
