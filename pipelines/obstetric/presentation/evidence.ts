import type { CardiacReading, RateEvidence } from '../fetal-heart/evidence.ts';
import type { SweepReading } from '../shared/sweeps.ts';

export interface PresentationReadings {
  sweeps: readonly SweepReading[];
  /** Cines of the chest or the trunk that are no sweeps. */
  cardiac: readonly CardiacReading[];
}

/** What the section looks at. */
export interface PresentationEvidence extends RateEvidence {
  views: RateEvidence['views'] & { presentation?: PresentationReadings | null };
}
