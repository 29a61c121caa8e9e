import {
  type Chart,
  type CodedConcept,
  conceptOf,
  type MeasurementConcept,
  type Method,
} from './coding.ts';
import { ECHO_CHARTS, ECHO_CONCEPTS, ECHO_METHODS } from './echo.ts';
import { OBSTETRIC_CHARTS, OBSTETRIC_CONCEPTS, OBSTETRIC_METHODS } from './obstetric.ts';

/**
 * This file holds the only table of codes. A measurement refers to its concept, method and chart by
 * key; SR, FHIR, PDF and the report all get their codes, units, labels and citations from here. The
 * codes are those of the context groups of PS3.16 (2025 edition), mostly from LOINC and SNOMED CT.
 */

export {
  type Chart,
  CODING_SYSTEMS,
  type CodedConcept,
  type Coding,
  type CodingScheme,
  type MeasurementConcept,
  type Method,
  UNITS,
  type Unit,
} from './coding.ts';
export {
  FINDING_CONCEPTS,
  type FindingConceptKey,
  findingConcept,
  STATED_AGE,
} from './obstetric.ts';

export const CONCEPTS = {
  ...OBSTETRIC_CONCEPTS,
  ...ECHO_CONCEPTS,
} as const satisfies Record<string, MeasurementConcept>;

export type ConceptKey = keyof typeof CONCEPTS;

/** All methods, by the key used in `measurement.method`. */
export const METHODS = {
  ...OBSTETRIC_METHODS,
  ...ECHO_METHODS,
} as const satisfies Record<string, Method>;

export type MethodKey = keyof typeof METHODS;

/**
 * All charts, by the key used in `measurement.reference.chart`. Each key identifies one version of
 * a chart.
 */
export const CHARTS = {
  ...OBSTETRIC_CHARTS,
  ...ECHO_CHARTS,
} as const satisfies Record<string, Chart>;

export type ChartKey = keyof typeof CHARTS;

/** Returns the `concept` of a measurement in the result envelope. */
export function measurementConcept(key: ConceptKey): CodedConcept {
  return conceptOf(key, CONCEPTS[key].codings[0]);
}

function entryOf<Entry>(table: Readonly<Record<string, Entry>>, key: string): Entry | null {
  return Object.hasOwn(table, key) ? (table[key] ?? null) : null;
}

/**
 * Returns the entry for `measurement.concept.key`; null for an unknown key, such as one from a
 * later version.
 */
export function conceptEntry(key: string): MeasurementConcept | null {
  return entryOf<MeasurementConcept>(CONCEPTS, key);
}

/** Returns the entry for `measurement.method`; null for free text. */
export function methodEntry(key: string): Method | null {
  return entryOf<Method>(METHODS, key);
}

/** Returns the entry for `reference.chart`; null for free text. */
export function chartEntry(key: string): Chart | null {
  return entryOf<Chart>(CHARTS, key);
}

/** Returns a string as a concept key if the table has it; otherwise null. */
export const conceptKey = (key: string | null): ConceptKey | null =>
  key !== null && Object.hasOwn(CONCEPTS, key) ? (key as ConceptKey) : null;
