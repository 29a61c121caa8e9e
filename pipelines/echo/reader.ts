import type { Clip, Study } from '../contract/study.ts';
import type { EchoLocator, EchoView } from './locator.ts';

/** The view of one clip, and who says so. */
export interface ClipView {
  clip: Clip;
  /** Null: neither the header nor a model names one that can be relied on. */
  view: EchoView | null;
  source: 'header' | 'model' | null;
  /** Of the model; null where the header names the view. */
  confidence: number | null;
  /** What the model would have said without its gate. */
  nearest: EchoView | null;
}

/** What a reader may look at. Frames are decoded when asked for; keep none of their pixels. */
export interface EchoReaderInput {
  study: Study;
  views: readonly ClipView[];
  locator: EchoLocator;
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
