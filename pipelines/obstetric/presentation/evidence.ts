import type { CardiacReading, RateEvidence } from '../fetal-heart/evidence.ts';
import type { SweepReading } from '../shared/sweeps.ts';

export interface PresentationReadings {
  sweeps: readonly SweepReading[];
  /** Readings of the cines of the chest or trunk that are not sweeps. */
  cardiac: readonly CardiacReading[];
}

/** What the presentation section works from. */
export interface PresentationEvidence extends RateEvidence {
  views: RateEvidence['views'] & { presentation?: PresentationReadings | null };
}
