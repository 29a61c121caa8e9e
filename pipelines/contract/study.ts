import type { GrayImage, PixelScale, Point } from './image.ts';

/** A rectangle of stored pixels, both corners included (PS3.3 C.8.5.5.1.2 to .5). */
export interface Rectangle {
  minX: number;
  minY: number;
  maxX: number;
  maxY: number;
}

/** Where a scale came from; with `none`, nothing may be given in millimetres. */
type CalibrationSource = 'region' | 'pixel-spacing' | 'user' | 'none';

/** A rectangle of a frame with its scale. */
export interface CalibratedRegion {
  area: Rectangle;
  scale: PixelScale;
  source: Exclude<CalibrationSource, 'none'>;
}

/**
 * What the values of a sweep are (echo 2.5); `doppler`: the header does not say whether PW or CW.
 */
export type SweepKind = 'pw' | 'cw' | 'doppler' | 'm-mode' | 'colour-m-mode';

/**
 * A spectral Doppler or M-mode display: time runs along x, a velocity or a depth along y. All sizes
 * are positive; `zeroRow` and `yDirection` give the direction of the axes.
 */
export interface SweepRegion {
  kind: SweepKind;
  area: Rectangle;
  /** Null where the x axis is not in seconds. */
  secondsPerPixel: number | null;
  /** Size of one pixel along y, in `unit`; null where the header gives no usable value. */
  valuePerPixel: number | null;
  /** `Hz`: a Doppler shift, because the header does not give the transducer frequency. */
  unit: 'cm/s' | 'cm' | 'Hz';
  /** Row of the frame (not of the region) where the value is 0: the baseline, or the skin. */
  zeroRow: number | null;
  /** By the sign of Physical Delta Y; many carts write a positive one for Doppler, too. */
  yDirection: 'up' | 'down';
  /** Region Flags bits 3 and 4: how the trace is refreshed (PS3.3 C.8.5.5.1.3). */
  renewal: 'unspecified' | 'scrolling' | 'sweeping' | 'both';
  /**
   * Degrees; null where the header gives none. Whether the velocities are corrected by it is
   * unknown.
   */
  correctionAngle: number | null;
  steeringAngle: number | null;
  /** kHz. */
  transducerFrequency: number | null;
  /** Hz. */
  pulseRepetitionFrequency: number | null;
  /** Gate of the PW beam in pixels of the frame, on the 2D picture beside the sweep. */
  sampleVolume: Point | null;
}

/** An ECG drawn beside the picture, its samples, or both. */
export interface Ecg {
  /** The strip as drawn; null where the file has samples only. */
  area: Rectangle | null;
  /** Along the drawn strip; null where the x axis is not in seconds. */
  secondsPerPixel: number | null;
  /** One channel of a Waveform Sequence (PS3.3 C.10.9), `start` seconds from the first frame. */
  samples: { start: number; perSecond: number; values: readonly number[] } | null;
}

/** The source of the frame times; `none`: they are all 0 and mean nothing. */
export type Timing =
  | 'frame-time-vector'
  | 'frame-time'
  | 'cine-rate'
  | 'display-rate'
  | 'container'
  | 'none';

/** One frame of a clip. Pixels are decoded on request, so that no whole cine is held in memory. */
export interface Frame {
  /** 0-based index in its clip; DICOM frame number minus one. */
  index: number;
  /** Seconds from the first frame; 0 for a still. */
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

/** What a header may state about an image; a file without a header is `UNDESCRIBED`. */
export interface Description {
  sopInstanceUid: string | null;
  sopClassUid: string | null;
  seriesInstanceUid: string | null;
  timing: Timing;
  /** Spectral Doppler and M-mode displays, in the order of the header. */
  sweeps: readonly SweepRegion[];
  /** Where colour flow is drawn over tissue (Region Data Type 2); empty: unknown. */
  colourAreas: readonly Rectangle[];
  /**
   * Every rectangle that the header calls ultrasound or a physiological trace, with or without a
   * scale; text and graphics are outside of them. Empty: unknown.
   */
  ultrasoundAreas: readonly Rectangle[];
  /** Ultrasound Color Data Present (0028,0014); null: unknown. */
  colourDataPresent: boolean | null;
  /**
   * Burned In Annotation (0028,0301): whether text in the pixels identifies the patient; null:
   * unknown.
   */
  burnedInAnnotation: boolean | null;
  ecg: Ecg | null;
  /** Beats per minute. */
  heartRate: number | null;
  /** Seconds of each R wave from the first frame, ascending; empty: unknown. */
  rWaves: readonly number[];
  /** Seconds from the R wave to the first frame of a triggered acquisition; null: unknown. */
  triggerTime: number | null;
  /** Stress protocol in the words of the operator or the cart. For matching only, never shown. */
  stageName: string | null;
  stageNumber: number | null;
  /** The view in the words of the operator or the cart. For matching only, never shown. */
  viewName: string | null;
  /** View Code Sequence, `scheme:value`: the coded form of the view. */
  viewCode: string | null;
  /** Anatomic Region Sequence, `scheme:value`; for a spectrum, the vessel. */
  anatomicRegion: string | null;
  /** Image Laterality (0020,0062) of a paired structure. */
  laterality: 'left' | 'right' | null;
  /** Instance Number: the order that the cart gave within a series. */
  instanceNumber: number | null;
  /**
   * Seconds from the first image of the study to this one; negative for a prior. It orders and
   * groups the clips without revealing a date. Null: the file does not say when it was acquired.
   */
  instant: number | null;
}

/** The description of a file without a header: a still, video or animation. */
export const UNDESCRIBED: Description = {
  sopInstanceUid: null,
  sopClassUid: null,
  seriesInstanceUid: null,
  timing: 'none',
  sweeps: [],
  colourAreas: [],
  ultrasoundAreas: [],
  colourDataPresent: null,
  burnedInAnnotation: null,
  ecg: null,
  heartRate: null,
  rWaves: [],
  triggerTime: null,
  stageName: null,
  stageNumber: null,
  viewName: null,
  viewCode: null,
  anatomicRegion: null,
  laterality: null,
  instanceNumber: null,
  instant: null,
};

/** One image or cine of the study, from a file of any kind. */
export interface Clip extends Description {
  /** Name of the file in the request; never a path of this machine. */
  file: string;
  width: number;
  height: number;
  frames: readonly Frame[];
  /** 2D tissue regions with a scale, in the order of the header. Empty: uncalibrated. */
  regions: readonly CalibratedRegion[];
  /** Why the calibration in the file was refused; null where none was. */
  calibrationRefused: string | null;
  mode: '2d' | 'colour' | 'spectral' | 'm-mode' | 'unknown';
}

/** The first word of the reason for a file that was read with changes. */
export const READ = 'read';

/** A file that was not read, or read with changes, and why, in one sentence for a person. */
export interface RefusedFile {
  file: string;
  reason: string;
}

/** A coded concept: coding scheme designator, code value and meaning (PS3.3 8.1 to 8.3). */
export interface CartCode {
  scheme: string;
  code: string;
  meaning: string;
}

/**
 * How the machine obtained a value (PS3.16 CID 3627); `other`: not a value of the quantity itself.
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

/** Why the machine reports this value of several (PS3.16 CID 224 and CID 12301). */
export type CartSelection = 'user' | 'most-recent' | 'mean' | 'minimum' | 'maximum';

/** One value of a structured report that the ultrasound machine wrote. */
export interface CartMeasurement {
  /** Key of the concept table; null for a quantity that the table does not have. */
  key: string | null;
  /** As the machine named it; SNOMED-RT codes are replaced by their SNOMED CT equivalents. */
  concept: CartCode;
  value: number;
  /** UCUM; the unit of the concept table where `key` is known. */
  unit: string;
  /** Null where the machine does not state it. */
  derivation: CartDerivation | null;
  selection: CartSelection | null;
  /**
   * For an age, centile or z-score in a biometry group (TID 5008): the quantity it was derived
   * from.
   */
  of: CartCode | null;
  equation: CartCode | null;
  method: CartCode | null;
  site: CartCode | null;
  laterality: 'left' | 'right' | null;
  /** Letter or number of the fetus; null for a single fetus and for the mother. */
  fetus: string | null;
  /** Cardiac cycle point. */
  phase: CartCode | null;
  respiration: CartCode | null;
  imageMode: CartCode | null;
  imageView: CartCode | null;
  flowDirection: CartCode | null;
  stage: CartCode | null;
  /** Post-coordinated measurements of TID 5302. */
  property: CartCode | null;
  divisor: CartCode | null;
  /** Name of the file of the report. */
  file: string;
  sopInstanceUid: string | null;
  /** The image that was measured, where the report names it. */
  image: { sopInstanceUid: string; frame: number | null } | null;
}

/** What a report may state about a value, each not stated. */
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

/** A structured report of an earlier examination. */
export interface PriorReport {
  file: string;
  /** Seconds from the first image of the study, negative; null: the report has no date. */
  instant: number | null;
  /** True: an unreviewed draft of this gateway; false: a report of the ultrasound machine. */
  draft: boolean;
  values: readonly CartMeasurement[];
}

export interface Study {
  clips: readonly Clip[];
  refused: readonly RefusedFile[];
  files: number;
  series: number;
  /** Number of studies that the headers name, present only where there are several. */
  studies?: number;
  /** Clips of earlier examinations: their measurements are used for comparison only. */
  priors?: readonly Clip[];
  /** Reports of earlier examinations, where there are any. */
  priorReports?: readonly PriorReport[];
  /** Values of the structured reports of the ultrasound machine, where there are any. */
  cart?: readonly CartMeasurement[];
}

/**
 * The scale for a measurement: that of the region that contains all its points; of several regions
 * the smallest, such as an inset over a larger picture. Null where no region does (obstetric 0.4):
 * then nothing may be given in millimetres.
 */
export function scaleFor(clip: Clip, points: readonly Point[]): CalibratedRegion | null {
  const holds = ({ area }: CalibratedRegion) =>
    points.every(
      (p) => p.x >= area.minX && p.x <= area.maxX && p.y >= area.minY && p.y <= area.maxY,
    );
  const size = ({ area }: CalibratedRegion) => (area.maxX - area.minX) * (area.maxY - area.minY);
  return clip.regions.filter(holds).toSorted((a, b) => size(a) - size(b))[0] ?? null;
}

/** A file or frame that cannot be read; the message is the sentence that the result shows. */
export class UnreadableInput extends Error {
  override name = 'Refusal';
}
