import type { PixelScale, Point } from '../../contract/image.ts';
import type { JointEjectionFraction } from '../locate/ejection-fraction.ts';
import type { Chamber } from '../locate/names.ts';
import type { JudgedChamber, OutlineFault } from '../locate/outline-faults.ts';
import type { ShapeFault, VentriclePose } from '../locate/ventricle-pose.ts';
import type { ApicalView } from './gaps.ts';

export interface ChamberFrame {
  /** 0-based. */
  frame: number;
  /** Seconds from the first frame of the clip. */
  time: number;
  /** Closed outlines in pixels of the stored frame. A chamber that was not found has no outline. */
  outlines: Partial<Record<Chamber, readonly Point[]>>;
  /**
   * Outlines corrected by a person. The phases of the beats are still determined from the network's
   * outlines.
   */
  corrected?: Partial<Record<Chamber, readonly Point[]>>;
  confidence: Readonly<Record<Chamber, number>>;
  pose: VentriclePose | null;
  /** Faults of the outlined ventricle. A frame with a fault is drawn but not measured. */
  faults: readonly (ShapeFault | OutlineFault | 'below-gate' | 'area-jump')[];
  /**
   * Faults of the other chambers. A chamber with a fault is drawn but not measured on this frame.
   */
  chamberFaults: Partial<Record<Exclude<JudgedChamber, 'lv'>, OutlineFault>>;
}

export interface JointEjection extends JointEjectionFraction {
  /** The two estimates of the ejection fraction, per cent, before they were combined. */
  byDiscs: number;
  byNetwork: number;
  /** Frame numbers, 0-based. */
  diastole: number;
  systole: number;
}

export interface ChamberClip {
  file: string;
  sopInstanceUid: string | null;
  view: ApicalView;
  viewConfidence: number | null;
  scale: PixelScale | null;
  heartRate: number | null;
  rWaves: readonly number[];
  /** Number of frames in the clip. Every `stride`-th frame was outlined. */
  framesInClip: number;
  stride: number;
  /** True if the display is mirrored, with the right heart on the right of the picture. */
  mirrored: boolean;
  frames: readonly ChamberFrame[];
  ejections: readonly JointEjection[];
}
