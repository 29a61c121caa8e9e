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
   * What a caller can request of the view (a dilated cervix, a heart rate); values that are absent
   * are drawn at random.
   */
  anatomy?: Readonly<Record<string, number>>;
}

/**
 * A view besides the planes of biometry: how it is simulated, at which ages it is used, and what
 * its DICOM header contains besides one tissue region (sweeps, frame time). The frames carry the
 * truth.
 */
export interface PhantomView {
  id: string;
  /** Ages in days at which the view is used, both included. */
  ages: { youngest: number; oldest: number };
  simulate(request: ViewRequest): PhantomFrame[];
  header?(frames: readonly PhantomFrame[]): Partial<ImageHeader>;
}
