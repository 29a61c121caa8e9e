/** Change in station per degree of the angle of progression, cm. */
export const CM_PER_DEGREE = 0.0937;

/**
 * Returns the station in cm for an angle of progression in degrees: Tutschek et al., BJOG
 * 2011;118:62-69.
 */
export function stationByAngle(angleOfProgression: number): number {
  return CM_PER_DEGREE * angleOfProgression - 10.911;
}

/**
 * Limits of the head direction in degrees. Below `horizontalFrom` the head points down; from there
 * up to and including `horizontalTo` it is horizontal.
 */
export const HEAD_DIRECTION = { horizontalFrom: 0, horizontalTo: 30 } as const;

/** Returns the head direction for an angle in degrees (ISUOG 2018, Ghi et al., UOG 52:128-139). */
export function headDirection(angle: number): 'down' | 'horizontal' | 'up' {
  if (angle < HEAD_DIRECTION.horizontalFrom) return 'down';
  return angle <= HEAD_DIRECTION.horizontalTo ? 'horizontal' : 'up';
}

/**
 * Range of angles, in degrees, for which a station is reported. Outside it, only the angle is
 * reported (obstetric 11.1).
 */
export const STATION_ANGLES = { from: 80, to: 175 } as const;

/**
 * Plausible angles of progression in degrees. Any other angle is a measurement error (obstetric
 * 0.6).
 */
export const PLAUSIBLE_ANGLES = { from: 50, to: 200 } as const;

/** Lowest angle of progression in each band, in degrees (obstetric 11.2). */
export const DESCENT_BANDS = { intermediate: 110, lowOrMid: 120, deeplyEngaged: 145 } as const;

/** Returns the band of descent for an angle of progression in degrees. */
export function descentBand(
  angle: number,
): 'high' | 'intermediate' | 'low-or-mid' | 'deeply-engaged' {
  if (angle < DESCENT_BANDS.intermediate) return 'high';
  if (angle < DESCENT_BANDS.lowOrMid) return 'intermediate';
  return angle < DESCENT_BANDS.deeplyEngaged ? 'low-or-mid' : 'deeply-engaged';
}
