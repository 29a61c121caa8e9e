import { CONCEPTS, type ConceptKey, type MethodKey } from '../../concepts/concepts.ts';
import { rounded } from '../../measure/rounding.ts';
import type { Measurement } from '../../result/envelope.ts';
import { createMeasurement, isOfMachine, NO_FRAME } from '../../result/measurement.ts';
import { unitText } from '../../result/render/unit-text.ts';
import { type GradedQuantity, gradeOf, type Sex } from './grading.ts';
import { withPlausibility } from './plausibility.ts';

/** What was measured so far, by concept: accepted values only. */
export interface Values {
  /** Every value of the concept, that which stands first. */
  all(key: ConceptKey): readonly Measurement[];
  measurement(key: ConceptKey): Measurement | null;
  number(key: ConceptKey): number | null;
}

function valuesBy(all: Values['all']): Values {
  const measurement = (key: ConceptKey) => all(key)[0] ?? null;
  return { all, measurement, number: (key) => measurement(key)?.value ?? null };
}

/** Of several values of a concept the first stands; those of traced images come before the cart's. */
export function valuesOf(measurements: readonly Measurement[]): Values {
  return valuesBy((key) =>
    measurements.filter((one) => one.concept.key === key && one.quality === 'accepted'),
  );
}

/** The values with what was just calculated before them. */
export function withValues(values: Values, calculations: readonly (Measurement | null)[]): Values {
  const own = valuesOf(calculations.filter((one) => one !== null));
  return valuesBy((key) => [...own.all(key), ...values.all(key)]);
}

/** The values as if those of some concepts had not been given: what was withheld stays withheld. */
export function without(values: Values, keys: ReadonlySet<ConceptKey>): Values {
  return valuesBy((key) => (keys.has(key) ? [] : values.all(key)));
}

/** Relative difference from which a machine's own calculation and ours are told apart. */
const DISAGREEMENT = 0.05;

export interface Calculation {
  section: string;
  method: MethodKey;
  from: readonly ConceptKey[];
  /** The values of `from`, in their order. */
  value(...inputs: number[]): number;
  note?: string;
  /**
   * For inputs that stand for one beat: all are taken from the machine, or all from the images. What
   * a note calls them.
   */
  ofOneSource?: string;
}

/** The values of the inputs, null where one is missing: of one source, the machine's first. */
function inputsOf(values: Values, { from, ofOneSource }: Calculation): Measurement[] | null {
  const complete = (inputs: readonly (Measurement | null)[]) => {
    const present = inputs.filter((input) => input !== null);
    return present.length === inputs.length ? present : null;
  };
  if (!ofOneSource) return complete(from.map((key) => values.measurement(key)));
  const ofSource = (machine: boolean) =>
    complete(from.map((key) => values.all(key).find((v) => isOfMachine(v) === machine) ?? null));
  return ofSource(true) ?? ofSource(false);
}

function compared(own: Measurement, expected: number, inputs: string): Measurement {
  const difference = Math.abs(own.value - expected) / Math.abs(expected);
  if (difference <= DISAGREEMENT) return own;
  const note = `${inputs} give ${shown(own.concept.key as ConceptKey, expected)}`;
  return { ...own, note: [own.note, note].filter(Boolean).join('; ') };
}

/**
 * A quantity that follows from others; null where one of them is missing. Where the machine reports
 * the quantity itself, its value stands, and a disagreement with its inputs is said.
 */
export function calculated(
  values: Values,
  key: ConceptKey,
  calculation: Calculation,
): Measurement | null {
  const { section, method, value, note, ofOneSource } = calculation;
  const inputs = inputsOf(values, calculation);
  const given = values.measurement(key);
  if (!inputs) return given && { ...given, section };
  const result = value(...inputs.map((input) => input.value));
  // A divisor of zero in the machine's report is an error of that input, not a value of this one.
  if (!Number.isFinite(result)) return given && { ...given, section };
  const cart = inputs.every(isOfMachine);
  if (given) {
    const ofImages = isOfMachine(given) && inputs.every((input) => !isOfMachine(input));
    const named = ofImages ? `${ofOneSource ?? 'values'} of the images` : 'its inputs';
    return { ...compared(given, result, named), section };
  }
  const measurement = createMeasurement(key, key, result, method, {
    section,
    source: { ...NO_FRAME, provenance: cart ? 'cart-sr' : 'image-analysis' },
    inputs: inputs.map(({ id }) => id),
    note: note ?? null,
  });
  return withPlausibility(measurement, key);
}

/** A value as the report prints it: rounded half away from zero, with its unit. */
export function shown(key: ConceptKey, value: number): string {
  const { decimals, unit } = CONCEPTS[key];
  const number = rounded(value, decimals).toFixed(decimals);
  return `${number} ${unitText(unit)}`.trimEnd();
}

/** "LVIDd 5.1 cm". */
export function named({ concept, value }: Measurement): string {
  const key = concept.key as ConceptKey;
  return `${CONCEPTS[key].abbreviation} ${shown(key, value)}`;
}

const SEXES = ['male', 'female'] as const;

/** The value with the normal range of the sex; with both ranges in words where the sex is unknown. */
export function ranged(
  measurement: Measurement,
  quantity: GradedQuantity,
  sex: Sex | null,
): Measurement {
  const caution =
    quantity.evidence === 'B' ? 'range as published, not read again independently' : null;
  if (!sex) {
    const ranges = SEXES.map((one) => `${one} ${quantity[one].normal.join(' to ')}`).join(', ');
    const note = [measurement.note, `normal range: ${ranges}`, caution];
    return { ...measurement, note: note.filter(Boolean).join('; ') };
  }
  const [low, high] = quantity[sex].normal;
  const value = rounded(measurement.value, quantity.decimals);
  return {
    ...measurement,
    reference: { low, high, centile: null, z_score: null, chart: quantity.source },
    interpretation: value < low ? 'L' : value > high ? 'H' : 'N',
    note: [measurement.note, caution].filter(Boolean).join('; ') || null,
  };
}

/** The grade of a value in the partition of the sex; null where either is unknown. */
export function graded(measurement: Measurement | null, quantity: GradedQuantity, sex: Sex | null) {
  return measurement?.quality === 'accepted' && sex
    ? gradeOf(quantity, sex, measurement.value)
    : null;
}
