import { normalQuantile } from '../../measure/statistics.ts';

/** Dating by crown-rump length (obstetric reference 5.2); lengths in mm. */

const { exp, log, sqrt } = Math;

/** CRL in mm for which Robinson and Fleming's equation holds, both included. */
export const DATING_CRL = { from: 5, to: 84 } as const;

/** Age in days by a CRL within `DATING_CRL`: Robinson and Fleming, BJOG 1975;82:702-710, BMUS and FMF form. */
export function robinson1975Age(crl: number): number {
  return 8.052 * sqrt(1.037 * crl) + 23.73;
}

/** Age in weeks, CRL 2 to 121 mm: Hadlock et al., Radiology 1992;182:501-505. */
export function hadlock1992Age(crl: number): number {
  const c = crl / 10;
  return exp(
    1.684969 + 0.315646 * c - 0.049306 * c ** 2 + 0.004057 * c ** 3 - 0.000120456 * c ** 4,
  );
}

/** Age in weeks: Verburg et al., UOG 2008;31:388-396. */
export function verburg2008Age(crl: number): number {
  return exp(1.4653 + 0.001737 * crl + 0.2313 * log(crl));
}

/** Age in days, CRL 15 to 95 mm: INTERGROWTH-21st, Papageorghiou et al., UOG 2014;44:641-648. */
export function intergrowthAgeByCrl(crl: number): number | null {
  if (crl < 15 || crl > 95) return null;
  return 40.9041 + 3.21585 * sqrt(crl) + 0.348956 * crl;
}

/** CRL in mm at a centile, 58 to 105 days; source as `intergrowthAgeByCrl`. */
export function intergrowthCrlAt(gaDays: number, centile: number): number | null {
  if (gaDays < 58 || gaDays > 105) return null;
  const mean = -50.6562 + 0.815118 * gaDays + 0.00535302 * gaDays ** 2;
  const sd = -2.21626 + 0.0984894 * gaDays;
  return mean + normalQuantile(centile / 100) * sd;
}
