import type { Measurement } from '../../result/envelope.ts';
import type { EarlierSource } from '../../result/render/obstetric/growth.ts';
import type { SectionEvidence } from '../shared/section.ts';

export interface EarlierLength {
  measurement: Measurement;
  source: EarlierSource;
}

/** One earlier examination with the values measured on it. */
export interface EarlierScan {
  /** Whole days from the earlier examination to this study; null if its files contain no date. */
  daysBefore: number | null;
  /** True if its reports or image labels indicate several fetuses. */
  severalFetuses: boolean;
  /**
   * Each length from the best source that has it. The id of the one in use is its concept's key.
   */
  lengths: readonly EarlierLength[];
  /** Ages, weight and ratios by these lengths; empty if the age at that scan is unknown. */
  derived: readonly Measurement[];
}

export interface GrowthEvidence extends SectionEvidence {
  /** Names of the earlier studies in the request. */
  priors: readonly string[];
  /** The earlier examinations that were read, newest first. */
  earlier: readonly EarlierScan[];
  /** Returns a centile as text, in the form used by every output (obstetric 0.3). */
  centileText(centile: number): string;
}
