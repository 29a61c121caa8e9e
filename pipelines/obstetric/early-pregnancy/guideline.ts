import { normalQuantile } from '../../measure/statistics.ts';

/** Range of CRL in mm, inclusive, in which Robinson and Fleming's equation is valid. */
export const DATING_CRL = { from: 5, to: 84 } as const;

export const DIAGNOSTIC = { crl: 7, msd: 25 } as const;

export const SUSPICIOUS_MSD = 16;

/** Usual range of the inner diameter of a yolk sac: 2 to 6 mm, inclusive (obstetric 5.1). */
export const YOLK_SAC_MM = { small: 2, large: 6 } as const;

export const SUSPICIOUS = { yolkSacAbove: 7, smallSacBelow: 5, embryoFromDays: 42 } as const;

const { exp, log, sqrt } = Math;

/**
 * Returns the age in days for a CRL in mm within `DATING_CRL`: Robinson and Fleming, BJOG
 * 1975;82:702-710, in the form used by BMUS and FMF.
 */
export function robinson1975Age(crl: number): number {
  return 8.052 * sqrt(1.037 * crl) + 23.73;
}

/**
 * Returns the age in weeks for a CRL of 2 to 121 mm: Hadlock et al., Radiology 1992;182:501-505.
 */
export function hadlock1992Age(crl: number): number {
  const c = crl / 10;
  return exp(
    1.684969 + 0.315646 * c - 0.049306 * c ** 2 + 0.004057 * c ** 3 - 0.000120456 * c ** 4,
  );
}

/** Returns the age in weeks for a CRL in mm: Verburg et al., UOG 2008;31:388-396. */
export function verburg2008Age(crl: number): number {
  return exp(1.4653 + 0.001737 * crl + 0.2313 * log(crl));
}

/**
 * Returns the age in days for a CRL of 15 to 95 mm; null outside that range. INTERGROWTH-21st,
 * Papageorghiou et al., UOG 2014;44:641-648.
 */
export function intergrowthAgeByCrl(crl: number): number | null {
  if (crl < 15 || crl > 95) return null;
  return 40.9041 + 3.21585 * sqrt(crl) + 0.348956 * crl;
}

/**
 * Returns the CRL in mm at a centile for 58 to 105 days; null outside that range. Same source as
 * `intergrowthAgeByCrl`.
 */
export function intergrowthCrlAt(gaDays: number, centile: number): number | null {
  if (gaDays < 58 || gaDays > 105) return null;
  const mean = -50.6562 + 0.815118 * gaDays + 0.00535302 * gaDays ** 2;
  const sd = -2.21626 + 0.0984894 * gaDays;
  return mean + normalQuantile(centile / 100) * sd;
}

/** Returns the mean sac diameter from three orthogonal diameters. */
export function meanSacDiameter(length: number, width: number, height: number): number {
  return (length + width + height) / 3;
}

export type ViabilityCategory =
  | 'diagnostic-of-pregnancy-loss'
  | 'suspicious-for-pregnancy-loss'
  | 'uncertain-viability'
  | 'embryo-with-cardiac-activity'
  | 'not-assessable';

/**
 * Findings of a transvaginal scan of an intrauterine sac; null means not assessed. Lengths are in
 * mm.
 */
interface SacFindings {
  crl: number | null;
  msd: number | null;
  embryo: boolean | null;
  cardiacActivity: boolean | null;
}

/**
 * Returns the viability category from one scan: SRU consensus, Doubilet et al., NEJM
 * 2013;369:1443-1451.
 */
export function viability({ crl, msd, embryo, cardiacActivity }: SacFindings): ViabilityCategory {
  if (cardiacActivity === true) return 'embryo-with-cardiac-activity';
  const silent = crl !== null && cardiacActivity === false;
  const empty = msd !== null && embryo === false;
  if ((silent && crl >= DIAGNOSTIC.crl) || (empty && msd >= DIAGNOSTIC.msd)) {
    return 'diagnostic-of-pregnancy-loss';
  }
  if (silent || (empty && msd >= SUSPICIOUS_MSD)) return 'suspicious-for-pregnancy-loss';
  return empty || cardiacActivity === false ? 'uncertain-viability' : 'not-assessable';
}

export function yolkSacBand(mm: number): 'small' | 'usual' | 'large' {
  if (mm < YOLK_SAC_MM.small) return 'small';
  return mm > YOLK_SAC_MM.large ? 'large' : 'usual';
}

/**
 * Findings from which SRU's further signs of a suspected loss are determined (obstetric 5.3); null
 * means not assessed. Lengths are in mm.
 */
interface SuspiciousSigns {
  yolkSac: number | null;
  msd: number | null;
  crl: number | null;
  embryo: boolean | null;
  /**
   * Age by the last menstrual period in days; null if the pregnancy is undated or dated by another
   * method.
   */
  daysByLmp: number | null;
}

/** Returns whether both conditions hold; null if the known ones leave it open. */
export const bothHold = (one: boolean | null, other: boolean | null): boolean | null =>
  one === false || other === false ? false : one && other;

/**
 * Returns which suspicious signs are present, according to the same source as `viability`; null for
 * a sign that could not be assessed.
 */
export function suspiciousSigns({ yolkSac, msd, crl, embryo, daysByLmp }: SuspiciousSigns) {
  return {
    largeYolkSac: yolkSac === null ? null : yolkSac > SUSPICIOUS.yolkSacAbove,
    smallSac: msd === null || crl === null ? null : msd - crl < SUSPICIOUS.smallSacBelow,
    lateEmbryo: bothHold(
      embryo === null ? null : !embryo,
      daysByLmp === null ? null : daysByLmp >= SUSPICIOUS.embryoFromDays,
    ),
  };
}

/**
 * Returns the age in days, plus or minus 7, from the mean sac diameter before an embryo is visible
 * (Nyberg); null at 25 mm and above.
 */
export function nybergAge(msd: number): number | null {
  return msd < DIAGNOSTIC.msd ? msd + 30 : null;
}
