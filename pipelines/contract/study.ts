import type { CartMeasurement } from './cart.ts';
import type { GrayImage, PixelScale, Point } from './image.ts';

/** A rectangle of stored pixels, both corners included (PS3.3 C.8.5.5.1.2 to .5). */
export interface Rectangle {
  minX: number;
  minY: number;
  maxX: number;
  maxY: number;
}

/** Where a scale came from; `none` forbids every millimetre. */
export type CalibrationSource = 'region' | 'pixel-spacing' | 'user' | 'none';

/** One calibrated (or knowingly uncalibrated) rectangle of a frame. */
export interface CalibratedRegion {
  area: Rectangle;
  scale: PixelScale;
  source: Exclude<CalibrationSource, 'none'>;
}

/** How the values of a sweep were made (echo 2.5); `doppler`: the header does not say. */
export type SweepKind = 'pw' | 'cw' | 'doppler' | 'm-mode' | 'colour-m-mode';

/**
 * A spectral Doppler or M-mode display: time runs along x, a velocity or a depth along y. All sizes
 * are positive; where the axes point is said by `zeroRow` and `yDirection`. Read it with
 * measure/sweep-axis.ts.
 */
export interface SweepRegion {
  kind: SweepKind;
  area: Rectangle;
  /** Null where the x axis is not in seconds. */
  secondsPerPixel: number | null;
  /** Size of one pixel along y, in `unit`; null where the header gives none that can be used. */
  valuePerPixel: number | null;
  /** `Hz`: a Doppler shift whose transducer frequency the header leaves out. */
  unit: 'cm/s' | 'cm' | 'Hz';
  /** Row of the frame (not of the region) where the value is 0: the baseline, or the skin. */
  zeroRow: number | null;
  /** As the sign of Physical Delta Y says it; many carts write a positive one for Doppler too. */
  yDirection: 'up' | 'down';
  /** Region Flags bits 3 and 4: how the trace is renewed (PS3.3 C.8.5.5.1.3). */
  renewal: 'unspecified' | 'scrolling' | 'sweeping' | 'both';
  /** Degrees; null where the header gives none. Whether velocities are corrected by it: not said. */
  correctionAngle: number | null;
  steeringAngle: number | null;
  /** kHz. */
  transducerFrequency: number | null;
  /** Hz. */
  pulseRepetitionFrequency: number | null;
  /** Gate of the PW beam, pixels of the frame, on the 2D picture beside the sweep. */
  sampleVolume: Point | null;
}

/** An ECG drawn beside the picture, its samples, or both. */
export interface Ecg {
  /** The strip as drawn; null where only samples came. */
  area: Rectangle | null;
  /** Along the drawn strip; null where the x axis is not in seconds. */
  secondsPerPixel: number | null;
  /** One channel of a Waveform Sequence (PS3.3 C.10.9), `start` seconds from the first frame. */
  samples: { start: number; perSecond: number; values: readonly number[] } | null;
}

/** What the times of the frames come from; `none`: they are all 0 and say nothing. */
export type Timing =
  | 'frame-time-vector'
  | 'frame-time'
  | 'cine-rate'
  | 'display-rate'
  | 'container'
  | 'none';

/** One frame of a clip. Pixels are decoded when asked for, so that no cine is held whole. */
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

/** What a header may tell of an image; a file without a header is `UNDESCRIBED`. */
export interface Description {
  sopInstanceUid: string | null;
  sopClassUid: string | null;
  seriesInstanceUid: string | null;
  timing: Timing;
  /** Spectral Doppler and M-mode displays, in the order of the header. */
  sweeps: readonly SweepRegion[];
  /** Where colour flow is drawn over tissue (Region Data Type 2); empty: not said. */
  colourAreas: readonly Rectangle[];
  /**
   * Every rectangle that the header calls ultrasound or a physiological trace, of known scale or
   * not: outside of them stand text and graphics. Empty: not said.
   */
  ultrasoundAreas: readonly Rectangle[];
  /** Ultrasound Color Data Present (0028,0014); null: not said. */
  colourDataPresent: boolean | null;
  /** Burned In Annotation (0028,0301): whether text in the pixels identifies; null: not said. */
  burnedInAnnotation: boolean | null;
  ecg: Ecg | null;
  /** Beats per minute. */
  heartRate: number | null;
  /** Seconds of each R wave from the first frame, ascending; empty: not said. */
  rWaves: readonly number[];
  /** Seconds from the R wave to the first frame of a triggered acquisition; null: not said. */
  triggerTime: number | null;
  /** Stress protocol, as the cart words it. Text of an operator: to match, never to show. */
  stageName: string | null;
  stageNumber: number | null;
  /** The cart's word for the view. Text of an operator: to match, never to show. */
  viewName: string | null;
  /** View Code Sequence, `scheme:value`; the modern coded form of the view. */
  viewCode: string | null;
  /** Anatomic Region Sequence, `scheme:value`: of a spectrum, the vessel. */
  anatomicRegion: string | null;
  /** Image Laterality (0020,0062) of a paired structure. */
  laterality: 'left' | 'right' | null;
  /** Instance Number: the order of the cart within a series. */
  instanceNumber: number | null;
  /**
   * Seconds from the first image of the study to this one; negative for a prior. Orders and
   * groups the clips; no date can be told from it. Null: the file does not say when it was taken.
   */
  instant: number | null;
}

/** The description of a file that has no header: every still, video and animation spreads it. */
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

/** One image or cine of the study, whatever file it came from. */
export interface Clip extends Description {
  /** Name of the file as the request knows it; never a path of this machine. */
  file: string;
  width: number;
  height: number;
  frames: readonly Frame[];
  /** 2D tissue regions with a scale, in the order of the header. Empty: uncalibrated. */
  regions: readonly CalibratedRegion[];
  /** Why a calibration that the file offered was refused; null when none was. */
  calibrationRefused: string | null;
  mode: '2d' | 'colour' | 'spectral' | 'm-mode' | 'unknown';
}

/** How the reason of a file begins that was read, but not as it came. */
export const READ = 'read';

/** A file that was not read, or not as it came, and why, in one sentence for a person. */
export interface RefusedFile {
  file: string;
  reason: string;
}

/** A structured report of an earlier examination. */
export interface PriorReport {
  file: string;
  /** Seconds from the first image of the study, negative; null: the report does not say when. */
  instant: number | null;
  /** Ours and not reviewed, against one that the ultrasound machine wrote. */
  draft: boolean;
  values: readonly CartMeasurement[];
}

export interface Study {
  clips: readonly Clip[];
  refused: readonly RefusedFile[];
  files: number;
  series: number;
  /** Studies that the headers name, where they are more than the one that is meant; else left out. */
  studies?: number;
  /** Clips of earlier examinations, kept apart: what is measured of them is only compared. */
  priors?: readonly Clip[];
  /** Reports of earlier examinations; left out where none came. */
  priorReports?: readonly PriorReport[];
  /** Values of the structured reports of the ultrasound machine; left out where none came. */
  cart?: readonly CartMeasurement[];
}

/**
 * The scale that holds for a measurement: that of the region which contains all its points, and of
 * several the smallest, such as an inset over a larger picture. Null where no region does (obstetric
 * 0.4): then nothing is given in millimetres.
 */
export function scaleFor(clip: Clip, points: readonly Point[]): CalibratedRegion | null {
  const holds = ({ area }: CalibratedRegion) =>
    points.every(
      (p) => p.x >= area.minX && p.x <= area.maxX && p.y >= area.minY && p.y <= area.maxY,
    );
  const size = ({ area }: CalibratedRegion) => (area.maxX - area.minX) * (area.maxY - area.minY);
  return clip.regions.filter(holds).toSorted((a, b) => size(a) - size(b))[0] ?? null;
}

/** A file that is not read; the message is the sentence that the result shows. */
export class UnreadableInput extends Error {
  override name = 'Refusal';
}
