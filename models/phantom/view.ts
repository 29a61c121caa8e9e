import type { Screen } from './acquisition.ts';
import type { ImageHeader } from './dicom.ts';
import type { PhantomFrame } from './frame.ts';
import type { FetalSizes } from './sizes.ts';

export interface ViewRequest {
  gaDays: number;
  sizes: FetalSizes;
  /** The only input that determines anatomy, pose, machine and speckle. */
  seed: number;
  /** Number of frames of a cine; 1 for a still. */
  frames: number;
  screen?: Screen;
  /**
   * Values that a caller can request (such as a dilated cervix or a heart rate). Absent values are
   * sampled at random.
   */
  anatomy?: Readonly<Record<string, number>>;
  /**
   * False if the truth need not contain masks. They take as long as the image. True by default.
   */
  masks?: boolean;
}

/**
 * A view other than the biometry planes: its simulation, the ages at which it is used, and what its
 * DICOM header contains in addition to one tissue region (sweeps, frame time). The frames contain
 * the ground truth.
 */
export interface PhantomView {
  id: string;
  /** Ages in days at which the view is used, inclusive. */
  ages: { youngest: number; oldest: number };
  simulate(request: ViewRequest): PhantomFrame[];
  header?(frames: readonly PhantomFrame[]): Partial<ImageHeader>;
}
