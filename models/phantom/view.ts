import type { Screen } from './acquisition.ts';
import type { ImageHeader } from './dicom.ts';
import type { PhantomFrame } from './frame.ts';
import type { FetalSizes } from './sizes.ts';

export interface ViewRequest {
  gaDays: number;
  sizes: FetalSizes;
  /** Fixes anatomy, pose, machine and speckle. */
  seed: number;
  /** Frames of a cine; 1 for a still. */
  frames: number;
  screen?: Screen;
  /** What the view lets a caller ask for (a dilated cervix, a heart rate); drawn where absent. */
  anatomy?: Readonly<Record<string, number>>;
}

/**
 * A view beside the planes of biometry: how it is simulated, at which ages it is looked at, and what
 * its DICOM header says beyond one tissue region (sweeps, frame time). Truth stands in the frames.
 */
export interface PhantomView {
  id: string;
  /** Ages in days at which the view is looked at, both included. */
  ages: { youngest: number; oldest: number };
  simulate(request: ViewRequest): PhantomFrame[];
  header?(frames: readonly PhantomFrame[]): Partial<ImageHeader>;
}
