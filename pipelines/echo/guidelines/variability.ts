/**
 * Points within which a value at a cut-off may as well belong to its other side (reference 19, rule 2).
 */
export const VARIABILITY = { ejectionFraction: 5, strain: 1.5, atrialVolumeIndex: 3 } as const;

/** Whether a value, as shown, lies within measurement variability of one of the cut-offs. */
export const isNearCutOff = (shown: number, cutOffs: readonly number[], within: number) =>
  cutOffs.some((cutOff) => Math.abs(shown - cutOff) <= within);
