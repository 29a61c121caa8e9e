/**
 * Formulas for body surface area in m2, from height in cm and weight in kg. Du Bois is the default
 * (echo 1).
 */
export const BODY_SURFACE_AREA = {
  dubois: (height: number, weight: number) => 0.007184 * weight ** 0.425 * height ** 0.725,
  mosteller: (height: number, weight: number) => Math.sqrt((height * weight) / 3600),
  haycock: (height: number, weight: number) => 0.024265 * weight ** 0.5378 * height ** 0.3964,
} as const;

/**
 * Plausible heights, weights and surface areas. Nothing is indexed outside these ranges (echo 0.6).
 */
const PLAUSIBLE_BODY = {
  heightCm: [120, 220],
  weightKg: [30, 250],
  surfaceM2: [1, 3.2],
} as const;

const within = (value: number, [low, high]: readonly [number, number]) =>
  value >= low && value <= high;

/**
 * Returns the body surface area by Du Bois, m2, for indexing. Null if height or weight is missing
 * or implausible (echo 0.4, 0.6).
 */
export function indexingArea(height: number | null, weight: number | null): number | null {
  if (height === null || weight === null) return null;
  if (!within(height, PLAUSIBLE_BODY.heightCm) || !within(weight, PLAUSIBLE_BODY.weightKg)) {
    return null;
  }
  const area = BODY_SURFACE_AREA.dubois(height, weight);
  return within(area, PLAUSIBLE_BODY.surfaceM2) ? area : null;
}

/** From this body mass index, kg/m2, LV mass is also indexed to height (echo 1). */
export const OBESE_FROM = 30;

/**
 * Returns the body mass index, kg/m2; null if height or weight is missing or implausible (echo
 * 0.6).
 */
export function bodyMassIndex(height: number | null, weight: number | null): number | null {
  if (height === null || weight === null) return null;
  const { heightCm, weightKg } = PLAUSIBLE_BODY;
  if (!within(height, heightCm) || !within(weight, weightKg)) return null;
  return weight / (height / 100) ** 2;
}
