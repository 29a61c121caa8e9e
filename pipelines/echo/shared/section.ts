import type { ConceptKey } from '../../concepts/concepts.ts';
import type { Study } from '../../contract/study.ts';
import type { Measurement } from '../../result/envelope.ts';
import type { SectionOutcome } from '../../result/section-outcome.ts';
import type { SpectrumReading } from '../displays/read.ts';
import type { HeartOutlines } from '../evidence.ts';
import type { ClipView } from '../locate/reader.ts';
import type { Readings } from '../readers.ts';
import type { Sex } from './grading.ts';
import type { Values } from './values.ts';

/** Of the patient, as the request says; null: not said. */
export interface EchoPatient {
  sex: Sex | null;
  age: number | null;
  /** cm and kg */
  height: number | null;
  weight: number | null;
  /** Body surface area for indexing, m2; null where it is withheld. */
  surface: number | null;
}

/** All that the sections may look at: gathered once, before any of them runs. */
export interface EchoEvidence {
  study: Study;
  patient: EchoPatient;
  /** Values of the machine's reports, traces and outlines, each in the section that owns it. */
  measured: readonly Measurement[];
  /** Every spectral display, traced, whatever flow it shows. */
  spectra: readonly SpectrumReading[];
  /** The view of every clip. */
  clips: readonly ClipView[];
  /** What every image reader found; null where it failed. */
  views: Readings;
  /** The outlines of the apical clips, analysed. */
  heart: HeartOutlines;
  /** One to five videos of a handheld scanner instead of a study. */
  handheld: boolean;
  priors: readonly string[];
}

/** One section of the result: what it needs, and a pure function of the evidence. */
export interface EchoSection {
  id: string;
  title: string;
  /** Views, modes and values without which it is not assessed. */
  needs: readonly string[];
  /** Quantities that are shown in this section when they were measured. */
  measures: readonly ConceptKey[];
  /** `values` holds what was measured, and what the sections before calculated. */
  run(evidence: EchoEvidence, values: Values): SectionOutcome;
}
