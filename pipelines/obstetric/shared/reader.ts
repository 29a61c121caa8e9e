import type { GrayImage } from '../../contract/image.ts';
import type { Frame, Study } from '../../contract/study.ts';
import type { Dating } from '../../result/render/obstetric/shared.ts';
import type { FramePlane } from './plane.ts';

/**
 * Input of a reader. Frames are decoded on demand; a reader must release their pixels after reading
 * them.
 */
export interface ReaderInput<Models> {
  study: Study;
  options: { dating?: Dating | undefined };
  /** The plane of every frame; empty if no permitted model classifies planes. */
  planes: readonly FramePlane[];
  /** Models that this reader uses; a member is null if no permitted model can do its task. */
  locator: Models;
  signal: AbortSignal;
}

/**
 * Reads the images for one or more sections. Only this part of a section has side effects. It
 * returns plain data (positions in pixels of stored frames, confidences), so sections stay pure and
 * can be tested without images. `Models` lists the members of the locator that the reader needs.
 */
export interface Reader<Found, Models = object> {
  /** Suffix of the stage name, after `inference.`. */
  stage: string;
  label: string;
  read(input: ReaderInput<Models>): Promise<Found>;
}

/** Yields the grey images of frames, each decoded when it is needed. */
export async function* grayFrames(
  frames: readonly Frame[],
  signal: AbortSignal,
): AsyncGenerator<GrayImage> {
  for (const frame of frames) {
    signal.throwIfAborted();
    yield await frame.gray();
  }
}
