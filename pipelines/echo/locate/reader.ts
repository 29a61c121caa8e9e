import type { Clip, Rectangle, Study } from '../../contract/study.ts';
import type { HeartLocator } from './heart-locator.ts';
import type { HeartView } from './names.ts';

/**
 * The input of a reader. Frames are decoded on request; a reader must not keep their pixels
 * afterwards.
 */
export interface EchoReaderInput {
  study: Study;
  views: readonly ClipView[];
  locator: HeartLocator;
  signal: AbortSignal;
}

/**
 * Reads the images for one or several sections. A reader returns plain data (outlines in pixels of
 * stored frames, times, confidences), so that sections stay pure and are tested without images.
 */
export interface EchoReader<T> {
  /** The part of the stage name after `inference.`. */
  stage: string;
  label: string;
  read(input: EchoReaderInput): Promise<T>;
}

/** The view of one clip, and whether the header or the model named it. */
export interface ClipView {
  clip: Clip;
  /** Null where neither the header nor a model names a reliable view. */
  view: HeartView | null;
  source: 'header' | 'model' | 'person' | null;
  /** Confidence of the model; null where the header names the view, or no model was used. */
  confidence: number | null;
  /** The view that the model would have named if it had no gate; null: none. */
  belowGate: HeartView | null;
  /**
   * Whether the picture could not be distinguished from the rest of the screen: then the whole frame
   * was given to the classifier.
   */
  unseparated: boolean;
  /** The fan of the picture in stored pixels; null where no frame of the clip was examined. */
  fan: Rectangle | null;
}
