import type { EarlierSource } from '../../result/earlier-values.ts';
import type { Measurement } from '../../result/envelope.ts';
import type { SectionEvidence } from '../shared/section.ts';

export interface EarlierLength {
  measurement: Measurement;
  source: EarlierSource;
}

/** One earlier examination with what was measured on it. */
export interface EarlierScan {
  /** Whole days from it to this study; null: its files do not say when it was made. */
  daysBefore: number | null;
  /** Whether its reports, or the names of its images, show that there are several fetuses. */
  severalFetuses: boolean;
  /** Of each length the best source that gives it, under its plain id. */
  lengths: readonly EarlierLength[];
  /** Weight and ratios of these lengths; empty where the age at that scan is not known. */
  derived: readonly Measurement[];
}

export interface GrowthEvidence extends SectionEvidence {
  /** Names of earlier studies that came with the request. */
  priors: readonly string[];
  /** What was read of them, newest first. */
  earlier: readonly EarlierScan[];
}
