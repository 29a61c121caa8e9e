import type { SweepRegion } from '../contract/study.ts';

/**
 * The value at a row of the frame: a velocity in cm/s (or a shift in Hz), positive above the
 * baseline, or a depth in cm, positive below the skin. Many carts write a positive Physical Delta Y
 * for Doppler too, so that the side of the baseline gives the sign, not the header (echo reference
 * 2.7); a cart that inverted its display does not say so in DICOM. Null where the scale or the
 * baseline is unknown.
 */
export function valueAt(
  sweep: Pick<SweepRegion, 'zeroRow' | 'valuePerPixel' | 'unit'>,
  row: number,
): number | null {
  const { zeroRow, valuePerPixel, unit } = sweep;
  if (zeroRow === null || valuePerPixel === null) return null;
  const rows = unit === 'cm' ? row - zeroRow : zeroRow - row;
  return rows * valuePerPixel;
}

/** Size of the step between two rows, for which no baseline is needed; null without a scale. */
export function valueBetween(sweep: SweepRegion, row: number, other: number): number | null {
  return sweep.valuePerPixel === null ? null : Math.abs(row - other) * sweep.valuePerPixel;
}

/** Seconds between two columns; null where the time axis has no scale. */
export function secondsBetween(sweep: SweepRegion, column: number, other: number): number | null {
  return sweep.secondsPerPixel === null ? null : Math.abs(column - other) * sweep.secondsPerPixel;
}
