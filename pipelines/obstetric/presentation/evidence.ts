import type { Measurement } from '../../result/envelope.ts';
import type { CardiacReading } from '../fetal-heart/evidence.ts';
import type { SectionEvidence } from '../shared/section.ts';
import type { SweepReading } from '../shared/sweeps.ts';

export interface PresentationReadings {
  sweeps: readonly SweepReading[];
  /** Readings of cines of the chest that are not sweeps. */
  cardiac: readonly CardiacReading[];
}

export interface PresentationEvidence extends SectionEvidence {
  /** Accepted rates of the fetal heart, best source first. */
  heartRates: readonly Pick<Measurement, 'method' | 'value'>[];
  views: { presentation?: PresentationReadings | null };
}
