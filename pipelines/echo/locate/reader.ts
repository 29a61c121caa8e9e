import type { Study } from '../../contract/study.ts';
import type { HeartLocator } from './heart-locator.ts';
import type { ClipView } from './names.ts';

/** What a reader may look at. Frames are decoded when asked for; keep none of their pixels. */
export interface EchoReaderInput {
  study: Study;
  views: readonly ClipView[];
  locator: HeartLocator;
  signal: AbortSignal;
}

/**
 * Looks at the images for one section or several. What it returns is plain data (outlines in pixels
 * of stored frames, times, confidences), so that sections stay pure and are tested without an image.
 */
export interface EchoReader<T> {
  /** Follows `inference.` in the stage name. */
  stage: string;
  label: string;
  read(input: EchoReaderInput): Promise<T>;
}
