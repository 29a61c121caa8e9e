import type { SweepKind, SweepRegion } from '../contract/study.ts';
import { DATA_TYPE, SPATIAL_FORMAT, type UltrasoundRegion, UNIT } from './dicom-regions.ts';

/** Region Flags bit 2: the Doppler scale is a frequency (PS3.3 C.8.5.5.1.3). */
const FREQUENCY_SCALE = 0b100;
/** Bits 3 and 4. */
const RENEWAL = ['unspecified', 'scrolling', 'sweeping', 'both'] as const;

/** Speed of sound in tissue as every cart assumes it, cm/s. */
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
 * The Doppler equation v = c f / (2 f0 cos a): cm/s of one Hz of shift. Null without a frequency, or
 * where the beam is across the flow.
 */
export function velocityOfShift(kilohertz: number | null, angle: number): number | null {
  const cosine = Math.cos((angle * Math.PI) / 180);
  if (!kilohertz || kilohertz <= 0 || cosine < 0.01) return null;
  return SPEED_OF_SOUND / (2 * kilohertz * 1000 * cosine);
}

type ValueAxis = Pick<SweepRegion, 'unit' | 'valuePerPixel' | 'zeroRow' | 'yDirection'>;

/**
 * Row of the frame where the y axis is 0. The reference pixel is relative to the region; one that
 * lies outside of it was written for the whole frame by some carts, and by others is a mistake, so
 * that it is left unknown.
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
  // A scale in cm/s that the flags call a frequency contradicts itself.
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
    renewal: RENEWAL[(region.flags >> 3) & 0b11] ?? 'unspecified',
    correctionAngle: region.correctionAngle,
    steeringAngle: region.steeringAngle,
    transducerFrequency: region.transducerFrequency,
    pulseRepetitionFrequency: region.pulseRepetitionFrequency,
    sampleVolume: region.sampleVolume,
  };
}

/** The spectral Doppler and M-mode displays among the regions; one without an area is left out. */
export function readSweeps(regions: readonly UltrasoundRegion[]): SweepRegion[] {
  return regions.flatMap((region) => sweepOf(region) ?? []);
}
