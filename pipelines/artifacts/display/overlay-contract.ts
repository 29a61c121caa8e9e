/**
 * `overlays.json` of a request: what a viewer draws over its key frames and cines. Types only, so
 * that a browser can import them; overlay-schema.ts checks the same shape.
 *
 * Every position is that of the result: pixel-centre coordinates of the stored frame, whatever the
 * size of the picture. As SVG over a picture: `viewBox="-0.5 -0.5 {columns} {rows}"`. Frames are
 * counted from 1, times are seconds from the first frame of the clip, lengths are pixels.
 */
export interface Overlays {
  schema: 'sonogate.overlays/1';
  /** Nothing here was verified by a person. */
  draft: true;
  /** In the order of the study. */
  clips: OverlayClip[];
  /** Null: no gestational age, or no value on a chart. */
  growth: GrowthCharts | null;
}

/** [x, y]. */
export type Position = [x: number, y: number];

/** Both corners included. */
export interface Box {
  min_x: number;
  min_y: number;
  max_x: number;
  max_y: number;
}

/** One image or cine of the study. */
export interface OverlayClip {
  /** As `measurements[].source.file` of the result. */
  file: string;
  /**
   * What its first key frame shows according to the result: the view of a heart (`A4C`), the plane
   * (`transthalamic`), the vessel or flow of a spectrum (`umbilical-artery`); null: unknown.
   */
  view: string | null;
  mode: '2d' | 'colour' | 'spectral' | 'm-mode' | 'unknown';
  /** Of the stored frames. */
  columns: number;
  rows: number;
  frames: number;
  /** Where lengths can be read, and the size of a pixel there. */
  scales: { area: Box; mm_per_pixel: { x: number; y: number } }[];
  /** Axes of spectral Doppler and M-mode displays. */
  sweeps: SweepAxes[];
  /** Frames of end-diastole and end-systole, one pair for each beat. */
  beats: { end_diastole: number; end_systole: number }[];
  key_frames: KeyFrame[];
  /** Null: a still, or a clip on which nothing was measured. */
  cine: Cine | null;
  calipers: DrawnMeasurement[];
  contours: Contour[];
  masks: Mask[];
  /** What models found, by name, where no caliper shows it. */
  structures: Structure[];
  traces: FlowTrace[];
}

/** A frame as JPEG, without a drawing. */
export interface KeyFrame {
  frame: number;
  time: number;
  /** As `view` of the clip, for this frame. */
  view: string | null;
  /** Name of the artifact, `key-frame-1.jpg`. */
  artifact: string;
  /** Size of the picture; its sides are those of the frame times one factor. */
  width: number;
  height: number;
  /** Ids of the sections that measured it or chose it; empty: it only shows the clip. */
  sections: string[];
}

/**
 * The frames of a clip, each a JPEG, concatenated in one file (Motion JPEG): a frame is the bytes
 * from `offset` on, so that a viewer can step to any frame and keep few of them decoded.
 */
export interface Cine {
  /** Name of the artifact, `cine-1.mjpeg`. */
  artifact: string;
  width: number;
  height: number;
  /** False: the file gives no times, and `time` counts frames at 25 per second. */
  timed: boolean;
  frames: { frame: number; time: number; offset: number; bytes: number }[];
}

/** A measurement on the frame where it was made. */
export interface DrawnMeasurement {
  /** Id of the measurement in the result. */
  measurement: string;
  section: string;
  /** Key of the concept table, `hc`. */
  concept: string;
  label: string;
  value: number;
  /** UCUM. */
  unit: string;
  /** "HC 262.4 mm"; without its number where it was not accepted. */
  text: string;
  quality: 'accepted' | 'low' | 'inadequate';
  frame: number;
  shapes: Shape[];
}

export interface Shape {
  /**
   * `line`: two points; `ellipse`: both ends of one axis, then of the other; `polyline`: an open
   * trace; `polygon`: a closed outline, its first point not repeated.
   */
  type: 'line' | 'ellipse' | 'polyline' | 'polygon';
  points: Position[];
}

/**
 * The closed outline of a structure on one frame: of a chamber on each frame of a cine, with every
 * second point of the result's; of other structures as the result lists them.
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
  /** False: the outline of this frame is doubtful; it is drawn and not used. */
  measured: boolean;
}

/** An accepted outline, filled: the pixels of the DICOM Segmentation. */
export interface Mask {
  frame: number;
  label: string;
  /** Null: the outline was accepted and gave no value, such as that of a head without a scale. */
  measurement: string | null;
  section: string;
  /** Row, first and last column of each run of pixels. */
  runs: [row: number, first: number, last: number][];
}

/**
 * A structure that was found on a frame, with or without a scale, whether or not it gave a value.
 * It contains no lengths.
 */
export interface Structure {
  frame: number;
  section: string;
  /** `nuchal-translucency`. */
  structure: string;
  /** "Nuchal translucency". */
  label: string;
  /** 0 to 1. */
  confidence: number;
  /** False: below the gate of the model, or of an implausible shape; it is not used. */
  accepted: boolean;
  /** `rectangle`: top left and bottom right corner; the others as in `Shape`. */
  type: 'line' | 'ellipse' | 'polygon' | 'rectangle';
  points: Position[];
}

/** The traced velocity curve of a spectral Doppler display. */
export interface FlowTrace {
  frame: number;
  section: string;
  side: 'above' | 'below';
  /** Row of velocity zero. */
  baseline_row: number;
  /** A point for each column; on the baseline where there is no flow. */
  points: Position[];
  /** Columns at which the beats begin or peak; empty: beats were not separated. */
  beats: number[];
}

export interface SweepAxes {
  kind: 'pw' | 'cw' | 'doppler' | 'm-mode' | 'colour-m-mode';
  area: Box;
  /** Null: the time axis has no scale. */
  seconds_per_pixel: number | null;
  /** Size of a pixel along y in `unit`; null: no scale. */
  value_per_pixel: number | null;
  unit: 'cm/s' | 'cm' | 'Hz';
  /** Row of the frame where the value is 0; null: unknown. */
  zero_row: number | null;
  /** The direction in which values increase. */
  direction: 'up' | 'down';
}

export interface GrowthCharts {
  ga_days: number;
  charts: GrowthChart[];
}

/** Centile curves of one quantity, and its values. */
export interface GrowthChart {
  concept: string;
  label: string;
  /** UCUM. */
  unit: string;
  /** Name of the chart, and its citation. */
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
  /** Values of earlier scans, the oldest first. */
  earlier: { weeks: number; value: number }[];
}
