/**
 * Rounds half away from zero in decimal (echo 0.3). Published bands have a fixed precision, so a
 * value is first rounded, and the rounded value is then both shown and classified. `toFixed` would
 * round the binary fraction: 5.85 would be shown as 5.8 but classified as 5.9.
 */
export function rounded(value: number, decimals: number): number {
  // A number below 1e-6 would be written with an exponent. It rounds to zero anyway.
  if (Math.abs(value) < 1e-6) return 0;
  const shifted = Math.round(Number(`${Math.abs(value)}e${decimals}`));
  return Math.sign(value) * Number(`${shifted}e-${decimals}`);
}

/** Rounds a position in pixels to a tenth. */
export const tenth = (value: number): number => Math.round(10 * value) / 10;

/** Returns the rounded value as text, with all its decimals. */
export const fixed = (value: number, decimals: number): string =>
  rounded(value, decimals).toFixed(decimals);

/**
 * Number of decimals to which two numbers are compared. Rounding errors in sums of whole pixels are
 * smaller than this.
 */
const MOST_DECIMALS = 6;

/** Returns on which side of a cut-off a value is (1 or -1), or 0 if it is exactly on it. */
const sideOf = (value: number, cutOff: number) => Math.sign(rounded(value - cutOff, MOST_DECIMALS));

/**
 * Returns the rounded value as text, like `fixed`. More decimals are added if they are needed to
 * show the value on the correct side of every cut-off (obstetric 0.3). For example, 19.97 with a
 * cut-off of 20 is not shown as "20.0".
 */
export function fixedOffCutOffs(
  value: number,
  decimals: number,
  cutOffs: readonly number[],
): string {
  const text = fixed(value, decimals);
  const kept = cutOffs.every((cutOff) => sideOf(Number(text), cutOff) === sideOf(value, cutOff));
  return kept || decimals >= MOST_DECIMALS ? text : fixedOffCutOffs(value, decimals + 1, cutOffs);
}
