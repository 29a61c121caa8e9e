import { embryonicRateBand } from '../early-pregnancy/guideline.ts';

/** Area of the heart over that of the thorax on one four-chamber plane (ISUOG 2023). */
export function cardiothoracicAreaRatio(heartArea: number, thoraxArea: number): number {
  return heartArea / thoraxArea;
}

/** Circumference of the heart over that of the thorax (Paladini et al. 1990). */
export function cardiothoracicCircumferenceRatio(heart: number, thorax: number): number {
  return heart / thorax;
}

/** Limits of the ratios of heart to thorax (Paladini 1990; ISUOG 2023); area, then circumference. */
export const CARDIAC_SIZE = { small: 0.25, large: 0.35, largeCircumference: 0.5 } as const;

/** Normal from 0.25 to 0.35, both included. */
export function cardiacSize(areaRatio: number): 'small' | 'normal' | 'large' {
  if (areaRatio > CARDIAC_SIZE.large) return 'large';
  return areaRatio < CARDIAC_SIZE.small ? 'small' : 'normal';
}

/** Degrees to the left; ISUOG 2023: 45 +/- 20. */
export const CARDIAC_AXIS = { least: 25, most: 65 } as const;

/** Side of the axis of the heart and whether it is within its range, both ends included. */
export function cardiacAxis(degrees: number): 'normal' | 'small' | 'large' | 'right-sided' {
  if (degrees < 0) return 'right-sided';
  if (degrees < CARDIAC_AXIS.least) return 'small';
  return degrees > CARDIAC_AXIS.most ? 'large' : 'normal';
}

export type FetalRateBand = 'slow' | 'borderline' | 'normal' | 'fast' | 'tachycardia';

/** From 14+0, beats per minute: 110 to 160, tachycardia above 180. */
export const FETAL_RATE = {
  fromDays: 98,
  least: 110,
  most: 160,
  tachycardia: 180,
  source: 'ISUOG 2023',
} as const;

/** Bands of the fetal heart rate by age; before 14+0 those of the embryo. Null without a band. */
export function fetalRateBand(gaDays: number, beatsPerMinute: number): FetalRateBand | null {
  if (gaDays < FETAL_RATE.fromDays) {
    const early = embryonicRateBand(gaDays, beatsPerMinute);
    return early === 'usual' ? 'normal' : early;
  }
  if (beatsPerMinute < FETAL_RATE.least) return 'slow';
  if (beatsPerMinute > FETAL_RATE.tachycardia) return 'tachycardia';
  return beatsPerMinute > FETAL_RATE.most ? 'fast' : 'normal';
}
