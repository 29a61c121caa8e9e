/** A coded concept: coding scheme designator, code value and meaning (PS3.3 8.1 to 8.3). */
export interface CartCode {
  scheme: string;
  code: string;
  meaning: string;
}

/**
 * How the machine obtained a value (PS3.16 CID 3627); `other`: not a value of the quantity itself.
 */
export type CartDerivation =
  | 'measured'
  | 'calculated'
  | 'mean'
  | 'median'
  | 'best'
  | 'estimated'
  | 'minimum'
  | 'maximum'
  | 'other';

/** Why the machine reports this value of several (PS3.16 CID 224 and CID 12301). */
export type CartSelection = 'user' | 'most-recent' | 'mean' | 'minimum' | 'maximum';

/** One value of a structured report that the ultrasound machine wrote. */
export interface CartMeasurement {
  /** Key of the concept table; null for a quantity that the table does not have. */
  key: string | null;
  /** As the machine named it; SNOMED-RT codes are replaced by their SNOMED CT equivalents. */
  concept: CartCode;
  value: number;
  /** UCUM; the unit of the concept table where `key` is known. */
  unit: string;
  /** Null where the machine does not state it. */
  derivation: CartDerivation | null;
  selection: CartSelection | null;
  /**
   * For an age, centile or z-score in a biometry group (TID 5008): the quantity it was derived
   * from.
   */
  of: CartCode | null;
  equation: CartCode | null;
  method: CartCode | null;
  site: CartCode | null;
  laterality: 'left' | 'right' | null;
  /** Letter or number of the fetus; null for a single fetus and for the mother. */
  fetus: string | null;
  /** Cardiac cycle point. */
  phase: CartCode | null;
  respiration: CartCode | null;
  imageMode: CartCode | null;
  imageView: CartCode | null;
  flowDirection: CartCode | null;
  stage: CartCode | null;
  /** Post-coordinated measurements of TID 5302. */
  property: CartCode | null;
  divisor: CartCode | null;
  /** Name of the file of the report. */
  file: string;
  sopInstanceUid: string | null;
  /** The image that was measured, where the report names it. */
  image: { sopInstanceUid: string; frame: number | null } | null;
}
