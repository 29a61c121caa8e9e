import type { ConceptKey } from '../../concepts/concepts.ts';
import type { SectionOutcome } from '../../result/section-outcome.ts';
import type { Sex } from './grading.ts';
import type { Values } from './values.ts';

/** The patient as the request describes them; null where it does not say. */
export interface EchoPatient {
  sex: Sex | null;
  /** Years. */
  age: number | null;
  /** Centimetres and kilograms. */
  height: number | null;
  weight: number | null;
  /** Body surface area for indexing, m²; null where it is missing or implausible. */
  surface: number | null;
}

/** What every section may ask for; each declares the rest of what it needs beside it. */
export interface PatientEvidence {
  patient: EchoPatient;
}

/** One section of the result: what it needs, and a pure function from the evidence to an outcome. */
export interface EchoSection<Evidence = PatientEvidence> {
  id: string;
  title: string;
  /** Views, modes and values without which the section is not assessed. */
  needs: readonly string[];
  /** Quantities that are shown in this section once they were measured. */
  measures: readonly ConceptKey[];
  /** `values` holds what was measured and what the sections before this one calculated. */
  run(evidence: Evidence, values: Values): SectionOutcome;
}
