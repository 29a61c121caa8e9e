/** Size for gestational age by unrounded centiles (obstetric reference 3.8). */
export type SizeCategory = 'sga-severe' | 'sga' | 'aga' | 'lga' | 'lga-severe';

/** Centiles of the boundaries; exactly the 10th or 90th is appropriate. */
export const SIZE_CUTOFFS = { severelySmall: 3, small: 10, large: 90, severelyLarge: 97 } as const;

export const SIZE_LABELS: Readonly<Record<SizeCategory, string>> = {
  'sga-severe': 'severely small for gestational age (below the 3rd centile)',
  sga: 'small for gestational age (below the 10th centile)',
  aga: 'appropriate for gestational age (10th to 90th centile)',
  lga: 'large for gestational age (above the 90th centile)',
  'lga-severe': 'very large for gestational age (above the 97th centile)',
};

/**
 * The category of a weight centile; an AC below the 3rd centile is severe by itself (Delphi 2016,
 * Gordijn et al., UOG 48:333-339; ISUOG 2020, Lees et al., UOG 56:298-312).
 */
export function sizeCategory(efwCentile: number, acCentile: number | null = null): SizeCategory {
  const { severelySmall, small, large, severelyLarge } = SIZE_CUTOFFS;
  if (efwCentile < severelySmall || (acCentile ?? small) < severelySmall) return 'sga-severe';
  if (efwCentile < small) return 'sga';
  if (efwCentile > severelyLarge) return 'lga-severe';
  return efwCentile > large ? 'lga' : 'aga';
}

/** Weights in g from which macrosomia is said, the higher first (ACOG Practice Bulletin 216). */
export const MACROSOMIA_GRAMS = [4500, 4000] as const;

/**
 * Discordance of twins in %, both included: from the first it is told (ISUOG twin guideline), from
 * the second it is a criterion of selective growth restriction (Khalil et al., UOG 2019;53:47-54).
 */
export const TWIN_DISCORDANCE = { told: 20, selective: 25 } as const;

/** Difference of two twins' weights in % of the larger. */
export function twinDiscordance(largerGrams: number, smallerGrams: number): number {
  return (100 * (largerGrams - smallerGrams)) / largerGrams;
}
