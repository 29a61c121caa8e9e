import type { Point } from '../../contract/image.ts';
import type { Clip, Rectangle, Study } from '../../contract/study.ts';
import type { HeartLocator } from './heart-locator.ts';
import type { HeartView, ViewDispute } from './names.ts';

/**
 * Input of a reader. Frames are decoded on request. A reader must not keep their pixels after
 * reading them.
 */
export interface EchoReaderInput {
  study: Study;
  views: readonly ClipView[];
  locator: HeartLocator;
  signal: AbortSignal;
}

/**
 * Reads the images for one or more sections. A reader returns plain data (outlines in pixels of
 * stored frames, times, confidences), so sections need no images and can be tested without them.
 */
export interface EchoReader<T> {
  /** Suffix of the stage name, after `inference.`. */
  stage: string;
  label: string;
  /**
   * Reads the images.
   *
   * @param known called after each clip with the readings so far.
   */
  read(input: EchoReaderInput, known?: (soFar: T) => void): Promise<T>;
}

/** View of one clip, and what identified it: the header, the model or a person. */
export interface ClipView {
  clip: Clip;
  /**
   * Null if neither the header nor a model identifies the view reliably, or if they contradict each
   * other.
   */
  view: HeartView | null;
  source: 'header' | 'model' | 'person' | null;
  /** The model's confidence. Null if the header states the view, or if no model was used. */
  confidence: number | null;
  /** The most probable view if its probability was below the gate; otherwise null. */
  belowGate: HeartView | null;
  /** Absent if the header and the classifier do not contradict each other. */
  dispute?: ViewDispute;
  /**
   * True if the picture could not be separated from the rest of the screen, so the classifier
   * received the whole frame.
   */
  unseparated: boolean;
  /** True if the clip was recorded under stress. No chamber is then measured on it. */
  underStress: boolean;
  /** In stored pixels; null if no frame of the clip was examined. */
  fan: Rectangle | null;
}

/**
 * Returns the view as which a clip is read. A disputed clip is read as its header names it, so that
 * its values are available once a person has named the view.
 */
export const viewToRead = ({ view, dispute }: ClipView): HeartView | null =>
  view ?? dispute?.named ?? null;

/**
 * Returns the rank of a clip among those of the same view: clips without a dispute first, then clips
 * with a scale, then clips with a view stated in the header, then clips with a higher classifier
 * confidence.
 */
export const clipRank = ({ clip, source, confidence, dispute }: ClipView): number =>
  (dispute ? 0 : 4) +
  (clip.regions.length > 0 ? 2 : 0) +
  (source === 'header' ? 1 : (confidence ?? 0));

/** Returns the upper left and lower right corner of a fan, the points for looking up its scale. */
export const cornersOf = ({ minX, minY, maxX, maxY }: Rectangle): [Point, Point] => [
  { x: minX, y: minY },
  { x: maxX, y: maxY },
];
