import type { Code } from '../sr/content-item.ts';
import type { SourceInstance } from '../subject.ts';

/** The pixels of one frame that belong to a segment: 1 inside, 0 outside, row by row. */
export interface FrameMask {
  /** 1-based frame of the source instance. */
  frame: number;
  /** As long as rows times columns of the source instance. */
  pixels: Uint8Array;
}

/** One structure on one image, as a segment of a Segmentation (PS3.3 C.8.20.4). */
export interface Segment {
  /** As a viewer lists it: "Fetal head". */
  label: string;
  description: string;
  /** CID 7150. */
  category: Code;
  type: Code;
  /** Equal to the Tracking Identifier and UID of the SR's measurement group (TID 1410). */
  tracking: { identifier: string; uid: string };
  /** Ascending frames, none twice. */
  frames: readonly FrameMask[];
}

/** All segments of one source image: what one Segmentation object holds. */
export interface SegmentedImage {
  source: SourceInstance;
  segments: readonly Segment[];
}
