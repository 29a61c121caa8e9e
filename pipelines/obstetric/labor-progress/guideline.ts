/** Station in cm by the angle of progression in degrees: Tutschek et al., BJOG 2011;118:62-69. */
export function stationByAngle(angleOfProgression: number): number {
  return 0.0937 * angleOfProgression - 10.911;
}

/** Degrees below which the head points down, and up to which, included, it is horizontal. */
export const HEAD_DIRECTION = { horizontalFrom: 0, horizontalTo: 30 } as const;

/** By the angle of the head in degrees (ISUOG 2018, Ghi et al., UOG 52:128-139). */
export function headDirection(angle: number): 'down' | 'horizontal' | 'up' {
  if (angle < HEAD_DIRECTION.horizontalFrom) return 'down';
  return angle <= HEAD_DIRECTION.horizontalTo ? 'horizontal' : 'up';
}

/** Degrees between which a station is given; outside only the angle is (obstetric 11.1). */
export const STATION_ANGLES = { from: 80, to: 175 } as const;

/** Degrees outside of which an angle of progression is a mistake (obstetric 0.6). */
export const PLAUSIBLE_ANGLES = { from: 50, to: 200 } as const;

/** Lowest angle of progression of each band in degrees (obstetric 11.2). */
export const DESCENT_BANDS = { intermediate: 110, lowOrMid: 120, deeplyEngaged: 145 } as const;

/** How far the head has come down, by the angle of progression in degrees. */
export function descentBand(
  angle: number,
): 'high' | 'intermediate' | 'low or mid' | 'deeply engaged' {
  if (angle < DESCENT_BANDS.intermediate) return 'high';
  if (angle < DESCENT_BANDS.lowOrMid) return 'intermediate';
  return angle < DESCENT_BANDS.deeplyEngaged ? 'low or mid' : 'deeply engaged';
}
