/**
 * Said where the interval of a value holds a cut-off, so that neither side of it is sure; null where
 * it holds none or where the interval is not known. All in one unit, `''` for a plain number.
 */
export function acrossCutOff(
  value: number,
  halfWidth: number | null,
  cutOffs: readonly number[],
  unit: 'mm' | 'deg' | '' = 'mm',
): string | null {
  if (halfWidth === null) return null;
  const nearest = cutOffs.toSorted((a, b) => Math.abs(a - value) - Math.abs(b - value))[0];
  return nearest !== undefined && Math.abs(value - nearest) < halfWidth
    ? `The interval of the value reaches across the cut-off of ${`${nearest} ${unit}`.trimEnd()}: measure by hand.`
    : null;
}
