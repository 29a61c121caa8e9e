import type { Point } from '../../contract/image.ts';
import type { FramePlane } from '../shared/plane.ts';
import type { EvidenceWith } from '../shared/section.ts';

/** Minimum width of a pocket, mm. Narrower fluid is not a pocket (AIUM-ACR-ACOG-SMFM-SRU 2018). */
export const NARROWEST_POCKET_MM = 10;

/** A vertical pocket of fluid on one frame, in pixels of the frame. */
export interface FluidPocket {
  top: Point;
  bottom: Point;
  /**
   * True if one end is the edge of the picture instead of a wall, so the true depth may be greater.
   */
  cut: boolean;
  confidence: number;
  accepted: boolean;
}

export interface FluidReading extends FramePlane {
  /**
   * Index of the quadrant in the machine's label; null if the label states no quadrant, or several.
   */
  quadrant: number | null;
  /** False if the frame has no scale; no value in millimetres is then possible. */
  calibrated: boolean;
  /** Null if no pocket is wide enough, or if widths are unknown because the frame has no scale. */
  pocket: FluidPocket | null;
}

export interface FluidReadings {
  /** Null if no permitted model can find fluid. */
  frames: readonly FluidReading[] | null;
  /** Half width of the 95 % interval of a pocket's depth, mm; null if unknown. */
  uncertainty: number | null;
}

export type FluidEvidence = EvidenceWith<'amnioticFluid', FluidReadings>;
