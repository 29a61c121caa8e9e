import { fetusKey, ofFetusId } from '../contract/fetus-name.ts';
import type { Measurement } from './envelope.ts';
import { isOfMachine } from './measurement.ts';

/** Repeated values are summed up by a mean or a median, whose `inputs` they are. */
const SUMS_UP: ReadonlySet<Measurement['derivation']> = new Set(['mean', 'median']);

/** The same where one of them does not say it: the only fetus, or a side that nobody named. */
const agree = (one: string | null, other: string | null) =>
  one === null || other === null || one === other;

const namedFetus = ({ fetus }: Measurement) => (fetus === null ? null : fetusKey(fetus));

const ofSameQuantity = (one: Measurement, other: Measurement) =>
  one.concept.key === other.concept.key &&
  agree(one.laterality, other.laterality) &&
  agree(namedFetus(one), namedFetus(other));

/**
 * The measurements without those of the ultrasound machine that are only shown beside an accepted one
 * of ours, of the same side and fetus: the machine sends its own report, and a receiver takes one
 * value for each quantity.
 */
export function withoutComparisons(measurements: readonly Measurement[]): Measurement[] {
  const ours = measurements.filter((one) => one.quality === 'accepted' && !isOfMachine(one));
  return measurements.filter(
    (one) => !isOfMachine(one) || !ours.some((other) => ofSameQuantity(one, other)),
  );
}

/** Numbered as a repeat: `cervical-length-2` beside `cervical-length`. */
const NUMBERED = /-\d+$/;

/** What the id of a value of one of several fetuses ends with; empty for that of an only one. */
function fetusPart({ id, fetus }: Measurement): string {
  const part = fetus === null ? '' : ofFetusId('', fetus);
  return id.endsWith(part) ? part : '';
}

/** The id of the value that a section chose for a quantity, on its side and of its fetus. */
function chosenId(one: Measurement): string {
  const { concept, laterality } = one;
  return `${laterality ? `${concept.key}-${laterality}` : concept.key}${fetusPart(one)}`;
}

/** Whether a value is numbered as a repeat: `fetal-heart-rate-doppler-2-fetus-a`. */
function isRepeat(one: Measurement): boolean {
  const end = -fetusPart(one).length || undefined;
  const [id, plain] = [one.id.slice(0, end), chosenId(one).slice(0, end)];
  return id.startsWith(`${plain}-`) && NUMBERED.test(id);
}

/** Repeats beside which a section chose one to stand: the shortest cervix, the best heart rate. */
function passedOver(measurements: readonly Measurement[]): ReadonlySet<string> {
  const chosen = new Set(
    measurements
      .filter((one) => one.quality === 'accepted' && one.id === chosenId(one))
      .map(({ id, section }) => `${section} ${id}`),
  );
  return new Set(
    measurements
      .filter((one) => isRepeat(one) && chosen.has(`${one.section} ${chosenId(one)}`))
      .map(({ id }) => id),
  );
}

/** What a mean or a median of several measurements was made of. */
function summedUp(measurements: readonly Measurement[]): ReadonlySet<string> {
  return new Set(
    measurements
      .filter(({ derivation }) => SUMS_UP.has(derivation))
      .flatMap(({ inputs }) => inputs),
  );
}

/**
 * The measurements that stand for their quantity: single values, the one that was chosen of several,
 * the mean or median of repeated ones; without the repeats and the comparisons.
 */
export function standingValues(measurements: readonly Measurement[]): Measurement[] {
  const summed = summedUp(measurements);
  const repeats = passedOver(measurements);
  return withoutComparisons(measurements).filter(({ id }) => !summed.has(id) && !repeats.has(id));
}

/**
 * The same with what each mean or median was made of behind it, for reports that carry calipers: a
 * receiver that takes the first value of a quantity takes the one that stands.
 */
export function standingFirst(measurements: readonly Measurement[]): Measurement[] {
  const standing = standingValues(measurements);
  const ids = new Set(standing.map(({ id }) => id));
  const parts = withoutComparisons(measurements).filter(({ id }) =>
    standing.some(({ derivation, inputs }) => SUMS_UP.has(derivation) && inputs.includes(id)),
  );
  return [...standing, ...parts.filter(({ id }) => !ids.has(id))];
}
