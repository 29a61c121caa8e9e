/** Mean sac diameter of three orthogonal diameters. */
export function meanSacDiameter(length: number, width: number, height: number): number {
  return (length + width + height) / 3;
}

export type ViabilityCategory =
  | 'diagnostic-of-pregnancy-loss'
  | 'suspicious-for-pregnancy-loss'
  | 'uncertain-viability'
  | 'embryo-with-cardiac-activity'
  | 'not-assessable';

/** A transvaginal scan of an intrauterine sac; what is null was not assessed. Lengths in mm. */
export interface SacFindings {
  crl: number | null;
  msd: number | null;
  embryo: boolean | null;
  cardiacActivity: boolean | null;
}

const DIAGNOSTIC = { crl: 7, msd: 25 } as const;
const SUSPICIOUS_MSD = 16;

/** SRU consensus, Doubilet et al., NEJM 2013;369:1443-1451, by one scan. */
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
