import type { BiometryCm } from './biometry-dating.ts';

type With<Inputs extends keyof BiometryCm> = Pick<BiometryCm, Inputs>;

const { exp, log } = Math;

/**
 * Estimated fetal weight in g from lengths in cm. "Hadlock 1 to 4" are used in incompatible orders,
 * so that a formula is named by its inputs only.
 */
export const WEIGHT_FORMULAS = {
  /** Hadlock et al., Am J Obstet Gynecol 1985;151:333-337. The weight of IG 2020, WHO and FMF. */
  'hadlock-hc-ac-fl': ({ hc, ac, fl }: With<'hc' | 'ac' | 'fl'>) =>
    10 ** (1.326 - 0.00326 * ac * fl + 0.0107 * hc + 0.0438 * ac + 0.158 * fl),
  /** Hadlock 1985. The weight of the Hadlock 1991 chart. */
  'hadlock-bpd-hc-ac-fl': ({ bpd, hc, ac, fl }: BiometryCm) =>
    10 **
    (1.3596 - 0.00386 * ac * fl + 0.0064 * hc + 0.00061 * bpd * ac + 0.0424 * ac + 0.174 * fl),
  /** Hadlock 1985. */
  'hadlock-bpd-ac-fl': ({ bpd, ac, fl }: With<'bpd' | 'ac' | 'fl'>) =>
    10 ** (1.335 - 0.0034 * ac * fl + 0.0316 * bpd + 0.0457 * ac + 0.1623 * fl),
  /** Hadlock 1985. */
  'hadlock-ac-fl': ({ ac, fl }: With<'ac' | 'fl'>) =>
    10 ** (1.304 + 0.05281 * ac + 0.1938 * fl - 0.004 * ac * fl),
  /** Hadlock et al., Radiology 1984;150:535-540. */
  'hadlock-bpd-ac': ({ bpd, ac }: With<'bpd' | 'ac'>) =>
    10 **
    (1.1134 +
      0.05845 * ac -
      0.000604 * ac ** 2 -
      0.007365 * bpd ** 2 +
      0.000595 * bpd * ac +
      0.1694 * bpd),
  /** Hadlock 1984 (obstetric reference: grade R). */
  'hadlock-hc-ac': ({ hc, ac }: With<'hc' | 'ac'>) =>
    10 ** (1.182 + 0.0273 * hc + 0.07057 * ac - 0.00063 * ac ** 2 - 0.0002184 * hc * ac),
  /** Hadlock 1984. */
  'hadlock-ac': ({ ac }: With<'ac'>) => exp(2.695 + 0.253 * ac - 0.00275 * ac ** 2),
  /** Shepard et al., Am J Obstet Gynecol 1982;142:47-54; the equation gives kg. */
  'shepard-bpd-ac': ({ bpd, ac }: With<'bpd' | 'ac'>) =>
    1000 * 10 ** (-1.7492 + 0.166 * bpd + 0.046 * ac - 0.002646 * ac * bpd),
  /** Stirnemann et al., UOG 2017;49:478-486. The weight of IG 2017. */
  'intergrowth-hc-ac': ({ hc, ac }: With<'hc' | 'ac'>) => {
    const cubed = (ac / 100) ** 3;
    return exp(
      5.08482 - 54.06633 * cubed - 95.80076 * cubed * log(ac / 100) + 3.13637 * (hc / 100),
    );
  },
} as const;

export type WeightFormula = keyof typeof WEIGHT_FORMULAS;
