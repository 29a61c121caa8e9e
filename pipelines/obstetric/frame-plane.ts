import type { Clip, Frame } from '../contract/study.ts';
import type { PlaneEstimate } from './locator.ts';

/** One frame of the study with the plane that the classifier saw on it. */
export interface FramePlane {
  clip: Clip;
  frame: Frame;
  estimate: PlaneEstimate;
}
