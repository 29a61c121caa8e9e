import {
  type Chart,
  CODING_SYSTEMS,
  type Coding,
  ln,
  type MeasurementConcept,
  type Method,
} from './coding.ts';
import { ECHO_CHARTS, ECHO_CONCEPTS, ECHO_METHODS } from './echo.ts';
import { OBSTETRIC_METHODS } from './methods.ts';
import {
  BIOMETRY,
  CIRCULATION,
  EARLY_PREGNANCY,
  FINDING_CONCEPTS,
  OBSTETRIC_CHARTS,
  UTERUS,
} from './obstetric.ts';

/**
 * The one table of codes. A measurement names a concept, a method and a chart by key; SR, FHIR, PDF
 * and the report take codes, units, labels and citations from here and nowhere else.
 * Codes: PS3.16 CID 12003 to 12023 (2025 edition), LOINC, SNOMED CT as in those context groups.
 */

export {
  type Chart,
  CODING_SYSTEMS,
  type Coding,
  type CodingScheme,
  type MeasurementConcept,
  type Method,
  UNITS,
  type Unit,
} from './coding.ts';
export { FINDING_CONCEPTS } from './obstetric.ts';

export const CONCEPTS = {
  ...BIOMETRY,
  ...EARLY_PREGNANCY,
  ...UTERUS,
  ...CIRCULATION,
  ...ECHO_CONCEPTS,
} as const satisfies Record<string, MeasurementConcept>;

export type ConceptKey = keyof typeof CONCEPTS;

/** Gestational age given with the request, by its basis (CID 12019). */
export const STATED_AGE = {
  lmp: ln('11885-1', 'Gestational Age by LMP'),
  crl: ln('18185-9', 'Gestational Age'),
  prior_scan: ln('18185-9', 'Gestational Age'),
  ivf: ln('18185-9', 'Gestational Age'),
} as const satisfies Record<string, Coding>;

export type FindingConceptKey = keyof typeof FINDING_CONCEPTS;

/** `measurement.method` → what it means. */
export const METHODS = {
  ...OBSTETRIC_METHODS,
  ...ECHO_METHODS,
} as const satisfies Record<string, Method>;

export type MethodKey = keyof typeof METHODS;

/** `measurement.reference.chart` → the chart with its version. */
export const CHARTS = {
  ...OBSTETRIC_CHARTS,
  ...ECHO_CHARTS,
} as const satisfies Record<string, Chart>;

export type ChartKey = keyof typeof CHARTS;

/** A concept as results carry it. */
export interface CodedConcept {
  key: string;
  system: string;
  code: string;
  display: string;
}

function toConcept(key: string, coding: Coding): CodedConcept {
  return {
    key,
    system: CODING_SYSTEMS[coding.scheme],
    code: coding.code,
    display: coding.meaning,
  };
}

/** `concept` of a measurement. */
export function measurementConcept(key: ConceptKey): CodedConcept {
  return toConcept(key, CONCEPTS[key].codings[0]);
}

/** `concept` of a finding or a classification. */
export function findingConcept(key: FindingConceptKey): CodedConcept {
  return toConcept(key, FINDING_CONCEPTS[key]);
}

function entryOf<Entry>(table: Readonly<Record<string, Entry>>, key: string): Entry | null {
  return Object.hasOwn(table, key) ? (table[key] ?? null) : null;
}

/** The entry of `measurement.concept.key`; null for a key of a later version. */
export function conceptEntry(key: string): MeasurementConcept | null {
  return entryOf<MeasurementConcept>(CONCEPTS, key);
}

/** The entry of `measurement.method`; null for free text. */
export function methodEntry(key: string): Method | null {
  return entryOf<Method>(METHODS, key);
}

/** The entry of `reference.chart`; null for free text. */
export function chartEntry(key: string): Chart | null {
  return entryOf<Chart>(CHARTS, key);
}
