import type { Measurement, Result } from '../../../pipelines/result/envelope.ts';

/**
 * How values and objects are put into words, and which values count; provided by the parts that
 * define them.
 */
export interface Wording {
  /** What a result concludes, one sentence for each line. */
  conclusion(result: Result): string[];
  /** Decimals of a quantity. */
  decimals(concept: string): number;
  /** The number of a value as text, rounded to its decimals, but never across a cut-off. */
  number(measurement: Measurement): string;
  /** Short name of a quantity: `EFW`. */
  abbreviation(concept: string): string;
  /** A UCUM unit as a person reads it. */
  unit(ucum: string): string;
  /** A gestational age in days as completed weeks and days: `31+4`. */
  weeks(days: number): string;
  /** A centile and a z-score as a person reads them. */
  centile(centile: number): string;
  zScore(z: number): string;
  /** How a quantity was measured or calculated; a text that is not a known key stays as it is. */
  method(key: string): string;
  /** Why a value was not accepted; null for an accepted value. */
  doubt(measurement: Measurement): string | null;
  /** Name of a reference chart; a text that is not a known key stays as it is. */
  chart(key: string): string;
  /** The values that count for their quantity, as in the PDF: without repeats and comparisons. */
  standing(measurements: readonly Measurement[]): readonly Measurement[];
  /** A category of a classification, by the concept of the classification. */
  category(concept: string | null, value: string): string;
  /** How the pregnancy was dated. */
  basis(key: string): string;
  /** Name of a storage SOP class; the UID where it has none here. */
  sopClass(uid: string): string;
  /** What an image shows, by the id that the result has for it; views of the heart are names already. */
  views: Readonly<Record<string, string>>;
  /** What a person may name an image of an endpoint as: views of the heart, or planes. */
  imageNames(endpoint: string): {
    kind: 'name-view' | 'name-plane';
    options: { value: string; text: string }[];
  };
  /** Name of the nth object of a study in its requests and results. */
  fileName(ordinal: number): string;
}

/** A gestational age on the day of the scan, given with the request, and how it is known. */
export interface StatedAge {
  days: number;
  basis: string;
}

/** The unit of gestational ages. No other measured quantity has it. */
const AGE_UNIT = 'd';

/** A value as a person reads it: a gestational age in weeks, any other as its number. */
export function valueText(measurement: Measurement, { number, weeks }: Wording): string {
  return measurement.unit === AGE_UNIT ? weeks(measurement.value) : number(measurement);
}

/** The unit of `valueText`. */
export const unitOf = ({ unit }: Measurement, wording: Wording): string =>
  unit === AGE_UNIT ? 'weeks' : wording.unit(unit);
