/** Station in cm by the angle of progression in degrees: Tutschek et al., BJOG 2011;118:62-69. */
export function stationByAngle(angleOfProgression: number): number {
  return 0.0937 * angleOfProgression - 10.911;
}

/** By the angle of the head in degrees (ISUOG 2018, Ghi et al., UOG 52:128-139). */
export function headDirection(angle: number): 'down' | 'horizontal' | 'up' {
  if (angle < 0) return 'down';
  return angle <= 30 ? 'horizontal' : 'up';
}
