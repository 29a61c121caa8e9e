import type { CalibratedRegion } from '../../contract/study.ts';
import { SECONDARY_CAPTURES } from '../../dicom/sop-classes.ts';
import { type DicomHeader, numbersOf, textOf } from './header.ts';
import { DATA_TYPE, type Regions, SPATIAL_FORMAT, type UltrasoundRegion, UNIT } from './regions.ts';

const MM_PER_CM = 10;

/**
 * Bounds of a calibration. A calibration outside them cannot belong to an ultrasound picture: no
 * beam reaches deeper, no wavelength is shorter, and no display stretches one axis further. The
 * bounds are wider than the usual ranges (echo 2.8).
 */
export const PLAUSIBLE = {
  deepestCm: 50,
  finestCmPerPixel: 0.0005,
  greatestAspect: 4,
} as const;

/** Finest scale that a user may enter. The same bound applies to headers. */
export const FINEST_MM_PER_PIXEL = PLAUSIBLE.finestCmPerPixel * MM_PER_CM;

interface Calibration {
  regions: CalibratedRegion[];
  /** Why the calibration in the header was rejected; null if it is used or absent. */
  refused: string | null;
}

function implausible(cmX: number, cmY: number, rows: number): string | null {
  const depth = cmY * rows;
  if (depth > PLAUSIBLE.deepestCm) {
    return `the calibrated region would be ${Math.round(depth)} cm deep`;
  }
  if (Math.min(cmX, cmY) < PLAUSIBLE.finestCmPerPixel) {
    return `the calibrated region has pixels of ${Math.min(cmX, cmY)} cm`;
  }
  if (Math.max(cmX / cmY, cmY / cmX) > PLAUSIBLE.greatestAspect) {
    return `the calibrated region contradicts itself: pixels of ${cmX} by ${cmY} cm`;
  }
  return null;
}

/**
 * Returns the scale of a 2D region, a sentence if the scale is unusable, or null if the region has
 * no scale.
 */
function calibrateRegion(region: UltrasoundRegion): CalibratedRegion | string | null {
  const { units, area, corners, delta } = region;
  const centimetres = [units.x, units.y].filter((unit) => unit === UNIT.centimetre).length;
  if (centimetres === 0) return null;
  if (centimetres === 1) {
    return 'the calibrated region contradicts itself: only one of its axes is in centimetres';
  }
  if (!area) return `the calibrated region ${corners} has no area`;
  // The sign only states the direction of the axis (PS3.3 C.8.5.5.1.17).
  const x = Math.abs(delta.x ?? 0);
  const y = Math.abs(delta.y ?? 0);
  if (x === 0 || y === 0) return 'the calibrated region does not state the size of a pixel';
  const wrong = implausible(x, y, area.maxY - area.minY + 1);
  return wrong ?? { area, scale: { x: x * MM_PER_CM, y: y * MM_PER_CM }, source: 'region' };
}

/**
 * Returns the user's scale for an image that has none, applied to the whole image. The same bounds
 * apply as for headers. There are no regions if the user entered no scale.
 */
export function userScale(width: number, height: number, mmPerPx: number | null): Calibration {
  if (mmPerPx === null) return { regions: [], refused: null };
  const deepCm = (mmPerPx * height) / MM_PER_CM;
  if (deepCm > PLAUSIBLE.deepestCm) {
    return { regions: [], refused: `mm_per_px would make the image ${Math.round(deepCm)} cm deep` };
  }
  const area = { minX: 0, minY: 0, maxX: width - 1, maxY: height - 1 };
  return { regions: [{ area, scale: { x: mmPerPx, y: mmPerPx }, source: 'user' }], refused: null };
}

/**
 * Returns a contradiction between regions, or null. The scales of two regions with the same area
 * may differ by at most one per cent.
 */
function contradiction(regions: readonly CalibratedRegion[]): string | null {
  const same = (a: CalibratedRegion, b: CalibratedRegion) =>
    a.area.minX === b.area.minX &&
    a.area.minY === b.area.minY &&
    a.area.maxX === b.area.maxX &&
    a.area.maxY === b.area.maxY;
  const differs = (a: number, b: number) => Math.abs(a - b) > 0.01 * Math.min(a, b);
  for (const [index, a] of regions.entries()) {
    const other = regions
      .slice(index + 1)
      .find((b) => same(a, b) && (differs(a.scale.x, b.scale.x) || differs(a.scale.y, b.scale.y)));
    if (other) return 'the header contradicts itself: two scales for one region';
  }
  return null;
}

function calibrateAll(candidates: readonly UltrasoundRegion[]): Calibration {
  const regions: CalibratedRegion[] = [];
  for (const region of candidates) {
    const calibrated = calibrateRegion(region);
    if (typeof calibrated === 'string') return { regions: [], refused: calibrated };
    if (calibrated) regions.push(calibrated);
  }
  const refused = contradiction(regions);
  return { regions: refused ? [] : regions, refused };
}

/**
 * Returns a calibration of the whole image from Pixel Spacing. It is used only if no region in the
 * header has axes (echo 2.7), the cart itself created the image, and the spacing is valid at every
 * depth.
 */
function pixelSpacing(header: DicomHeader, columns: number, rows: number): Calibration {
  const stated = numbersOf(header, 'PixelSpacing');
  const [row = 0, column = 0] = stated;
  const refuse = (refused: string): Calibration => ({ regions: [], refused });
  if (!(row > 0 && column > 0)) {
    // Zeros state that the spacing is not known.
    const isUnknown = stated.length > 0 && stated.every((number) => number === 0);
    if (textOf(header, 'PixelSpacing') !== '' && !isUnknown) {
      return refuse('the Pixel Spacing is not two positive numbers');
    }
    const atDetector = numbersOf(header, 'ImagerPixelSpacing').length > 0;
    // Imager Pixel Spacing is measured at the detector plane, but ultrasound has no detector (PS3.3
    // 10.7.1.3).
    return atDetector
      ? refuse('Imager Pixel Spacing does not apply to distances in the body')
      : { regions: [], refused: null };
  }
  if (SECONDARY_CAPTURES.has(textOf(header, 'SOPClassUID'))) {
    return refuse('the Pixel Spacing of a secondary capture is not trusted');
  }
  // Spacings of type GEOMETRY and FIDUCIAL are valid at only one depth of a projection (PS3.3
  // 10.7.1.3).
  const type = textOf(header, 'PixelSpacingCalibrationType');
  if (type !== '') return refuse(`the Pixel Spacing of type ${type} is valid at one depth only`);
  const wrong = implausible(column / MM_PER_CM, row / MM_PER_CM, rows);
  if (wrong) return refuse(wrong.replace('the calibrated region', 'the Pixel Spacing'));
  const area = { minX: 0, minY: 0, maxX: columns - 1, maxY: rows - 1 };
  return {
    regions: [{ area, scale: { x: column, y: row }, source: 'pixel-spacing' }],
    refused: null,
  };
}

/**
 * Returns the 2D regions of a header with their scales or, if there are no regions, the Pixel
 * Spacing (obstetric 0.4). One unusable region makes the whole calibration doubtful, so none of it
 * is used. The region of a colour box is used only if there is no tissue region.
 */
export function readCalibration(
  header: DicomHeader,
  { regions, misfit }: Regions,
  columns: number,
  rows: number,
): Calibration {
  if (misfit) return { regions: [], refused: misfit };
  const pictures = (dataType: number) =>
    regions.filter((r) => r.format === SPATIAL_FORMAT.picture && r.dataType === dataType);
  const tissue = calibrateAll(pictures(DATA_TYPE.tissue));
  if (tissue.regions.length > 0 || tissue.refused) return tissue;
  const colour = calibrateAll(pictures(DATA_TYPE.colourFlow));
  if (colour.regions.length > 0 || colour.refused) return colour;
  const withAxes = regions.some(({ format }) => format && format <= SPATIAL_FORMAT.spectral);
  return withAxes ? { regions: [], refused: null } : pixelSpacing(header, columns, rows);
}
