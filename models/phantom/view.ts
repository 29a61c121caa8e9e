import type { Screen } from './acquisition.ts';
import type { ImageHeader } from './dicom.ts';
import type { PhantomFrame } from './frame.ts';
import type { FetalSizes } from './sizes.ts';

export interface ViewRequest {
  gaDays: number;
  sizes: FetalSizes;
  /** Anatomy, pose, machine and speckle depend only on this seed. */
  seed: number;
  /** Number of frames of a cine; 1 for a still. */
  frames: number;
  screen?: Screen;
  /**
   * Values that a caller can request (such as a dilated cervix or a heart rate). Absent values are
   * drawn at random.
   */
  anatomy?: Readonly<Record<string, number>>;
}

/**
 * A view other than the biometry planes: its simulation, the ages at which it is used, and the
 * contents of its DICOM header in addition to one tissue region (sweeps, frame time). The frames
 * contain the truth.
 */
export interface PhantomView {
  id: string;
  /** Ages in days at which the view is used; both ends are included. */
  ages: { youngest: number; oldest: number };
  simulate(request: ViewRequest): PhantomFrame[];
  header?(frames: readonly PhantomFrame[]): Partial<ImageHeader>;
}
