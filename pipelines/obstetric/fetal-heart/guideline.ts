/** Source of the embryonic heart rate bands: J Ultrasound Med 1995;14:643. */
const DOUBILET_BENSON = 'Doubilet and Benson 1995';

/**
 * Bands of the embryonic heart rate in beats per minute, each for an inclusive age range in days
 * (obstetric 5.4). `recalled` is true if the limit for a slow rate is of grade R, that is, not
 * verified against its source.
 */
export const RATE_BANDS = [
  {
    ...{ fromDays: 28, untilDays: 44, slowBelow: 90, usualFrom: 100, usualTo: null },
    ...{ source: DOUBILET_BENSON, recalled: false },
  },
  {
    ...{ fromDays: 45, untilDays: 49, slowBelow: 110, usualFrom: 120, usualTo: null },
    ...{ source: DOUBILET_BENSON, recalled: false },
  },
  {
    ...{ fromDays: 50, untilDays: 69, slowBelow: 120, usualFrom: 120, usualTo: 190 },
    ...{ source: DOUBILET_BENSON, recalled: true },
  },
  {
    ...{ fromDays: 77, untilDays: 97, slowBelow: 120, usualFrom: 130, usualTo: 175 },
    ...{ source: 'FMF, 11+0 to 13+6 weeks', recalled: false },
  },
] as const;

/**
 * Limit in beats per minute below which a rate is slow at any age, because it is below the limit of
 * every band (obstetric 5.4). It is used if the age is unknown or has no bands.
 */
export const SLOW_AT_ANY_AGE = { below: RATE_BANDS[0].slowBelow, source: RATE_BANDS[0].source };

/**
 * Limit in beats per minute above which a rate is fast at any age, because it is above the limit of
 * every band (obstetric 5.4).
 */
const FAST_AT_ANY_AGE = { above: RATE_BANDS[2].usualTo, source: RATE_BANDS[2].source };

/** Fetal heart rate from 14+0, beats per minute: normal from 110 to 160, tachycardia above 180. */
export const FETAL_RATE = {
  fromDays: 98,
  least: 110,
  most: 160,
  tachycardia: 180,
  source: 'ISUOG 2023',
} as const;

/**
 * Limits of the heart-to-thorax ratios (Paladini 1990; ISUOG 2023): two for the area ratio and one
 * for the circumference ratio.
 */
export const CARDIAC_SIZE = { small: 0.25, large: 0.35, largeCircumference: 0.5 } as const;

/** Normal range of the cardiac axis, degrees to the left; ISUOG 2023: 45 +/- 20. */
export const CARDIAC_AXIS = { least: 25, most: 65 } as const;

/**
 * Returns the area of the heart divided by that of the thorax on one four-chamber plane (ISUOG
 * 2023).
 */
export function cardiothoracicAreaRatio(heartArea: number, thoraxArea: number): number {
  return heartArea / thoraxArea;
}

/** Returns the circumference of the heart divided by that of the thorax (Paladini et al. 1990). */
export function cardiothoracicCircumferenceRatio(heart: number, thorax: number): number {
  return heart / thorax;
}

/** Returns the size category of an area ratio. Normal is from 0.25 to 0.35, inclusive. */
export function cardiacSize(areaRatio: number): 'small' | 'normal' | 'large' {
  if (areaRatio > CARDIAC_SIZE.large) return 'large';
  return areaRatio < CARDIAC_SIZE.small ? 'small' : 'normal';
}

/**
 * Returns the category of a cardiac axis in degrees: right-sided, or below, within or above the
 * normal range, which is inclusive.
 */
export function cardiacAxis(degrees: number): 'normal' | 'small' | 'large' | 'right-sided' {
  if (degrees < 0) return 'right-sided';
  if (degrees < CARDIAC_AXIS.least) return 'small';
  return degrees > CARDIAC_AXIS.most ? 'large' : 'normal';
}

export type FetalRateBand =
  | 'slow'
  | 'slow-at-any-age'
  | 'fast-at-any-age'
  | 'borderline'
  | 'normal'
  | 'fast'
  | 'tachycardia';

/** Returns true if a source defines bands of the heart rate at an age; false without an age. */
export const hasRateBands = (gaDays: number | null): gaDays is number =>
  gaDays !== null && (gaDays >= FETAL_RATE.fromDays || rateBandsAt(gaDays) !== null);

/**
 * Returns the band of a fetal heart rate at an age. Before 14+0 the embryonic bands are used. If
 * the age is unknown or has no bands, only a rate that is slow or fast at any age has a band.
 */
export function fetalRateBand(gaDays: number | null, beatsPerMinute: number): FetalRateBand | null {
  if (!hasRateBands(gaDays)) {
    if (beatsPerMinute < SLOW_AT_ANY_AGE.below) return 'slow-at-any-age';
    return beatsPerMinute > FAST_AT_ANY_AGE.above ? 'fast-at-any-age' : null;
  }
  if (gaDays < FETAL_RATE.fromDays) {
    const early = embryonicRateBand(gaDays, beatsPerMinute);
    return early === 'usual' ? 'normal' : early;
  }
  if (beatsPerMinute < FETAL_RATE.least) return 'slow';
  if (beatsPerMinute > FETAL_RATE.tachycardia) return 'tachycardia';
  return beatsPerMinute > FETAL_RATE.most ? 'fast' : 'normal';
}

type RateBand = 'slow' | 'borderline' | 'usual' | 'fast';

/**
 * Returns the embryonic bands at an age; null where no source defines bands: before 4+0 weeks, at
 * 10 weeks, and from 14 weeks on.
 */
export const rateBandsAt = (gaDays: number): (typeof RATE_BANDS)[number] | null =>
  RATE_BANDS.find(({ fromDays, untilDays }) => gaDays >= fromDays && gaDays <= untilDays) ?? null;

/**
 * Returns the band of an embryonic heart rate in beats per minute. If the age is unknown or has no
 * bands, only a rate that is slow or fast at any age has a band.
 */
export function embryonicRateBand(gaDays: number | null, rate: number): RateBand | null {
  const band = gaDays === null ? null : rateBandsAt(gaDays);
  if (rate > (band?.usualTo ?? FAST_AT_ANY_AGE.above)) return 'fast';
  if (!band) return rate < SLOW_AT_ANY_AGE.below ? 'slow' : null;
  if (rate < band.slowBelow) return 'slow';
  return rate < band.usualFrom ? 'borderline' : 'usual';
}

/**
 * Returns the limit for a slow rate if, at this age, it was not verified against its source;
 * otherwise null.
 */
export function recalledLimit(gaDays: number): number | null {
  const bands = rateBandsAt(gaDays);
  return bands?.recalled ? bands.slowBelow : null;
}
