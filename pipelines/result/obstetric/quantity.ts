import type { Coding, MeasurementConcept, Unit } from '../coding.ts';

/** A length in millimetres, of the section of biometry unless its entry says another. */
export function length(
  label: string,
  abbreviation: string,
  coding: Coding,
  site: Coding | null,
): MeasurementConcept {
  return {
    label,
    abbreviation,
    codings: [coding],
    unit: 'mm',
    exchange: { unit: 'mm', factor: 1 },
    decimals: 1,
    group: 'biometry',
    site,
  };
}

export function ratio(label: string, abbreviation: string, coding: Coding): MeasurementConcept {
  return {
    label,
    abbreviation,
    codings: [coding],
    unit: '%',
    exchange: { unit: '%', factor: 1 },
    decimals: 1,
    group: 'ratio',
    site: null,
  };
}

export function summary(
  label: string,
  abbreviation: string,
  coding: Coding,
  unit: Unit,
): MeasurementConcept {
  return {
    label,
    abbreviation,
    codings: [coding],
    unit,
    exchange: { unit, factor: 1 },
    decimals: 0,
    group: 'summary',
    site: null,
  };
}
