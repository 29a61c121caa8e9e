import type { PixelScale, Point } from '../../contract/image.ts';
import type { JointEjectionFraction } from '../locate/ejection-fraction.ts';
import type { Chamber } from '../locate/names.ts';
import type { JudgedChamber, OutlineFault } from '../locate/outline-faults.ts';
import type { ShapeFault, VentriclePose } from '../locate/ventricle-pose.ts';
import type { ApicalView } from './gaps.ts';

/** The chambers of one frame. */
export interface ChamberFrame {
  /** 0-based. */
  frame: number;
  /** Seconds from the first frame of the clip. */
  time: number;
  /** Closed outlines in pixels of the stored frame; absent where a chamber was not found. */
  outlines: Partial<Record<Chamber, readonly Point[]>>;
  /** Outlines as a person corrected them; the phases stay those of the outlines of the network. */
  corrected?: Partial<Record<Chamber, readonly Point[]>>;
  confidence: Readonly<Record<Chamber, number>>;
  pose: VentriclePose | null;
  /** Faults of the outlined ventricle; a frame with a fault is drawn, but not measured. */
  faults: readonly (ShapeFault | OutlineFault | 'below-gate' | 'area-jump')[];
  /** The fault of each other chamber that has one; the chamber is drawn, but not measured here. */
  chamberFaults: Partial<Record<Exclude<JudgedChamber, 'lv'>, OutlineFault>>;
}

/** LVEF of one beat by the outlines and by the second network together. */
export interface JointEjection extends JointEjectionFraction {
  /** The two estimates before they were joined, per cent. */
  byDiscs: number;
  byNetwork: number;
  /** 0-based frames. */
  diastole: number;
  systole: number;
}

/** One apical clip, outlined. */
export interface ChamberClip {
  file: string;
  sopInstanceUid: string | null;
  view: ApicalView;
  viewConfidence: number | null;
  /** Millimetres per pixel; null where the picture has no scale. */
  scale: PixelScale | null;
  heartRate: number | null;
  rWaves: readonly number[];
  /** Number of frames in the clip; every `stride`-th frame was outlined. */
  framesInClip: number;
  stride: number;
  /** Whether the display is mirrored, with the right heart on its right. */
  mirrored: boolean;
  frames: readonly ChamberFrame[];
  ejections: readonly JointEjection[];
}
