/**
 * INTERGROWTH-21st estimated fetal weight. Two standards, each for its own weight formula; mixing
 * them is an error (obstetric reference 16.5). λ, μ and σ describe ln(weight in g), not the weight.
 */
export interface WeightStandard {
  weeks: { from: number; to: number };
  lambda(ga: number): number;
  mu(ga: number): number;
  sigma(ga: number): number;
}

const { exp, log } = Math;

/** Weight by INTERGROWTH HC and AC: Stirnemann et al., UOG 2017;49:478-486. */
export const INTERGROWTH_WEIGHT_2017: WeightStandard = {
  weeks: { from: 22, to: 40 },
  lambda: (ga) => -4.257629 - 2162.234 * ga ** -2 + 0.0002301829 * ga ** 3,
  mu: (ga) => 4.956737 + 0.0005019687 * ga ** 3 - 0.0001227065 * ga ** 3 * log(ga),
  sigma: (ga) => 1e-4 * (-6.997171 + 0.057559 * ga ** 3 - 0.01493946 * ga ** 3 * log(ga)),
};

/** Weight by Hadlock 1985 HC, AC and FL: Stirnemann et al., UOG 2020;56:946-948. */
export const INTERGROWTH_WEIGHT_2020: WeightStandard = {
  weeks: { from: 18, to: 41 },
  lambda: (ga) => {
    const t = ga / 10;
    return 9.43643 + 9.41579 * t ** -2 - 83.5422 * log(t) * t ** -2;
  },
  mu: (ga) => -2.42272 + 1.86478 * ga ** 0.5 - 1.93299e-5 * ga ** 3,
  sigma: (ga) => {
    const t = ga / 10;
    return 0.0193557 + 0.0310716 * t ** -2 - 0.0657587 * log(t) * t ** -2;
  },
};

const LAMBDA_ZERO = 1e-8;

function inRange({ weeks }: WeightStandard, gaWeeks: number): boolean {
  return gaWeeks >= weeks.from && gaWeeks <= weeks.to;
}

/** z-score of a weight in g; null outside the chart. */
export function intergrowthWeightZ(
  standard: WeightStandard,
  gaWeeks: number,
  grams: number,
): number | null {
  if (!inRange(standard, gaWeeks) || !(grams > 1)) return null;
  const lambda = standard.lambda(gaWeeks);
  const sigma = standard.sigma(gaWeeks);
  const ratio = log(grams) / standard.mu(gaWeeks);
  if (Math.abs(lambda) <= LAMBDA_ZERO) return log(ratio) / sigma;
  return (ratio ** lambda - 1) / (sigma * lambda);
}

/** Weight in g at a z-score; null outside the chart. */
export function intergrowthWeightAt(
  standard: WeightStandard,
  gaWeeks: number,
  z: number,
): number | null {
  if (!inRange(standard, gaWeeks)) return null;
  const lambda = standard.lambda(gaWeeks);
  const mu = standard.mu(gaWeeks);
  const sigma = standard.sigma(gaWeeks);
  if (Math.abs(lambda) <= LAMBDA_ZERO) return exp(mu * exp(sigma * z));
  return exp(mu * (1 + lambda * sigma * z) ** (1 / lambda));
}
