import { rounded } from '../../measure/rounding.ts';
import type { Geometry } from '../../result/render/echo/shared.ts';
import type { GradedQuantity, Sex } from '../shared/grading.ts';

const p = (low: number, high: number, mild: number, moderate: number) =>
  ({ normal: [low, high], mild, moderate }) as const;

const ase15 = (evidence: 'A' | 'B', decimals: number) =>
  ({ source: 'ase-2015-chambers', evidence, decimals }) as const;
const ase05 = (evidence: 'A' | 'B', decimals: number) =>
  ({ source: 'ase-2005-chambers', evidence, decimals }) as const;

/**
 * Ranges and severity grades of the size and mass of the left ventricle (echo 4.4, 5.3); those of the
 * LVEF are in `lvef/guideline.ts`.
 */
export const LEFT_VENTRICLE = {
  edv: { male: p(62, 150, 174, 200), female: p(46, 106, 120, 130), ...ase15('B', 0) },
  esv: { male: p(21, 61, 73, 85), female: p(14, 42, 55, 67), ...ase15('B', 0) },
  edvIndex: { male: p(34, 74, 89, 100), female: p(29, 61, 70, 80), ...ase15('A', 0) },
  esvIndex: { male: p(11, 31, 38, 45), female: p(8, 24, 32, 40), ...ase15('A', 0) },
  diastolicDiameter: {
    male: p(4.2, 5.8, 6.3, 6.8),
    female: p(3.8, 5.2, 5.6, 6.1),
    ...ase15('A', 1),
  },
  systolicDiameter: {
    male: p(2.5, 4.0, 4.3, 4.5),
    female: p(2.2, 3.5, 3.8, 4.1),
    ...ase15('A', 1),
  },
  wall: { male: p(0.6, 1.0, 1.3, 1.6), female: p(0.6, 0.9, 1.2, 1.5), ...ase05('A', 1) },
  mass: { male: p(88, 224, 258, 292), female: p(67, 162, 186, 210), ...ase05('A', 0) },
  massIndex: { male: p(49, 115, 131, 148), female: p(43, 95, 108, 121), ...ase05('A', 0) },
  massIndex2d: { male: p(50, 102, 116, 130), female: p(44, 88, 100, 112), ...ase05('A', 0) },
  massPerHeight: { male: p(20, 48, 55, 63), female: p(18, 44, 51, 58), ...ase05('A', 0) },
  relativeWallThickness: {
    male: p(0.24, 0.42, 0.46, 0.51),
    female: p(0.22, 0.42, 0.47, 0.52),
    ...ase05('A', 2),
  },
  shortening: { male: p(25, 43, 20, 15), female: p(27, 45, 22, 17), ...ase05('B', 0) },
} as const satisfies Record<string, GradedQuantity>;

interface ByMethod {
  method: string;
}

/**
 * Returns true if a mass was calculated from 2D areas. Such a mass has separate published limits,
 * and only per body surface area (echo 5.3).
 */
export const is2dMass = (one: ByMethod | null) => one?.method === 'cart-mass-2d';

/** Returns the range of a mass index, which depends on how the mass was measured. */
export const massIndexRange = (index: ByMethod | null, mass: ByMethod | null): GradedQuantity =>
  is2dMass(index) || (index?.method === 'per-surface-area' && is2dMass(mass))
    ? LEFT_VENTRICLE.massIndex2d
    : LEFT_VENTRICLE.massIndex;

/**
 * Returns the geometry from the mass index, g/m2, and the relative wall thickness (ASE15; echo
 * 5.4). `quantity` has the limits of the mass index, which depend on the method (linear or 2D).
 */
export function geometryOf(
  sex: Sex,
  massIndex: number,
  thickness: number,
  quantity: GradedQuantity = LEFT_VENTRICLE.massIndex,
): Geometry {
  const heavy = rounded(massIndex, quantity.decimals) > quantity[sex].normal[1];
  const walls = LEFT_VENTRICLE.relativeWallThickness;
  const thick = rounded(thickness, walls.decimals) > walls[sex].normal[1];
  if (heavy) return thick ? 'concentric-hypertrophy' : 'eccentric-hypertrophy';
  return thick ? 'concentric-remodelling' : 'normal';
}

/**
 * If the walls differ by more than this, cm, the relative wall thickness is calculated in two ways
 * (echo 5.4).
 */
export const ASYMMETRIC_WALLS = 0.3;
