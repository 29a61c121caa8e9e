import type { FluidCategory } from '../../result/render/obstetric/amniotic-fluid.ts';

/** Amniotic fluid charts use centimetres; every length in the result is in millimetres. */
export const MM_PER_CM = 10;

/** A deepest pocket below this depth in cm indicates oligohydramnios (AIUM 2018, ACOG PB 229). */
export const DVP_LOW = 2;
/** An amniotic fluid index at or below this value in cm indicates oligohydramnios. */
export const AFI_LOW = 5;

/** Lower bounds in cm of mild, moderate and severe polyhydramnios: SMFM Consult 46. */
export const DVP_HIGH = { mild: 8, moderate: 12, severe: 16 } as const;
export const AFI_HIGH = { mild: 24, moderate: 30, severe: 35 } as const;

function high(
  value: number,
  bounds: { mild: number; moderate: number; severe: number },
): FluidCategory {
  if (value >= bounds.severe) return 'polyhydramnios-severe';
  if (value >= bounds.moderate) return 'polyhydramnios-moderate';
  return value >= bounds.mild ? 'polyhydramnios-mild' : 'normal';
}

/** Returns the category of a deepest vertical pocket in cm. */
export function deepestPocketCategory(dvp: number): FluidCategory {
  if (dvp === 0) return 'anhydramnios';
  return dvp < DVP_LOW ? 'oligohydramnios' : high(dvp, DVP_HIGH);
}

/** Returns the category of an amniotic fluid index in cm. */
export function fluidIndexCategory(afi: number): FluidCategory {
  if (afi === 0) return 'anhydramnios';
  return afi <= AFI_LOW ? 'oligohydramnios' : high(afi, AFI_HIGH);
}

/** Age in days from which the amniotic fluid index is used: 24 weeks (obstetric 4). */
export const AFI_FROM_DAYS = 24 * 7;

/**
 * Returns the amniotic fluid index: the sum of the deepest pockets of the four quadrants, in cm.
 */
export function fluidIndex(quadrants: readonly [number, number, number, number]): number {
  return quadrants.reduce((sum, depth) => sum + depth, 0);
}

const MOORE_CAYLE_FROM_WEEK = 16;
const MOORE_CAYLE = {
  5: [
    79, 83, 87, 90, 93, 95, 97, 98, 98, 97, 97, 95, 94, 92, 90, 88, 86, 83, 81, 79, 77, 75, 73, 72,
    71, 70, 69,
  ],
  95: [
    185, 194, 202, 207, 212, 214, 216, 218, 219, 221, 223, 226, 228, 231, 234, 238, 242, 245, 248,
    249, 249, 244, 239, 226, 214, 194, 175,
  ],
} as const;

/**
 * Returns the AFI in mm at the 5th or 95th centile for a completed week; null outside the table.
 * Source: Moore and Cayle, AJOG 1990;162:1168.
 */
export function mooreCayleFluidIndex(week: number, centile: 5 | 95): number | null {
  return MOORE_CAYLE[centile][Math.floor(week) - MOORE_CAYLE_FROM_WEEK] ?? null;
}
