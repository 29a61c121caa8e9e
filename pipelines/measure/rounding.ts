/**
 * Rounds half away from zero in decimal (echo reference 0.3): published bands have a fixed precision,
 * so that a value is rounded first, shown so, and classified as shown. `toFixed` rounds the binary
 * fraction: 5.85 would be shown as 5.8 and classified as 5.9.
 */
export function rounded(value: number, decimals: number): number {
  // A number below 1e-6 is written with an exponent of its own, and rounds to nothing anyway.
  if (Math.abs(value) < 1e-6) return 0;
  const shifted = Math.round(Number(`${Math.abs(value)}e${decimals}`));
  return Math.sign(value) * Number(`${shifted}e-${decimals}`);
}

/** The same as text, with all its decimals. */
export const fixed = (value: number, decimals: number): string =>
  rounded(value, decimals).toFixed(decimals);
