import type { Point } from '../../contract/image.ts';
import type { FramePlane } from '../shared/plane.ts';
import type { SectionEvidence } from '../shared/section.ts';

/** Narrower fluid is no pocket (AIUM-ACR-ACOG-SMFM-SRU 2018), mm. */
export const NARROWEST_POCKET_MM = 10;

/** A vertical pocket on one frame, pixels of the frame. */
export interface FluidPocket {
  top: Point;
  bottom: Point;
  /** Whether an end is the edge of the picture and not a wall: then it is at least so deep. */
  cut: boolean;
  confidence: number;
  accepted: boolean;
}

/** What a frame of the fluid showed. */
export interface FluidReading extends FramePlane {
  /** False: nothing can be given in millimetres. */
  calibrated: boolean;
  /** Null: none that is wide enough, or no scale to tell. */
  pocket: FluidPocket | null;
}

export interface FluidReadings {
  /** Null where no permitted model finds fluid. */
  frames: readonly FluidReading[] | null;
  /** Half width of the 95 % interval of a depth, mm. */
  uncertainty: number | null;
}

/** What the section looks at. */
export interface FluidEvidence extends SectionEvidence {
  views: {
    amnioticFluid?: FluidReadings | null;
  };
}
