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

/** One frame of a clip. Pixels are decoded when asked for, so that no cine is held whole. */
export interface Frame {
  /** 0-based index in its clip; DICOM frame number minus one. */
  index: number;
  /** Seconds from the first frame; 0 for a still. */
  time: number;
  gray(): Promise<GrayImage>;
  /** Interleaved 8-bit RGB of the whole frame, for previews. */
  rgb(): Promise<{ width: number; height: number; data: Uint8Array }>;
}

/** One image or cine of the study, whatever file it came from. */
export interface Clip {
  /** Name of the file as the request knows it; never a path of this machine. */
  file: string;
  sopInstanceUid: string | null;
  sopClassUid: string | null;
  seriesInstanceUid: string | null;
  width: number;
  height: number;
  frames: readonly Frame[];
  /** 2D tissue regions with a scale, in the order of the header. Empty: uncalibrated. */
  regions: readonly CalibratedRegion[];
  /** Why a calibration that the file offered was refused; null when none was. */
  calibrationRefused: string | null;
  mode: '2d' | 'colour' | 'spectral' | 'm-mode' | 'unknown';
}

/** A file that was not read, and why, in one sentence for a person. */
export interface RefusedFile {
  file: string;
  reason: string;
}

export interface Study {
  clips: readonly Clip[];
  refused: readonly RefusedFile[];
  files: number;
  series: number;
}

/**
 * The scale that holds for a measurement: that of the region which contains all its points.
 * Null where no region does (obstetric reference 0.4): then nothing is given in millimetres.
 */
export function scaleFor(clip: Clip, points: readonly Point[]): CalibratedRegion | null {
  const holds = ({ area }: CalibratedRegion) =>
    points.every(
      (p) => p.x >= area.minX && p.x <= area.maxX && p.y >= area.minY && p.y <= area.maxY,
    );
  return clip.regions.find(holds) ?? null;
}
