import type { FramePlane, FrameReading, Structure } from '../shared/plane.ts';
import type { SectionEvidence } from '../shared/section.ts';

/**
 * Half width of the 95 % interval for each length. For an outlined structure it is a share of the
 * length, since the error grows with size.
 */
export interface LengthUncertainty {
  hcPercent: number | null;
  acPercent: number | null;
  flMm: number | null;
}

/** What the biometry section works from. */
export interface BiometryEvidence extends SectionEvidence {
  /** Null where no permitted model classifies planes. */
  planes: readonly FramePlane[] | null;
  readings: readonly FrameReading[];
  /** Structures that no permitted model locates. */
  withoutModel: readonly Structure[];
  uncertainty: LengthUncertainty;
}
