import type { FramePlane, FrameReading, Structure } from '../shared/plane.ts';
import type { SectionEvidence } from '../shared/section.ts';

/** Half width of the 95 % interval of each length; what is outlined errs the more the larger it is. */
export interface LengthUncertainty {
  hcPercent: number | null;
  acPercent: number | null;
  flMm: number | null;
}

/** What the section looks at. */
export interface BiometryEvidence extends SectionEvidence {
  /** Null where no permitted model classifies planes. */
  planes: readonly FramePlane[] | null;
  readings: readonly FrameReading[];
  /** Structures that no permitted model locates. */
  withoutModel: readonly Structure[];
  uncertainty: LengthUncertainty;
}
