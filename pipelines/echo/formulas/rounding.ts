/**
 * Rounds half away from zero (echo reference 0.3): published bands have a fixed precision, so that a
 * value is rounded first, shown so, and classified as shown.
 */
export function rounded(value: number, decimals: number): number {
  const shifted = Math.round(Number(`${Math.abs(value)}e${decimals}`));
  return Math.sign(value) * Number(`${shifted}e-${decimals}`);
}
