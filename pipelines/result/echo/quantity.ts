import type { Coding, MeasurementConcept, Unit } from '../coding.ts';

/** A coding of the DICOM controlled terminology. */
export const dcm = (code: string, meaning: string): Coding => ({ scheme: 'DCM', code, meaning });

/** A quantity of echocardiography, in the same unit for people and for exchange. */
export function quantity<U extends Unit>(
  label: string,
  abbreviation: string,
  unit: U,
  decimals: number,
  coding: Coding,
  site: Coding | null = null,
) {
  return {
    label,
    abbreviation,
    codings: [coding],
    unit,
    exchange: { unit, factor: 1 },
    decimals,
    group: 'echo',
    site,
  } as const satisfies MeasurementConcept;
}

/** Shown in mm; CID 12300 and its users have cm. */
export function millimetres(label: string, abbreviation: string, coding: Coding) {
  return {
    ...quantity(label, abbreviation, 'mm', 0, coding),
    exchange: { unit: 'cm', factor: 0.1 },
  } as const satisfies MeasurementConcept;
}
