import type { Study } from '../../contract/study.ts';
import type { ObstetricOptions } from './input.ts';
import type { FramePlane } from './key-frames.ts';
import type { Locator } from './locator.ts';

/** What a reader may look at. Frames are decoded when asked for; keep none of their pixels. */
export interface ReaderInput {
  study: Study;
  options: ObstetricOptions;
  /** The plane of every frame; empty where no permitted model classifies planes. */
  planes: readonly FramePlane[];
  locator: Locator;
  signal: AbortSignal;
}

/**
 * Looks at the images for one section or several: the only part of a section with effects. What it
 * returns is plain data (positions in pixels of stored frames, confidences), so that sections stay
 * pure and are tested without an image.
 */
export interface Reader<T> {
  /** Follows `inference.` in the stage name. */
  stage: string;
  label: string;
  read(input: ReaderInput): Promise<T>;
}
