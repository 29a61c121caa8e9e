/** Lengths in cm, as Hadlock's equations take them. BPD is outer to inner. */
export interface BiometryCm {
  bpd: number;
  hc: number;
  ac: number;
  fl: number;
}

type With<Inputs extends keyof BiometryCm> = Pick<BiometryCm, Inputs>;

/**
 * Gestational age in weeks: Hadlock et al., Radiology 1984;152:497-501, all 15 equations, fitted
 * from 12 to 42 weeks.
 */
export const HADLOCK_1984_AGE = {
  bpd: ({ bpd }: With<'bpd'>) => 9.54 + 1.482 * bpd + 0.1676 * bpd ** 2,
  hc: ({ hc }: With<'hc'>) => 8.96 + 0.54 * hc + 0.0003 * hc ** 3,
  ac: ({ ac }: With<'ac'>) => 8.14 + 0.753 * ac + 0.0036 * ac ** 2,
  fl: ({ fl }: With<'fl'>) => 10.35 + 2.46 * fl + 0.17 * fl ** 2,
  'bpd-hc': ({ bpd, hc }: With<'bpd' | 'hc'>) =>
    10.32 + 0.009 * hc ** 2 + 1.32 * bpd + 0.00012 * hc ** 3,
  'bpd-ac': ({ bpd, ac }: With<'bpd' | 'ac'>) => 9.57 + 0.524 * ac + 0.122 * bpd ** 2,
  'bpd-fl': ({ bpd, fl }: With<'bpd' | 'fl'>) => 10.5 + 0.197 * bpd * fl + 0.95 * fl + 0.73 * bpd,
  'hc-ac': ({ hc, ac }: With<'hc' | 'ac'>) => 10.31 + 0.012 * hc ** 2 + 0.385 * ac,
  'hc-fl': ({ hc, fl }: With<'hc' | 'fl'>) => 11.19 + 0.07 * hc * fl + 0.263 * hc,
  'ac-fl': ({ ac, fl }: With<'ac' | 'fl'>) =>
    10.47 + 0.442 * ac + 0.314 * fl ** 2 - 0.0121 * fl ** 3,
  'bpd-hc-ac': ({ bpd, hc, ac }: With<'bpd' | 'hc' | 'ac'>) =>
    10.58 + 0.005 * hc ** 2 + 0.3635 * ac + 0.02864 * bpd * ac,
  'bpd-hc-fl': ({ bpd, hc, fl }: With<'bpd' | 'hc' | 'fl'>) => 11.38 + 0.07 * hc * fl + 0.98 * bpd,
  'bpd-ac-fl': ({ bpd, ac, fl }: With<'bpd' | 'ac' | 'fl'>) =>
    10.61 + 0.175 * bpd * fl + 0.297 * ac + 0.71 * fl,
  'hc-ac-fl': ({ hc, ac, fl }: With<'hc' | 'ac' | 'fl'>) =>
    10.33 + 0.031 * hc * fl + 0.361 * hc + 0.0298 * ac * fl,
  'bpd-hc-ac-fl': ({ bpd, hc, ac, fl }: With<'bpd' | 'hc' | 'ac' | 'fl'>) =>
    10.85 + 0.06 * hc * fl + 0.67 * bpd + 0.168 * ac,
} as const;

/** Weeks for which Hadlock 1984 was fitted. */
export const HADLOCK_1984_WEEKS = { from: 12, to: 42 } as const;

/**
 * Two standard deviations of a gestational age by HC alone, in weeks, by the estimated age
 * (Hadlock 1984, recalled: obstetric reference 2.4, grade R). Null outside of 12 to 42 weeks.
 */
export function hadlock1984HcTwoSd(gaWeeks: number): number | null {
  if (gaWeeks < HADLOCK_1984_WEEKS.from || gaWeeks > HADLOCK_1984_WEEKS.to) return null;
  if (gaWeeks < 18) return 1.19;
  if (gaWeeks < 24) return 1.48;
  if (gaWeeks < 30) return 2.06;
  return gaWeeks < 36 ? 2.98 : 2.7;
}

const { exp, log } = Math;

/**
 * Gestational age in days by HC in mm: INTERGROWTH-21st late dating, Papageorghiou et al., UOG
 * 2016;48:719-726. From 14+0.
 */
export function intergrowthAgeByHc(hc: number): number {
  return exp(0.0597 * log(hc) ** 2 + 6.409e-9 * hc ** 3 + 3.3258);
}

/** Gestational age in days by HC and FL in mm; source as `intergrowthAgeByHc`. */
export function intergrowthAgeByHcFl(hc: number, fl: number): number {
  return exp(0.03243 * log(hc) ** 2 + 0.001644 * fl * log(hc) + 3.813);
}
