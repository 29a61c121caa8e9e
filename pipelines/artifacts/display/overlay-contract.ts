/**
 * The contents of a request's `overlays.json`: what a viewer draws over the key frames and cines.
 * This file contains only types, so that a browser can import it. The tests validate written files
 * with the same contents as a schema (test/pipelines/artifacts/display/overlay-schema.ts).
 *
 * Positions are as in the result: pixel-centre coordinates of the stored frame, independent of the
 * size of the displayed picture. For SVG over a picture use `viewBox="-0.5 -0.5 {columns} {rows}"`.
 * Frames are counted from 1, times are seconds from the first frame of the clip, lengths are in
 * pixels.
 */
export interface Overlays {
  schema: 'sonogate.overlays/1';
  /** Always true, because no person has verified the contents of this file. */
  draft: true;
  /** In the order of the study. */
  clips: OverlayClip[];
  /** Null if there is no gestational age, or no value to chart. */
  growth: GrowthCharts | null;
}

export type Position = [x: number, y: number];

/** A rectangle of pixels. Both corners belong to it. */
export interface Box {
  min_x: number;
  min_y: number;
  max_x: number;
  max_y: number;
}

/** One image or cine of the study. */
export interface OverlayClip {
  /** The same name as `measurements[].source.file` of the result. */
  file: string;
  /**
   * Content of the first key frame of the clip according to the result: the cardiac view (`A4C`),
   * the plane (`transthalamic`), or the vessel or flow of a spectrum (`umbilical-artery`). Null if
   * not known.
   */
  view: string | null;
  mode: '2d' | 'colour' | 'spectral' | 'm-mode' | 'unknown';
  /** Width of the stored frames, in pixels. */
  columns: number;
  rows: number;
  frames: number;
  /** Areas in which lengths can be measured, and the size of a pixel in each area. */
  scales: { area: Box; mm_per_pixel: { x: number; y: number } }[];
  /** Axes of spectral Doppler and M-mode displays. */
  sweeps: SweepAxes[];
  /** Frames of end-diastole and end-systole, one pair for each beat. */
  beats: { end_diastole: number; end_systole: number }[];
  key_frames: KeyFrame[];
  /**
   * Null for a still or a sweep, for a clip with neither a value nor an outline, and once the limit
   * on the size of all cines is reached.
   */
  cine: Cine | null;
  calipers: DrawnMeasurement[];
  contours: Contour[];
  masks: Mask[];
  /** Structures that models found but that are not drawn as calipers. */
  structures: Structure[];
  traces: FlowTrace[];
}

/** A frame as a JPEG, without drawings. */
export interface KeyFrame {
  frame: number;
  time: number;
  /** Content of this frame, in the same terms as `view` of the clip. */
  view: string | null;
  /** Name of the artifact, such as `key-frame-1.jpg`. */
  artifact: string;
  /** Size of the picture in pixels. It has the aspect ratio of the stored frame. */
  width: number;
  height: number;
  /**
   * Ids of the sections that measured or chose this frame; empty if it was chosen only to represent
   * its clip.
   */
  sections: string[];
}

/**
 * The frames of a clip as JPEGs, concatenated in one file (Motion JPEG). The JPEG of a frame begins
 * at `offset`. A viewer can therefore show any frame while keeping only a few decoded frames in
 * memory.
 */
export interface Cine {
  /** Name of the artifact, such as `cine-1.mjpeg`. */
  artifact: string;
  width: number;
  height: number;
  /** False if the source file contains no frame times; `time` then assumes 25 frames per second. */
  timed: boolean;
  frames: { frame: number; time: number; offset: number; bytes: number }[];
}

/** A measurement, to be drawn on the frame on which it was made. */
export interface DrawnMeasurement {
  /** Id of the measurement in the result. */
  measurement: string;
  section: string;
  /** Key in the concept table, such as `hc`. */
  concept: string;
  label: string;
  value: number;
  /** UCUM code. */
  unit: string;
  /**
   * Label with the value, such as "HC 262.4 mm"; without the number if the value was not accepted.
   */
  text: string;
  quality: 'accepted' | 'review' | 'low' | 'inadequate';
  frame: number;
  shapes: Shape[];
}

export interface Shape {
  /**
   * Type of the points. `line`: two points; `ellipse`: both ends of one axis, followed by both ends
   * of the other axis; `polyline`: an open trace; `polygon`: a closed outline whose first point is
   * not repeated.
   */
  type: 'line' | 'ellipse' | 'polyline' | 'polygon';
  points: Position[];
}

/**
 * The closed outline of a structure on one frame. Chambers have an outline on every frame of a
 * cine, reduced to every second point. Other structures have the outlines that the result lists.
 */
export interface Contour {
  frame: number;
  structure:
    | 'lv'
    | 'myocardium'
    | 'la'
    | 'rv'
    | 'ra'
    | 'symphysis'
    | 'fetal-head'
    | 'fetal-abdomen';
  points: Position[];
  /**
   * False if the outline on this frame is doubtful: it is drawn, but nothing was measured with it.
   */
  measured: boolean;
}

/** An accepted outline, filled. It covers the same pixels as in the DICOM Segmentation. */
export interface Mask {
  frame: number;
  label: string;
  /**
   * Id of the measurement made on the outline. Null if the outline was accepted but has no value,
   * such as the outline of a head on an image without a scale.
   */
  measurement: string | null;
  section: string;
  runs: [row: number, first: number, last: number][];
}

/**
 * A structure that was found on a frame. It may be unmeasured and the image may have no scale, so
 * it contains no lengths.
 */
export interface Structure {
  frame: number;
  section: string;
  /** Key of the structure, such as `nuchal-translucency`. */
  structure: string;
  /** Display name of the structure, such as "Nuchal translucency". */
  label: string;
  /** From 0 to 1. */
  confidence: number;
  /**
   * False if the confidence is below the model's gate or the shape is implausible. Such a structure
   * is not used.
   */
  accepted: boolean;
  /** `rectangle`: top left and bottom right corner. The other types are as in `Shape`. */
  type: 'line' | 'ellipse' | 'polygon' | 'rectangle';
  points: Position[];
}

export interface FlowTrace {
  frame: number;
  section: string;
  side: 'above' | 'below';
  /** Row at which the velocity is 0. */
  baseline_row: number;
  /** One point for each column. Where there is no flow, the point is on the baseline. */
  points: Position[];
  /** Columns at which the beats begin or peak; empty if beats were not separated. */
  beats: number[];
}

export interface SweepAxes {
  kind: 'pw' | 'cw' | 'doppler' | 'm-mode' | 'colour-m-mode';
  area: Box;
  /** Null if the time axis has no scale. */
  seconds_per_pixel: number | null;
  /** Size of a pixel along y in `unit`; null if the axis has no scale. */
  value_per_pixel: number | null;
  unit: 'cm/s' | 'cm' | 'Hz';
  /** Row of the frame at which the value is 0; null if unknown. */
  zero_row: number | null;
  /** Direction in which values increase. */
  direction: 'up' | 'down';
}

export interface GrowthCharts {
  ga_days: number;
  charts: GrowthChart[];
}

/** Centile curves of one quantity, with its values in this scan and in earlier scans. */
export interface GrowthChart {
  concept: string;
  label: string;
  /** UCUM code. */
  unit: string;
  chart: string;
  citation: string;
  curves: { centile: number; points: [weeks: number, value: number][] }[];
  measured: {
    measurement: string;
    fetus: string | null;
    weeks: number;
    value: number;
    centile: number | null;
  }[];
  /** Values from earlier scans, oldest first. */
  earlier: { weeks: number; value: number }[];
}
