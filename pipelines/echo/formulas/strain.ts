const mean = (values: readonly number[]) =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** Lagrangian strain, per cent; shortening is negative (ST15). */
export const lagrangianStrain = (initial: number, length: number) =>
  (100 * (length - initial)) / initial;

/** Overall GLS: the mean of the three apical views; null unless all are there (reference 8.1). */
export function globalStrain(views: readonly (number | null)[]): number | null {
  const given = views.filter((view) => view !== null);
  return given.length === 3 ? mean(given) : null;
}

/** Fall of the magnitude against a baseline, per cent (CO22). */
export const relativeReduction = (baseline: number, current: number) =>
  (100 * (Math.abs(baseline) - Math.abs(current))) / Math.abs(baseline);

/** Relative apical sparing: apical / (basal + mid), magnitudes (PHE12). */
export function relativeApicalStrain(
  apical: readonly number[],
  mid: readonly number[],
  basal: readonly number[],
): number {
  return Math.abs(mean(apical)) / (Math.abs(mean(basal)) + Math.abs(mean(mid)));
}

/** Wall motion score index over the segments that were seen. */
export const scoreIndex = (scores: readonly number[]) => mean(scores);
