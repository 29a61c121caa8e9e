import { DIAGNOSTIC, SUSPICIOUS, SUSPICIOUS_MSD, YOLK_SAC_MM } from './charts/early-pregnancy.ts';
import { DATING_CRL } from './early-lengths.ts';
import { formatOffCutOffs } from './format-off-cut-offs.ts';

/** Where a category, a band or the range of dating begins or ends, mm. */
const CUT_OFFS = {
  'mean-sac-diameter': [SUSPICIOUS_MSD, DIAGNOSTIC.msd],
  'yolk-sac': [YOLK_SAC_MM.small, YOLK_SAC_MM.large, SUSPICIOUS.yolkSacAbove],
  crl: [DATING_CRL.from, DIAGNOSTIC.crl, DATING_CRL.to],
} as const;

/** The lengths of an early pregnancy that are judged. */
export const EARLY_LENGTHS = ['mean-sac-diameter', 'yolk-sac', 'crl'] as const;
export type EarlyLength = (typeof EARLY_LENGTHS)[number];

/** A length as every sentence shows it: on its side of the cut-offs. */
export const earlyText = (key: EarlyLength, mm: number) => formatOffCutOffs(key, mm, CUT_OFFS[key]);
