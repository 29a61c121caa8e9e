import type { CalibratedRegion, Clip } from '../contract/study.ts';
import type { RegionAttributeName } from './dicom-attributes.ts';
import { type DicomHeader, type HeaderValue, textOf } from './dicom-header.ts';

/** PS3.3 C.8.5.5.1.1, .1.2 and .1.15. */
const SPATIAL_FORMAT = { tissue: 1, mMode: 2, spectral: 3 } as const;
const DATA_TYPE = { tissue: 1, colourFlow: 2 } as const;
const UNIT_CENTIMETRE = 3;
const MM_PER_CM = 10;

type Region = ReadonlyMap<RegionAttributeName, HeaderValue>;

function numberIn(region: Region, name: RegionAttributeName): number | null {
  const value = region.get(name);
  return Array.isArray(value) ? (value[0] ?? null) : null;
}

export interface Calibration {
  regions: CalibratedRegion[];
  /** Why a calibration that the header offers is not used; null when none was refused. */
  refused: string | null;
}

function calibrateRegion(
  region: Region,
  columns: number,
  rows: number,
): CalibratedRegion | string | null {
  if (numberIn(region, 'RegionSpatialFormat') !== SPATIAL_FORMAT.tissue) return null;
  if (numberIn(region, 'RegionDataType') !== DATA_TYPE.tissue) return null;
  if (numberIn(region, 'PhysicalUnitsXDirection') !== UNIT_CENTIMETRE) return null;
  if (numberIn(region, 'PhysicalUnitsYDirection') !== UNIT_CENTIMETRE) return null;
  const minX = numberIn(region, 'RegionLocationMinX0') ?? Number.NaN;
  const minY = numberIn(region, 'RegionLocationMinY0') ?? Number.NaN;
  const maxX = numberIn(region, 'RegionLocationMaxX1') ?? Number.NaN;
  const maxY = numberIn(region, 'RegionLocationMaxY1') ?? Number.NaN;
  const corners = `(${minX}, ${minY}) to (${maxX}, ${maxY})`;
  // Some carts write the corner after the last pixel, so one beyond the edge is still the edge.
  if (!(minX >= 0 && minY >= 0 && maxX <= columns && maxY <= rows)) {
    return `the calibrated region ${corners} reaches outside the image of ${columns} x ${rows} pixels`;
  }
  if (!(maxX > minX && maxY > minY)) return `the calibrated region ${corners} has no area`;
  // The sign gives the direction of the axis only (PS3.3 C.8.5.5.1.17).
  const x = Math.abs(numberIn(region, 'PhysicalDeltaX') ?? Number.NaN) * MM_PER_CM;
  const y = Math.abs(numberIn(region, 'PhysicalDeltaY') ?? Number.NaN) * MM_PER_CM;
  if (!(Number.isFinite(x) && Number.isFinite(y) && x > 0 && y > 0)) {
    return 'the calibrated region gives no size of a pixel';
  }
  const area = {
    minX,
    minY,
    maxX: Math.min(maxX, columns - 1),
    maxY: Math.min(maxY, rows - 1),
  };
  return { area, scale: { x, y }, source: 'region' };
}

function pixelSpacing(header: DicomHeader, columns: number, rows: number): CalibratedRegion | null {
  const [row, column] = textOf(header, 'PixelSpacing').split('\\').map(Number);
  if (!(row && column && row > 0 && column > 0 && Number.isFinite(row * column))) return null;
  // GEOMETRY and FIDUCIAL spacings hold at one depth of a projection (PS3.3 10.7.1.3).
  if (textOf(header, 'PixelSpacingCalibrationType') !== '') return null;
  const area = { minX: 0, minY: 0, maxX: columns - 1, maxY: rows - 1 };
  return { area, scale: { x: column, y: row }, source: 'pixel-spacing' };
}

/**
 * The tissue regions of a header with their scale, or the Pixel Spacing where there is none
 * (obstetric reference 0.4). One region that does not fit the image makes the whole calibration
 * doubtful (the image was cropped or resized after it was calibrated), so that none is used.
 */
export function readCalibration(header: DicomHeader, columns: number, rows: number): Calibration {
  const regions: CalibratedRegion[] = [];
  for (const region of header.regions) {
    const calibrated = calibrateRegion(region, columns, rows);
    if (typeof calibrated === 'string') return { regions: [], refused: calibrated };
    if (calibrated) regions.push(calibrated);
  }
  if (regions.length > 0) return { regions, refused: null };
  const spacing = pixelSpacing(header, columns, rows);
  return { regions: spacing ? [spacing] : [], refused: null };
}

/** The mode of an image by its regions; `unknown` where the header describes none. */
export function readMode(header: DicomHeader): Clip['mode'] {
  const has = (name: RegionAttributeName, value: number) =>
    header.regions.some((region) => numberIn(region, name) === value);
  if (has('RegionSpatialFormat', SPATIAL_FORMAT.spectral)) return 'spectral';
  if (has('RegionSpatialFormat', SPATIAL_FORMAT.mMode)) return 'm-mode';
  if (has('RegionDataType', DATA_TYPE.colourFlow)) return 'colour';
  if (has('RegionSpatialFormat', SPATIAL_FORMAT.tissue)) return '2d';
  return 'unknown';
}
