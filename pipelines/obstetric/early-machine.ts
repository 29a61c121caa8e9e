import { cartMeasurements } from '../result/cart-measurements.ts';
import type { ConceptKey } from '../result/concepts.ts';
import type { Measurement } from '../result/envelope.ts';
import { ifPlausible, ofSeveralFetuses } from './machine-values.ts';
import { standing } from './measurement.ts';
import type { ObstetricEvidence } from './section.ts';

/** What of the first trimester is taken from the machine's report. */
const KEYS = [
  'mean-sac-diameter',
  'yolk-sac',
  'crl',
  'nuchal-translucency',
] as const satisfies readonly ConceptKey[];
export type EarlyKey = (typeof KEYS)[number];

export const isOfMachine = ({ source }: Measurement) => source.provenance === 'cart-sr';

export interface MachineValues {
  measurements: Measurement[];
  /** The reports name several fetuses, and the images do not say whose they are: none is used. */
  severalFetuses: boolean;
}

/** The machine's values of these quantities; one beyond its plausible limits is not accepted. */
export function machineValues(
  { study }: ObstetricEvidence,
  section: string,
  keys: readonly EarlyKey[],
): MachineValues {
  const values = cartMeasurements(study?.cart ?? [], section, keys);
  if (ofSeveralFetuses(values)) return { measurements: [], severalFetuses: true };
  return { measurements: values.map(ifPlausible), severalFetuses: false };
}

/** The value that is judged: the machine's, which a person placed, before ours; null without one. */
export function judgedValue(
  measurements: readonly Measurement[],
  key: EarlyKey,
): Measurement | null {
  const machine = measurements.find(
    (one) => isOfMachine(one) && one.concept.key === key && one.quality === 'accepted',
  );
  return machine ?? standing(measurements, key);
}
