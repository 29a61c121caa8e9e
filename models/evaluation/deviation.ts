import { median } from '../../pipelines/measure/statistics.ts';

/** A value that was measured and what it should be; `measured` is null where there was none. */
export interface Pair {
  truth: number;
  measured: number | null;
  accepted: boolean;
}

/** Errors of the accepted values: median, 95th centile and worst, and their bias. */
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
    medianError: sizes.length > 0 ? round(median(sizes)) : null,
    error95: sizes.length > 0 ? round(at(0.95) ?? 0) : null,
    worstError: sizes.length > 0 ? round(at(1) ?? 0) : null,
    bias: sizes.length > 0 ? round(found.reduce((sum, one) => sum + one, 0) / found.length) : null,
  };
}

export type Deviation = ReturnType<typeof deviation>;

/** Median, lowest and highest of some ratios; null of none. */
export function spread(values: readonly number[]) {
  if (values.length === 0) return null;
  return {
    median: round(median(values)),
    lowest: round(Math.min(...values)),
    highest: round(Math.max(...values)),
  };
}

const round = (value: number) => Number(value.toPrecision(3));
