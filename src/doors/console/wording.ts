import { specialtyOf } from '../../../pipelines/concepts/specialty.ts';
import type { Measurement, Result } from '../../../pipelines/result/envelope.ts';

/**
 * Puts values and objects into words, and determines which values count. The pipelines that define
 * the values provide the implementation.
 */
export interface Wording {
  /** Returns a result's conclusions. Each element is one sentence. */
  conclusion(result: Result): string[];
  decimals(concept: string): number;
  /**
   * Formats a value as text, rounded to its decimals. Rounding never moves it across a cut-off.
   */
  number(measurement: Measurement): string;
  /** Returns the short name of a quantity, such as `EFW`. */
  abbreviation(concept: string): string;
  /** Returns the display form of a UCUM unit. */
  unit(ucum: string): string;
  /** Formats a gestational age in days as completed weeks and days: `31+4`. */
  weeks(days: number): string;
  centile(centile: number): string;
  zScore(z: number): string;
  /** Describes how a quantity was measured or calculated; returns an unknown key unchanged. */
  method(key: string): string;
  /** Describes why a value was not accepted; null for an accepted value. */
  doubt(measurement: Measurement): string | null;
  /** Returns the name of a reference chart; returns an unknown key unchanged. */
  chart(key: string): string;
  /**
   * Returns the values that are used, as in the PDF. Repeats, and values listed only for
   * comparison, are omitted.
   */
  standing(measurements: readonly Measurement[]): readonly Measurement[];
  /** Describes a category in words. `concept` is the concept of its classification. */
  category(concept: string | null, value: string): string;
  basis(key: string): string;
  /** Returns the name of a storage SOP class, or the UID if the gateway has no name for it. */
  sopClass(uid: string): string;
  /**
   * Display names of image contents, by their id in the result. Cardiac views are not listed,
   * because their ids are already names.
   */
  views: Readonly<Record<string, string>>;
  /**
   * Returns the names that a person may give to an image at an endpoint: cardiac views or planes.
   */
  imageNames(endpoint: string): {
    kind: 'name-view' | 'name-plane';
    options: { value: string; text: string }[];
  };
  /** Returns the name that a study's nth object has in its requests and results. */
  fileName(ordinal: number): string;
}

/** The gestational age on the day of the scan, as stated in the request, and its basis. */
export interface StatedAge {
  days: number;
  basis: string;
}

/**
 * Describes what an endpoint does, such as "obstetric interpretation". An endpoint without a
 * specialty is described by its id.
 */
export function interpretationText(endpoint: string): string {
  const specialty = specialtyOf(endpoint);
  return specialty === null ? endpoint : `${specialty} interpretation`;
}

/** The unit of gestational ages. No other measured quantity has it. */
const AGE_UNIT = 'd';

/** Formats a value for display: a gestational age in weeks, any other value as a number. */
export function valueText(measurement: Measurement, { number, weeks }: Wording): string {
  return measurement.unit === AGE_UNIT ? weeks(measurement.value) : number(measurement);
}

/** Returns the unit that follows `valueText`. */
export const unitOf = ({ unit }: Measurement, wording: Wording): string =>
  unit === AGE_UNIT ? 'weeks' : wording.unit(unit);
