import type { EarlierSource } from '../../result/earlier-values.ts';
import type { Measurement } from '../../result/envelope.ts';
import type { SectionEvidence } from '../shared/section.ts';

export interface EarlierLength {
  measurement: Measurement;
  source: EarlierSource;
}

/** One earlier examination with the values measured on it. */
export interface EarlierScan {
  /**
   * Whole days from the earlier examination to this study; null where its files do not state a
   * date.
   */
  daysBefore: number | null;
  /** Whether its reports, or the names of its images, show that there are several fetuses. */
  severalFetuses: boolean;
  /** For each length the value from the best source that gives it, under its plain id. */
  lengths: readonly EarlierLength[];
  /**
   * Weight and ratios calculated from these lengths; empty where the age at that scan is not known.
   */
  derived: readonly Measurement[];
}

export interface GrowthEvidence extends SectionEvidence {
  /** Names of earlier studies that came with the request. */
  priors: readonly string[];
  /** The earlier examinations that were read, newest first. */
  earlier: readonly EarlierScan[];
}
