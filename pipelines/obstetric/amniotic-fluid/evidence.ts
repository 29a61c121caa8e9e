import type { Point } from '../../contract/image.ts';
import type { FramePlane } from '../shared/plane.ts';
import type { SectionEvidence } from '../shared/section.ts';

/** Minimum width of a pocket, mm: narrower fluid does not count (AIUM-ACR-ACOG-SMFM-SRU 2018). */
export const NARROWEST_POCKET_MM = 10;

/** A vertical pocket of fluid on one frame, in pixels of the frame. */
export interface FluidPocket {
  top: Point;
  bottom: Point;
  /**
   * Whether one end is the edge of the picture and not a wall: the true depth may then be greater.
   */
  cut: boolean;
  confidence: number;
  accepted: boolean;
}

/** What was found on one frame that shows amniotic fluid. */
export interface FluidReading extends FramePlane {
  /** Index of the quadrant that the machine named; null where it named none, or several. */
  quadrant: number | null;
  /** False where the frame has no scale, so that nothing can be given in millimetres. */
  calibrated: boolean;
  /** Null where no pocket is wide enough, or where there is no scale to tell its width. */
  pocket: FluidPocket | null;
}

export interface FluidReadings {
  /** Null where no permitted model can find fluid. */
  frames: readonly FluidReading[] | null;
  /** Half width of the 95 % interval of a pocket's depth, mm; null where it is not known. */
  uncertainty: number | null;
}

/** What the amniotic fluid section works from. */
export interface FluidEvidence extends SectionEvidence {
  views: {
    amnioticFluid?: FluidReadings | null;
  };
}
