import type { Study } from '../../contract/study.ts';
import type { Dating } from '../../result/render/obstetric/shared.ts';
import type { FramePlane } from './plane.ts';

/** The input of a reader. Frames are decoded on demand; do not keep their pixels. */
export interface ReaderInput<Models> {
  study: Study;
  options: { dating?: Dating | undefined };
  /** The plane of every frame; empty if no permitted model classifies planes. */
  planes: readonly FramePlane[];
  /** The models that this reader uses; a member is null if no permitted model does the task. */
  locator: Models;
  signal: AbortSignal;
}

/**
 * Reads the images for one section or several. It is the only part of a section with effects. It
 * returns plain data (positions in pixels of stored frames, confidences), so that sections stay
 * pure and are tested without an image. `Models` are the members of the locator that it needs.
 */
export interface Reader<Found, Models = object> {
  /** Follows `inference.` in the name of the stage. */
  stage: string;
  label: string;
  read(input: ReaderInput<Models>): Promise<Found>;
}
