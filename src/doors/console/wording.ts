import type { Measurement, Result } from '../../../pipelines/result/envelope.ts';

/**
 * Formats values and objects in words, and determines which values count. The parts of the program
 * that define the values provide it.
 */
export interface Wording {
  /** Returns the conclusions of a result, one sentence for each line. */
  conclusion(result: Result): string[];
  /** Decimals of a quantity. */
  decimals(concept: string): number;
  /**
   * Formats a value as text, rounded to its decimals. Rounding never moves it across a cut-off.
   */
  number(measurement: Measurement): string;
  /** Short name of a quantity: `EFW`. */
  abbreviation(concept: string): string;
  /** Returns a UCUM unit in the form for people. */
  unit(ucum: string): string;
  /** Formats a gestational age in days as completed weeks and days: `31+4`. */
  weeks(days: number): string;
  /** Formats a centile for people. */
  centile(centile: number): string;
  zScore(z: number): string;
  /**
   * Describes how a quantity was measured or calculated; a text that is not a known key stays
   * unchanged.
   */
  method(key: string): string;
  /** Describes why a value was not accepted; null for an accepted value. */
  doubt(measurement: Measurement): string | null;
  /** Returns the name of a reference chart; a text that is not a known key stays unchanged. */
  chart(key: string): string;
  /**
   * Returns the values that count for their quantity, as in the PDF: without repeats and
   * comparisons.
   */
  standing(measurements: readonly Measurement[]): readonly Measurement[];
  /** Describes a category of a classification, by the concept of the classification. */
  category(concept: string | null, value: string): string;
  /** Describes how the pregnancy was dated. */
  basis(key: string): string;
  /** Returns the name of a storage SOP class, or the UID if no name is known here. */
  sopClass(uid: string): string;
  /**
   * The content of an image in words, by its id in the result. Ids of views of the heart are
   * already names.
   */
  views: Readonly<Record<string, string>>;
  /**
   * Returns the names that a person may give to an image of an endpoint: views of the heart, or
   * planes.
   */
  imageNames(endpoint: string): {
    kind: 'name-view' | 'name-plane';
    options: { value: string; text: string }[];
  };
  /** Returns the name of the nth object of a study in its requests and results. */
  fileName(ordinal: number): string;
}

/** A gestational age on the day of the scan, given with the request, and its basis. */
export interface StatedAge {
  days: number;
  basis: string;
}

/** The unit of gestational ages. No other measured quantity has it. */
const AGE_UNIT = 'd';

/** Formats a value for people: a gestational age in weeks, any other value as its number. */
export function valueText(measurement: Measurement, { number, weeks }: Wording): string {
  return measurement.unit === AGE_UNIT ? weeks(measurement.value) : number(measurement);
}

/** Returns the unit of `valueText`. */
export const unitOf = ({ unit }: Measurement, wording: Wording): string =>
  unit === AGE_UNIT ? 'weeks' : wording.unit(unit);
