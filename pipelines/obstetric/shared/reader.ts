import type { Study } from '../../contract/study.ts';
import type { Dating } from '../../result/render/obstetric/shared.ts';
import type { FramePlane } from './plane.ts';

/** What a reader may look at. Frames are decoded when asked for; keep none of their pixels. */
export interface ReaderInput<Models> {
  study: Study;
  options: { dating?: Dating | undefined };
  /** The plane of every frame; empty where no permitted model classifies planes. */
  planes: readonly FramePlane[];
  /** The models that this reader asks; a member is null where no permitted model serves the task. */
  locator: Models;
  signal: AbortSignal;
}

/**
 * Looks at the images for one section or several: the only part of a section with effects. It returns
 * plain data (positions in pixels of stored frames, confidences), so that sections stay pure and are
 * tested without an image. `Models` are the members of the locator that it needs.
 */
export interface Reader<Found, Models = object> {
  /** Follows `inference.` in the stage name. */
  stage: string;
  label: string;
  read(input: ReaderInput<Models>): Promise<Found>;
}
