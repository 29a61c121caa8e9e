import type { Clip, Rectangle, Study } from '../../contract/study.ts';
import type { HeartLocator } from './heart-locator.ts';
import type { HeartView } from './names.ts';

/** The input of a reader. Frames are decoded on request; a reader must not keep their pixels. */
export interface EchoReaderInput {
  study: Study;
  views: readonly ClipView[];
  locator: HeartLocator;
  signal: AbortSignal;
}

/**
 * Reads the images for one section or several. It returns plain data (outlines in pixels of stored
 * frames, times, confidences), so that sections stay pure and are tested without images.
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
  /** Null where neither the header nor a model names a reliable view. */
  view: HeartView | null;
  source: 'header' | 'model' | null;
  /** Confidence of the model; null where the header names the view, or no model was used. */
  confidence: number | null;
  /** The view that the model would have named without its gate. */
  belowGate: HeartView | null;
  /** The fan of the picture in stored pixels; null where the clip was not looked at. */
  fan: Rectangle | null;
}
