import { median } from '../../pipelines/measure/statistics.ts';

/** One measured case. `measuredMm` is null if the model measured nothing. */
export interface Measured {
  image: string;
  referenceMm: number;
  measuredMm: number | null;
  confidence: number;
  accepted: boolean;
  /** Overlap with the reference outline, if there is one. */
  dice?: number;
}

/**
 * Returns the agreement with the reference, for the accepted cases and for all cases. Users see
 * only values that reach the gate. The errors of all cases show how useful the gate is.
 */
export function agreement(cases: readonly Measured[]) {
  const found = cases.filter((c) => c.measuredMm !== null);
  return {
    cases: cases.length,
    notFound: cases.length - found.length,
    withheldByGate: found.filter((c) => !c.accepted).length,
    accepted: errors(found.filter((c) => c.accepted)),
    allFound: errors(found),
  };
}

/**
 * Returns the 95th centile of the absolute error of the accepted cases in mm. It is the half width
 * of an interval around the measured value that contains the reference in 95 of 100 images.
 */
export const halfWidth95 = (cases: readonly Measured[]) => halfWidth95In(cases, () => 1);

/**
 * Returns the 95th centile of the absolute error of the accepted cases, in per cent of the
 * reference.
 */
export const halfWidth95Percent = (cases: readonly Measured[]) =>
  halfWidth95In(cases, ({ referenceMm }) => referenceMm / 100);

function halfWidth95In(
  cases: readonly Measured[],
  unitMm: (one: Measured) => number,
): number | null {
  const sizes = cases
    .filter((c) => c.accepted && c.measuredMm !== null)
    .map((c) => Math.abs((c.measuredMm ?? Number.NaN) - c.referenceMm) / unitMm(c))
    .toSorted((a, b) => a - b);
  const size = sizes[Math.min(sizes.length - 1, Math.ceil(0.95 * sizes.length) - 1)];
  return size === undefined ? null : round(size, 1);
}

/**
 * Returns the mean absolute error, the bias (measured − reference) and the Bland–Altman 95 % limits
 * in mm. Null if there are no cases.
 */
function errors(cases: readonly Measured[]) {
  if (cases.length === 0) return null;
  const differences = cases.map((c) => (c.measuredMm ?? Number.NaN) - c.referenceMm);
  const sizes = differences.map(Math.abs);
  const bias = mean(differences);
  const deviation = Math.sqrt(
    differences.reduce((sum, d) => sum + (d - bias) ** 2, 0) / Math.max(1, differences.length - 1),
  );
  const relative = cases.map((c, i) => (sizes[i] ?? 0) / c.referenceMm);
  const dice = cases.flatMap((c) => (c.dice === undefined ? [] : [c.dice]));
  return {
    cases: cases.length,
    meanAbsoluteErrorMm: round(mean(sizes), 2),
    medianAbsoluteErrorMm: round(median(sizes), 2),
    meanAbsoluteErrorPercent: round(100 * mean(relative), 2),
    biasMm: round(bias, 2),
    limitsOfAgreementMm: [round(bias - 1.96 * deviation, 2), round(bias + 1.96 * deviation, 2)],
    largestErrorMm: round(Math.max(...sizes), 1),
    largestErrorPercent: round(100 * Math.max(...relative), 1),
    ...(dice.length > 0 && { meanDice: round(mean(dice), 4) }),
  };
}

export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

export function round(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}

export interface Pair {
  truth: number;
  measured: number | null;
  accepted: boolean;
}

/** Returns the median, 95th centile, maximum and bias of the accepted values' errors. */
export function deviation(pairs: readonly Pair[]) {
  const found = pairs.flatMap(({ truth, measured, accepted }) =>
    accepted && measured !== null ? [measured - truth] : [],
  );
  const sizes = found.map(Math.abs).toSorted((a, b) => a - b);
  const at = (share: number) =>
    sizes[Math.min(sizes.length - 1, Math.ceil(share * sizes.length) - 1)];
  return {
    cases: pairs.length,
    withheld: pairs.length - found.length,
    medianError: sizes.length > 0 ? roundDeviation(median(sizes)) : null,
    error95: sizes.length > 0 ? roundDeviation(at(0.95) ?? 0) : null,
    worstError: sizes.length > 0 ? roundDeviation(at(1) ?? 0) : null,
    bias:
      sizes.length > 0
        ? roundDeviation(found.reduce((sum, one) => sum + one, 0) / found.length)
        : null,
  };
}

export type Deviation = ReturnType<typeof deviation>;

/** Returns the median, lowest and highest value; null if there are no values. */
export function spread(values: readonly number[]) {
  if (values.length === 0) return null;
  return {
    median: roundDeviation(median(values)),
    lowest: roundDeviation(Math.min(...values)),
    highest: roundDeviation(Math.max(...values)),
  };
}

const roundDeviation = (value: number) => Number(value.toPrecision(3));
