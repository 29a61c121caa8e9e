import { CONCEPTS, type ConceptKey, type MethodKey } from '../result/concepts.ts';
import type { Measurement } from '../result/envelope.ts';
import { createMeasurement, NO_FRAME } from '../result/measurement.ts';
import { unitText } from '../result/unit-text.ts';
import { rounded } from './formulas/rounding.ts';
import { type GradedQuantity, gradeOf, type Sex } from './guidelines/partition.ts';
import { withPlausibility } from './plausibility.ts';

/** What was measured so far, by concept: accepted values only. */
export interface Values {
  measurement(key: ConceptKey): Measurement | null;
  number(key: ConceptKey): number | null;
}

/** Of several values of a concept the first stands; those of traced images come before the cart's. */
export function valuesOf(measurements: readonly Measurement[]): Values {
  const measurement = (key: ConceptKey) =>
    measurements.find((one) => one.concept.key === key && one.quality === 'accepted') ?? null;
  return { measurement, number: (key) => measurement(key)?.value ?? null };
}

/** The values with what was just calculated before them. */
export function withValues(values: Values, calculations: readonly (Measurement | null)[]): Values {
  const own = valuesOf(calculations.filter((one) => one !== null));
  const measurement = (key: ConceptKey) => own.measurement(key) ?? values.measurement(key);
  return { measurement, number: (key) => measurement(key)?.value ?? null };
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
}

function compared(own: Measurement, expected: number): Measurement {
  const difference = Math.abs(own.value - expected) / Math.abs(expected);
  if (difference <= DISAGREEMENT) return own;
  const note = `from its inputs ${shown(own.concept.key as ConceptKey, expected)} would follow`;
  return { ...own, note: [own.note, note].filter(Boolean).join('; ') };
}

/**
 * A quantity that follows from others; null where one of them is missing. Where the machine reports
 * the quantity itself, its value stands, and a disagreement with its inputs is said.
 */
export function calculated(
  values: Values,
  key: ConceptKey,
  { section, method, from, value, note }: Calculation,
): Measurement | null {
  const inputs = from.map((input) => values.measurement(input));
  const present = inputs.filter((input) => input !== null);
  const given = values.measurement(key);
  if (present.length < inputs.length) return given && { ...given, section };
  const result = value(...present.map((input) => input.value));
  if (given) return { ...compared(given, result), section };
  const cart = present.every(({ source }) => source.provenance === 'cart-sr');
  const measurement = createMeasurement(key, key, result, method, {
    section,
    source: { ...NO_FRAME, provenance: cart ? 'cart-sr' : 'image-analysis' },
    inputs: present.map(({ id }) => id),
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
