import type { Rectangle, SweepKind, SweepRegion } from '../../contract/study.ts';
import { type DicomHeader, type HeaderItem, numberIn } from './header.ts';

/** Region Spatial Format (PS3.3 C.8.5.5.1.1). */
export const SPATIAL_FORMAT = { picture: 1, mMode: 2, spectral: 3, waveform: 4 } as const;
/** Region Data Type (PS3.3 C.8.5.5.1.2), limited to the types that we use. */
export const DATA_TYPE = { tissue: 1, colourFlow: 2, pw: 3, cw: 4 } as const;
/** Physical Units X and Y Direction (PS3.3 C.8.5.5.1.15). */
export const UNIT = {
  centimetre: 3,
  second: 4,
  hertz: 5,
  centimetrePerSecond: 7,
} as const;

const LAST_ULTRASOUND_FORMAT = SPATIAL_FORMAT.waveform;

/** A value for x and one for y. Null if missing from the header. */
interface Axes {
  x: number | null;
  y: number | null;
}

/**
 * One item of the Sequence of Ultrasound Regions, with the values from the header (PS3.3 C.8.5.5).
 */
export interface UltrasoundRegion {
  format: number | null;
  dataType: number | null;
  flags: number;
  /** Part of the region inside the image; null if none of it is. */
  area: Rectangle | null;
  /** The corners stated in the header, for error messages. */
  corners: string;
  units: Axes;
  /** Physical Delta, with its sign. */
  delta: Axes;
  /** Reference Pixel, relative to the first corner (C.8.5.5.1.6). */
  referencePixel: Axes;
  referenceValue: Axes;
  correctionAngle: number | null;
  /** kHz */
  transducerFrequency: number | null;
}

export interface Regions {
  regions: readonly UltrasoundRegion[];
  /** Why no region can be used; null if all regions fit the image. */
  misfit: string | null;
}

function areaOf(item: HeaderItem, columns: number, rows: number) {
  const minX = numberIn(item, 'RegionLocationMinX0') ?? Number.NaN;
  const minY = numberIn(item, 'RegionLocationMinY0') ?? Number.NaN;
  const maxX = numberIn(item, 'RegionLocationMaxX1') ?? Number.NaN;
  const maxY = numberIn(item, 'RegionLocationMaxY1') ?? Number.NaN;
  const corners = `(${minX}, ${minY}) to (${maxX}, ${maxY})`;
  // Some carts write the corner after the last pixel, so a corner one pixel beyond the edge is
  // treated as being on the edge.
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

/** Returns true if a region shows ultrasound or a trace. Format 0 is "none", and 5 is graphics. */
export function showsUltrasound({ format }: UltrasoundRegion): boolean {
  return format !== null && format > 0 && format <= LAST_ULTRASOUND_FORMAT;
}

/**
 * Reads the regions in a header. If any region with ultrasound or a trace (even the ECG) extends
 * beyond the image, all regions are doubtful, because the image was cropped or resized after its
 * calibration.
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
      transducerFrequency: numberIn(item, 'TransducerFrequency'),
    };
    if (outside && showsUltrasound(region)) {
      misfit ??= `the region ${corners} reaches outside the image of ${columns} x ${rows} pixels`;
    }
    return region;
  });
  return { regions, misfit };
}

/** Bit 2 of Region Flags. If it is set, the Doppler scale is a frequency (PS3.3 C.8.5.5.1.3). */
const FREQUENCY_SCALE = 0b100;

/** Speed of sound in tissue assumed by carts, in cm/s. */
const SPEED_OF_SOUND = 154_000;

function kindOf({ format, dataType }: UltrasoundRegion): SweepKind | null {
  if (format === SPATIAL_FORMAT.mMode) {
    return dataType === DATA_TYPE.colourFlow ? 'colour-m-mode' : 'm-mode';
  }
  if (format !== SPATIAL_FORMAT.spectral) return null;
  if (dataType === DATA_TYPE.pw) return 'pw';
  return dataType === DATA_TYPE.cw ? 'cw' : 'doppler';
}

/**
 * Returns the velocity in cm/s for a Doppler shift of 1 Hz, from the Doppler equation v = c f / (2
 * f0 cos a). Null if there is no frequency, or if the beam is perpendicular to the flow.
 */
export function velocityOfShift(kilohertz: number | null, angle: number): number | null {
  const cosine = Math.cos((angle * Math.PI) / 180);
  if (!kilohertz || kilohertz <= 0 || cosine < 0.01) return null;
  return SPEED_OF_SOUND / (2 * kilohertz * 1000 * cosine);
}

type ValueAxis = Pick<SweepRegion, 'unit' | 'valuePerPixel' | 'zeroRow' | 'yDirection'>;

/**
 * Returns the row of the frame at which the y axis is 0. The reference pixel is relative to the
 * region. If it is outside the region, the row is unknown (null): some carts count from the whole
 * frame, and others are simply wrong.
 */
function zeroRowOf({ area, delta, referencePixel, referenceValue }: UltrasoundRegion) {
  const [row, value, step] = [referencePixel.y, referenceValue.y, delta.y];
  if (!area || row === null || value === null || !step) return null;
  if (row < 0 || row > area.maxY - area.minY + 1) return null;
  return area.minY + row - value / step;
}

function valueAxis(region: UltrasoundRegion, kind: SweepKind): ValueAxis {
  const { units, delta, flags } = region;
  const yDirection = (delta.y ?? 0) < 0 ? 'up' : 'down';
  const size = Math.abs(delta.y ?? 0);
  const mMode = kind === 'm-mode' || kind === 'colour-m-mode';
  const unusable = (unit: SweepRegion['unit']): ValueAxis => ({
    unit,
    valuePerPixel: null,
    zeroRow: null,
    yDirection,
  });
  const usable = (unit: SweepRegion['unit'], perUnit = 1): ValueAxis => ({
    unit,
    valuePerPixel: size * perUnit,
    zeroRow: zeroRowOf(region),
    yDirection,
  });
  if (mMode) return size > 0 && units.y === UNIT.centimetre ? usable('cm') : unusable('cm');
  if (size === 0) return unusable('cm/s');
  if (units.y === UNIT.hertz) {
    const perHertz = velocityOfShift(region.transducerFrequency, region.correctionAngle ?? 0);
    return perHertz === null ? usable('Hz') : usable('cm/s', perHertz);
  }
  // A unit of cm/s contradicts a flag that says that the scale is a frequency.
  const contradicts = (flags & FREQUENCY_SCALE) !== 0;
  return units.y === UNIT.centimetrePerSecond && !contradicts ? usable('cm/s') : unusable('cm/s');
}

function sweepOf(region: UltrasoundRegion): SweepRegion | null {
  const kind = kindOf(region);
  const { area, units, delta } = region;
  if (!kind || !area) return null;
  const seconds = Math.abs(delta.x ?? 0);
  return {
    kind,
    area,
    secondsPerPixel: units.x === UNIT.second && seconds > 0 ? seconds : null,
    ...valueAxis(region, kind),
    correctionAngle: region.correctionAngle,
  };
}

/**
 * Returns the spectral Doppler and M-mode displays among the regions, except those without an area.
 */
export function readSweeps(regions: readonly UltrasoundRegion[]): SweepRegion[] {
  return regions.flatMap((region) => sweepOf(region) ?? []);
}
