import type { Clip, Rectangle, Study } from '../../contract/study.ts';
import type { HeartLocator } from './heart-locator.ts';
import type { HeartView } from './names.ts';

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

/** The view of one clip, and who says so. */
export interface ClipView {
  clip: Clip;
  /** Null: neither the header nor a model names one that can be relied on. */
  view: HeartView | null;
  source: 'header' | 'model' | null;
  /** Of the model; null where the header names the view, or no model looked. */
  confidence: number | null;
  /** The view that the model would have named without its gate. */
  belowGate: HeartView | null;
  /** The fan of the picture in stored pixels; null where the clip was not looked at. */
  fan: Rectangle | null;
}
