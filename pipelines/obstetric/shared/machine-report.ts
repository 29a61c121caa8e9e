import type { ObstetricConcept } from '../../concepts/obstetric.ts';
import type { CartMeasurement } from '../../contract/study.ts';
import { mergedRepeats } from '../../input/cart-sr/repeats.ts';
import { cartMeasurements, cartQuantities } from '../../result/cart-values.ts';
import type { Measurement } from '../../result/envelope.ts';
import { fetusKey, isConfirmed } from '../../result/measured.ts';
import { remark } from '../../result/render/obstetric/shared.ts';
import type { SectionEvidence } from './section.ts';

const LENGTHS = ['bpd', 'ofd', 'hc', 'tad', 'apad', 'ac', 'fl'] as const;
const UMBILICAL = ['umbilical-artery-psv', 'umbilical-artery-edv'] as const;

/** Quantities from which a machine calculates a value that its report states beside them. */
const CALCULATED_FROM: Readonly<Partial<Record<string, readonly ObstetricConcept[]>>> = {
  efw: LENGTHS,
  // The index is the sum of the pockets of the four quadrants, one of which is the deepest pocket.
  'amniotic-fluid-index': ['deepest-vertical-pocket'],
  'umbilical-artery-pi': UMBILICAL,
  'umbilical-artery-ri': UMBILICAL,
  'umbilical-artery-sd': UMBILICAL,
  'middle-cerebral-artery-pi': ['middle-cerebral-artery-psv'],
} satisfies Partial<Record<ObstetricConcept, readonly ObstetricConcept[]>>;

const INPUTS = [...new Set(Object.values(CALCULATED_FROM).flatMap((keys) => keys ?? []))];

/**
 * Withholds a value that the machine calculated if a person has since corrected one of its inputs.
 * A value that a person confirmed is not withheld.
 */
function withoutStale(value: Measurement, corrected: readonly Measurement[]): Measurement {
  const inputs = CALCULATED_FROM[value.concept.key] ?? [];
  const keys = corrected
    .filter(
      ({ concept, fetus, laterality }) =>
        inputs.some((key) => key === concept.key) &&
        fetusKey(fetus) === fetusKey(value.fetus) &&
        laterality === value.laterality,
    )
    .map(({ concept }) => concept.key);
  if (keys.length === 0 || isConfirmed(value) || value.quality !== 'accepted') return value;
  const why = remark('machine.input-corrected', { keys });
  return {
    ...value,
    quality: 'inadequate',
    standing: 'withheld',
    remarks: [...value.remarks, why],
  };
}

/** Quantities of the mother. A report may list them with a fetus, or once with each of several. */
const OF_MOTHER: ReadonlySet<string | null> = new Set<ObstetricConcept>([
  'cervical-length',
  'uterine-artery-pi',
]);

function ofMother(reported: readonly CartMeasurement[]): CartMeasurement[] {
  const values = reported.filter(({ key }) => OF_MOTHER.has(key));
  const places = Map.groupBy(values, ({ fetus }) => fetusKey(fetus));
  return mergedRepeats(
    [...places.values()].map((place) => place.map((one) => ({ ...one, fetus: null }))),
  );
}

/** Returns the values in the machine's reports as the sections use them. */
export function machineReport(reported: readonly CartMeasurement[]): SectionEvidence['machine'] {
  const cart = [...reported.filter(({ key }) => !OF_MOTHER.has(key)), ...ofMother(reported)];
  // Evaluated at each call, because a person's decisions are applied when measurements are created.
  const corrected = () =>
    cartMeasurements(cart, 'machine', INPUTS).filter(({ origin }) => origin === 'person');
  return {
    values(section, keys, where = () => true) {
      const by = corrected();
      const values = cartMeasurements(cart.filter(where), section, keys);
      return values.map((one) => withoutStale(one, by));
    },
    quantities(section, keys) {
      const by = corrected();
      return cartQuantities(cart, section, keys).map(({ measurement, ...one }) => ({
        ...one,
        measurement: withoutStale(measurement, by),
      }));
    },
  };
}
