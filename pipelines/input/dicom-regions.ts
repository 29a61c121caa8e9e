import type { Point } from '../contract/image.ts';
import type { Rectangle } from '../contract/study.ts';
import { type DicomHeader, type HeaderItem, numberIn } from './dicom-header.ts';

/** Region Spatial Format (PS3.3 C.8.5.5.1.1). */
export const SPATIAL_FORMAT = { picture: 1, mMode: 2, spectral: 3, waveform: 4 } as const;
/** Region Data Type (PS3.3 C.8.5.5.1.2), those that a part of the product looks for. */
export const DATA_TYPE = { tissue: 1, colourFlow: 2, pw: 3, cw: 4, ecg: 0x0a } as const;
/** Physical Units X and Y Direction (PS3.3 C.8.5.5.1.15). */
export const UNIT = {
  none: 0,
  centimetre: 3,
  second: 4,
  hertz: 5,
  centimetrePerSecond: 7,
} as const;

const LAST_ULTRASOUND_FORMAT = SPATIAL_FORMAT.waveform;

/** A number along x and one along y; null where the header gives none. */
export interface Axes {
  x: number | null;
  y: number | null;
}

/** One item of the Sequence of Ultrasound Regions, as written (PS3.3 C.8.5.5). */
export interface UltrasoundRegion {
  format: number | null;
  dataType: number | null;
  flags: number;
  /** Cut to the image; null where it has no area. */
  area: Rectangle | null;
  /** The corners as written, for a sentence. */
  corners: string;
  units: Axes;
  /** Physical Delta, signed. */
  delta: Axes;
  /** Reference Pixel, relative to the first corner (C.8.5.5.1.6). */
  referencePixel: Axes;
  referenceValue: Axes;
  correctionAngle: number | null;
  steeringAngle: number | null;
  /** kHz. */
  transducerFrequency: number | null;
  pulseRepetitionFrequency: number | null;
  /** Pixel of the frame. */
  sampleVolume: Point | null;
}

export interface Regions {
  regions: readonly UltrasoundRegion[];
  /** Why none of them can be trusted; null where they fit the image. */
  misfit: string | null;
}

function areaOf(item: HeaderItem, columns: number, rows: number) {
  const minX = numberIn(item, 'RegionLocationMinX0') ?? Number.NaN;
  const minY = numberIn(item, 'RegionLocationMinY0') ?? Number.NaN;
  const maxX = numberIn(item, 'RegionLocationMaxX1') ?? Number.NaN;
  const maxY = numberIn(item, 'RegionLocationMaxY1') ?? Number.NaN;
  const corners = `(${minX}, ${minY}) to (${maxX}, ${maxY})`;
  // Some carts write the corner after the last pixel, so one beyond the edge is still the edge.
  const outside = minX >= columns || minY >= rows || maxX > columns || maxY > rows;
  const area: Rectangle | null =
    maxX > minX && maxY > minY
      ? { minX, minY, maxX: Math.min(maxX, columns - 1), maxY: Math.min(maxY, rows - 1) }
      : null;
  return { area, corners, outside };
}

function axes(item: HeaderItem, x: Parameters<typeof numberIn>[1], y: typeof x): Axes {
  return { x: numberIn(item, x), y: numberIn(item, y) };
}

/** The attributes of 2009 and those they replaced, which were unsigned. */
function sampleVolume(item: HeaderItem): Point | null {
  const x =
    numberIn(item, 'DopplerSampleVolumeXPosition') ??
    numberIn(item, 'DopplerSampleVolumeXPositionRetired');
  const y =
    numberIn(item, 'DopplerSampleVolumeYPosition') ??
    numberIn(item, 'DopplerSampleVolumeYPositionRetired');
  return x === null || y === null ? null : { x, y };
}

/** Whether a region shows ultrasound or a trace; format 0 is none, 5 is graphics. */
export function showsUltrasound({ format }: UltrasoundRegion): boolean {
  return format !== null && format > 0 && format <= LAST_ULTRASOUND_FORMAT;
}

/**
 * The regions of a header. One that reaches outside the image, and be it the ECG's, makes all of
 * them doubtful: the image was cropped or resized after it was calibrated.
 */
export function readRegions(header: DicomHeader, columns: number, rows: number): Regions {
  let misfit: string | null = null;
  const regions = header.regions.map((item): UltrasoundRegion => {
    const { area, corners, outside } = areaOf(item, columns, rows);
    const region: UltrasoundRegion = {
      format: numberIn(item, 'RegionSpatialFormat'),
      dataType: numberIn(item, 'RegionDataType'),
      flags: numberIn(item, 'RegionFlags') ?? 0,
      area,
      corners,
      units: axes(item, 'PhysicalUnitsXDirection', 'PhysicalUnitsYDirection'),
      delta: axes(item, 'PhysicalDeltaX', 'PhysicalDeltaY'),
      referencePixel: axes(item, 'ReferencePixelX0', 'ReferencePixelY0'),
      referenceValue: axes(item, 'ReferencePixelPhysicalValueX', 'ReferencePixelPhysicalValueY'),
      correctionAngle: numberIn(item, 'DopplerCorrectionAngle'),
      steeringAngle: numberIn(item, 'SteeringAngle'),
      transducerFrequency: numberIn(item, 'TransducerFrequency'),
      pulseRepetitionFrequency: numberIn(item, 'PulseRepetitionFrequency'),
      sampleVolume: sampleVolume(item),
    };
    if (outside && showsUltrasound(region)) {
      misfit ??= `the region ${corners} reaches outside the image of ${columns} x ${rows} pixels`;
    }
    return region;
  });
  return { regions, misfit };
}
