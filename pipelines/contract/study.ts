import type { GrayImage, PixelScale, Point } from './image.ts';

/** A rectangle of stored pixels, both corners inclusive. */
export interface Rectangle {
  minX: number;
  minY: number;
  maxX: number;
  maxY: number;
}

/** Source of a scale. With `none`, no value in millimetres is possible. */
type CalibrationSource = 'region' | 'pixel-spacing' | 'user' | 'none';

export interface CalibratedRegion {
  area: Rectangle;
  scale: PixelScale;
  source: Exclude<CalibrationSource, 'none'>;
}

/**
 * Kind of values on a sweep (echo 2.5). `doppler` means that the header does not indicate whether
 * it is PW or CW.
 */
export type SweepKind = 'pw' | 'cw' | 'doppler' | 'm-mode' | 'colour-m-mode';

/**
 * A spectral Doppler or M-mode display. The x axis is time; the y axis is a velocity or a depth.
 * All sizes are positive; `zeroRow` and `yDirection` define the direction of the y axis.
 */
export interface SweepRegion {
  kind: SweepKind;
  area: Rectangle;
  /** Null if the x axis is not in seconds. */
  secondsPerPixel: number | null;
  /** Size of one pixel along y, in `unit`; null if the header has no usable value. */
  valuePerPixel: number | null;
  /**
   * Unit of the y axis. `Hz` is a Doppler shift, used if the header does not contain the transducer
   * frequency.
   */
  unit: 'cm/s' | 'cm' | 'Hz';
  /** Row of the frame (not of the region) at which the value is 0: the baseline or the skin. */
  zeroRow: number | null;
  /**
   * Direction of the y axis according to the sign of Physical Delta Y. It is unreliable for
   * Doppler, because many carts write a positive sign although velocities increase upwards.
   */
  yDirection: 'up' | 'down';
  /**
   * Correction angle in degrees; null if the header has none. Whether the velocities are already
   * corrected for it is unknown.
   */
  correctionAngle: number | null;
}

/** Source of the frame times. With `none`, all times are 0 and meaningless. */
export type Timing =
  | 'frame-time-vector'
  | 'frame-time'
  | 'cine-rate'
  | 'display-rate'
  | 'container'
  | 'none';

/** One frame of a clip. Pixels are decoded on demand, so a whole cine is never in memory. */
export interface Frame {
  /** 0-based index in its clip; DICOM frame number minus one. */
  index: number;
  /** Time in seconds from the first frame; 0 for a still. */
  time: number;
  gray(): Promise<GrayImage>;
  /** Interleaved 8-bit RGB of the whole frame, for previews. */
  rgb(): Promise<RgbImage>;
}

/** Interleaved 8-bit RGB, row by row, `data.length === 3 * width * height`. */
export interface RgbImage {
  width: number;
  height: number;
  data: Uint8Array;
}

/** Properties of an image that its header may contain. A file without a header is `UNDESCRIBED`. */
export interface Description {
  sopInstanceUid: string | null;
  sopClassUid: string | null;
  seriesInstanceUid: string | null;
  timing: Timing;
  /** Spectral Doppler and M-mode displays, in header order. */
  sweeps: readonly SweepRegion[];
  /**
   * All rectangles that the header declares as ultrasound or a physiological trace, with or without
   * a scale. Text and graphics are outside them. Empty if unknown.
   */
  ultrasoundAreas: readonly Rectangle[];
  /**
   * Burned In Annotation (0028,0301): whether text in the pixels identifies the patient; null if
   * unknown.
   */
  burnedInAnnotation: boolean | null;
  /** Beats per minute. */
  heartRate: number | null;
  /** Time of each R wave in seconds from the first frame, ascending; empty if unknown. */
  rWaves: readonly number[];
  /**
   * Stage of a stress protocol in the words of the operator or the cart. Used only for matching and
   * never shown.
   */
  stageName: string | null;
  stageNumber: number | null;
  /** View in the words of the operator or the cart. Used only for matching and never shown. */
  viewName: string | null;
  /** Code of the view from View Code Sequence, as `scheme:value`. */
  viewCode: string | null;
  /** Code from Anatomic Region Sequence, as `scheme:value`. For a spectrum, this is the vessel. */
  anatomicRegion: string | null;
  /** Image Laterality (0020,0062) of a paired structure. */
  laterality: 'left' | 'right' | null;
  /**
   * Laterality (0020,0060) of the series, which describes an image that states no side itself (PS3.3
   * C.7.3.1). Absent in the evidence of earlier versions.
   */
  seriesLaterality?: 'left' | 'right' | null;
  /**
   * Seconds from the first image of the study to this image. Clips can thus be ordered and grouped
   * without revealing a date. For an image of a prior, the seconds are negative and count from the
   * midnight before the first image. Null if the file does not contain the acquisition time.
   */
  instant: number | null;
}

/** Description of a file without a header: a still, video or animation. */
export const UNDESCRIBED: Description = {
  sopInstanceUid: null,
  sopClassUid: null,
  seriesInstanceUid: null,
  timing: 'none',
  sweeps: [],
  ultrasoundAreas: [],
  burnedInAnnotation: null,
  heartRate: null,
  rWaves: [],
  stageName: null,
  stageNumber: null,
  viewName: null,
  viewCode: null,
  anatomicRegion: null,
  laterality: null,
  seriesLaterality: null,
  instant: null,
};

/** One image or cine of the study, from a file of any kind. */
export interface Clip extends Description {
  /** Name of the file in the request, never a local path. */
  file: string;
  width: number;
  height: number;
  frames: readonly Frame[];
  /** Areas of the 2D picture with a scale, in header order; empty if the clip is not calibrated. */
  regions: readonly CalibratedRegion[];
  /** Reason why the calibration in the file was refused; otherwise null. */
  calibrationRefused: string | null;
  mode: '2d' | 'colour' | 'spectral' | 'm-mode' | 'unknown';
}

/** A file that was not read, or was read with changes, and a sentence explaining why. */
export interface RefusedFile {
  file: string;
  reason: string;
  /** Present if the file was read nevertheless; the reason then states the changes. */
  read?: true | undefined;
}

/** A coded concept: coding scheme designator, code value and meaning (PS3.3 8.1 to 8.3). */
export interface CartCode {
  scheme: string;
  code: string;
  meaning: string;
}

/**
 * How the machine obtained a value (PS3.16 CID 3627). `other` is every other derivation in the
 * report, such as a standard deviation. The number is then not a value of the quantity itself.
 */
export type CartDerivation =
  | 'measured'
  | 'calculated'
  | 'mean'
  | 'median'
  | 'best'
  | 'estimated'
  | 'minimum'
  | 'maximum'
  | 'other';

/** How the machine selected this value among several (PS3.16 CID 224 and CID 12301). */
export type CartSelection = 'user' | 'most-recent' | 'mean' | 'minimum' | 'maximum';

/** One value from a structured report written by the ultrasound machine. */
export interface CartMeasurement {
  /** Key in the concept table; null for a quantity that the table lacks. */
  key: string | null;
  /**
   * Concept in the machine's report, with SNOMED-RT codes replaced by their SNOMED CT equivalents.
   */
  concept: CartCode;
  value: number;
  /** UCUM unit. If `key` is not null, this is the unit in the concept table. */
  unit: string;
  /** Null if the report does not state it. */
  derivation: CartDerivation | null;
  selection: CartSelection | null;
  /** Quantity from which an age, centile or z-score in a biometry group (TID 5008) was derived. */
  of: CartCode | null;
  equation: CartCode | null;
  method: CartCode | null;
  site: CartCode | null;
  laterality: 'left' | 'right' | null;
  /** Letter or number of the fetus; null for a single fetus and for the mother. */
  fetus: string | null;
  /** Point in the cardiac cycle. */
  phase: CartCode | null;
  respiration: CartCode | null;
  imageMode: CartCode | null;
  imageView: CartCode | null;
  flowDirection: CartCode | null;
  stage: CartCode | null;
  /** Property of a post-coordinated measurement (TID 5302). */
  property: CartCode | null;
  divisor: CartCode | null;
  /** Name of the report's file. */
  file: string;
  sopInstanceUid: string | null;
  /** The measured image, if the report references it. */
  image: { sopInstanceUid: string; frame: number | null } | null;
}

/** The optional properties of a machine value, all null, for a report that states none of them. */
export const NOTHING_STATED = {
  derivation: null,
  selection: null,
  of: null,
  equation: null,
  method: null,
  site: null,
  laterality: null,
  fetus: null,
  phase: null,
  respiration: null,
  imageMode: null,
  imageView: null,
  flowDirection: null,
  stage: null,
  property: null,
  divisor: null,
  sopInstanceUid: null,
  image: null,
} as const satisfies Partial<CartMeasurement>;

export interface PriorReport {
  file: string;
  /**
   * Seconds from the midnight before the first image of the study to this report, negative; null if
   * the report has no date.
   */
  instant: number | null;
  /** True for an unreviewed draft by this gateway; false for a report by the ultrasound machine. */
  draft: boolean;
  values: readonly CartMeasurement[];
}

export interface Study {
  clips: readonly Clip[];
  refused: readonly RefusedFile[];
  files: number;
  series: number;
  /** Number of studies according to the headers; present only if there are several. */
  studies?: number;
  /** Clips of earlier examinations, measured only for comparison. */
  priors?: readonly Clip[];
  /** Reports of earlier examinations; absent if there are none. */
  priorReports?: readonly PriorReport[];
  /** Values from the structured reports of the ultrasound machine; absent if there are none. */
  cart?: readonly CartMeasurement[];
}

/**
 * Returns the 1-based number of an image in its study; null if the file is not an image of the
 * study. Sentences and viewers identify images by this number, because file names mean nothing to a
 * reader.
 */
export function imageNumber({ clips }: Pick<Study, 'clips'>, file: string): number | null {
  const place = clips.findIndex((clip) => clip.file === file);
  return place < 0 ? null : place + 1;
}

/** Returns text such as "image 3" for an image number, as used in the console and its pictures. */
export const imageText = (image: ReturnType<typeof imageNumber>): string =>
  image === null ? 'an image' : `image ${image}`;

/** Returns true if the rectangle contains all points. */
export const holds = (area: Rectangle, points: readonly Point[]): boolean =>
  points.every(({ x, y }) => x >= area.minX && x <= area.maxX && y >= area.minY && y <= area.maxY);

/**
 * Returns the scale of the region that contains all points of a measurement. If several regions
 * contain them, the smallest is used, because it is an inset over a larger picture. If no region
 * contains them, returns null: a value in millimetres is then impossible (obstetric 0.4).
 */
export function scaleFor(clip: Clip, points: readonly Point[]): CalibratedRegion | null {
  const size = ({ area }: CalibratedRegion) => (area.maxX - area.minX) * (area.maxY - area.minY);
  return (
    clip.regions
      .filter(({ area }) => holds(area, points))
      .toSorted((a, b) => size(a) - size(b))[0] ?? null
  );
}

/**
 * Thrown for a file or frame that cannot be read. The message is the sentence shown in the result.
 */
export class UnreadableInput extends Error {
  override name = 'UnreadableInput';
}
