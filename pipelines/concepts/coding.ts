/**
 * Coding scheme designators (PS3.16 chapter 8). `99USINT` is our private scheme, for concepts that
 * no other scheme has.
 */
export const CODING_SYSTEMS = {
  LN: 'http://loinc.org',
  DCM: 'http://dicom.nema.org/resources/ontology/DCM',
  SCT: 'http://snomed.info/sct',
  '99USINT': 'urn:sonogate:99USINT',
} as const;

export type CodingScheme = keyof typeof CODING_SYSTEMS;

export interface Coding {
  scheme: CodingScheme;
  code: string;
  meaning: string;
}

/** Maps each UCUM code to the code meaning for Measurement Units Code Sequence (PS3.16 CID 82). */
export const UNITS = {
  mm: 'mm',
  g: 'g',
  d: 'day',
  deg: 'degree',
  cm: 'centimeter',
  '{H.B.}/min': 'Heart beat per minute',
  'cm/s': 'centimeter per second',
  '%': 'Percent',
  '1': 'no units',
  'cm/m2': 'centimeter per square meter',
  cm2: 'square centimeter',
  'cm2/m2': 'square centimeter per square meter',
  'g/m2': 'gram per square meter',
  'm/s': 'meter per second',
  m2: 'square meter',
  ml: 'milliliter',
  'ml/m2': 'milliliter per square meter',
  'mm[Hg]': 'millimeter of mercury',
  'mm/mm[Hg]': 'millimeter per millimeter of mercury',
  mm2: 'square millimeter',
  ms: 'millisecond',
} as const;

export type Unit = keyof typeof UNITS;

export interface MeasurementConcept {
  /** Name printed in reports. */
  label: string;
  abbreviation: string;
  /** The first code is used in SR and `Observation.code`; the others are equivalents. */
  codings: readonly [Coding, ...Coding[]];
  /** UCUM unit of the value in the result envelope. */
  unit: Unit;
  /** Unit in SR and FHIR, and the factor that converts a value of the result envelope to it. */
  exchange: { unit: Unit; factor: number };
  /** Number of decimals shown to people. */
  decimals: number;
  /** Part of the examination. For most groups, it decides the section of TID 5000. */
  group:
    | 'biometry'
    | 'ratio'
    | 'summary'
    | 'early-gestation'
    | 'cranium'
    | 'intrapartum'
    | 'amniotic-sac'
    | 'pelvis'
    | 'vascular'
    | 'heart'
    /** Adult echocardiography, which has no section in TID 5000. */
    | 'echo';
  /** Finding site that the concept always has; null if each value states its own, or none. */
  site: Coding | null;
}

/** A measurement method. `measurement.method` contains its key. */
export interface Method {
  text: string;
  /**
   * Value of (121421, DCM, "Equation Citation"); null if the method only defines caliper placement.
   */
  citation: string | null;
  /**
   * Value of (121420, DCM, "Equation") from CID 12013 and 12014; null if neither has a code for it.
   */
  equation: Coding | null;
}

/** A reference chart. `measurement.reference.chart` contains its key. */
export interface Chart {
  name: string;
  /**
   * Value of (121422, DCM, "Table of Values Citation"). A citation is used because no context group
   * has a code for these charts.
   */
  citation: string;
}

export const ln = (code: string, meaning: string): Coding => ({ scheme: 'LN', code, meaning });
export const sct = (code: string, meaning: string): Coding => ({ scheme: 'SCT', code, meaning });
/**
 * Returns a code of our private scheme, for a concept that no other scheme has. By default, the
 * meaning is the code in words. A quantity later gets its label as meaning (`quantityIn`).
 */
export const own = (code: string, meaning?: string): Coding => {
  const words = code.replaceAll('-', ' ');
  return {
    scheme: '99USINT',
    code,
    meaning: meaning ?? words.charAt(0).toUpperCase() + words.slice(1),
  };
};

/** Returns true if the digit after the dash is the mod-10 check digit of a LOINC code. */
export function hasValidCheckDigit(code: string): boolean {
  const [, body = '', check] = /^(\d+)-(\d)$/.exec(code) ?? [];
  if (!check) return false;
  const digits = [...body].toReversed().map(Number);
  const doubled = (digit: number) => (digit > 4 ? 2 * digit - 9 : 2 * digit);
  const sum = digits.reduce((total, digit, i) => total + (i % 2 === 0 ? doubled(digit) : digit), 0);
  return (10 - (sum % 10)) % 10 === Number(check);
}

/** Returns a code of the DICOM controlled terminology. */
export const dcm = (code: string, meaning: string): Coding => ({ scheme: 'DCM', code, meaning });

/**
 * Returns the builder of quantities of one group, unit and site that are shown and exchanged in the
 * same unit. A private code in first place has the label as its meaning, in both SR and FHIR.
 */
export const quantityIn =
  <U extends Unit>(
    group: MeasurementConcept['group'],
    unit: U,
    decimals: number,
    site: Coding | null = null,
  ) =>
  (label: string, abbreviation: string, [first, ...others]: MeasurementConcept['codings']) =>
    ({
      label,
      abbreviation,
      codings: [first.scheme === '99USINT' ? { ...first, meaning: label } : first, ...others],
      unit,
      exchange: { unit, factor: 1 },
      decimals,
      group,
      site,
    }) as const satisfies MeasurementConcept;

/** Kinds of echo quantities, each with its unit and the number of decimals shown to people. */
export const fraction = quantityIn('echo', '%', 0);
export const strain = quantityIn('echo', '%', 1);
export const plainRatio = quantityIn('echo', '1', 2);
export const distance = quantityIn('echo', 'cm', 1);
export const area = quantityIn('echo', 'cm2', 1);
export const orifice = quantityIn('echo', 'cm2', 2);
export const volume = quantityIn('echo', 'ml', 0);
export const volumeIndex = quantityIn('echo', 'ml/m2', 0);
export const velocity = quantityIn('echo', 'm/s', 1);
export const inflowVelocity = quantityIn('echo', 'cm/s', 0);
export const tissueVelocity = quantityIn('echo', 'cm/s', 1);
export const pressure = quantityIn('echo', 'mm[Hg]', 0);
export const interval = quantityIn('echo', 'ms', 0);

/** Returns the concept of a length that is shown in mm and exchanged in cm. CID 12300 uses cm. */
export const millimetres = (...given: Parameters<ReturnType<typeof quantityIn>>) =>
  ({
    ...quantityIn('echo', 'mm', 0)(...given),
    exchange: { unit: 'cm', factor: 0.1 },
  }) as const satisfies MeasurementConcept;

/** Returns a method, with its citation and the code of its equation if it has them. */
export const method = (
  text: string,
  citation: string | null = null,
  equation: Coding | null = null,
): Method => ({ text, citation, equation });

export interface CodedConcept {
  key: string;
  system: string;
  code: string;
  display: string;
}

/** Converts a coding to the format of the result. */
export const conceptOf = (key: string, { scheme, code, meaning }: Coding): CodedConcept => ({
  key,
  system: CODING_SYSTEMS[scheme],
  code,
  display: meaning,
});
