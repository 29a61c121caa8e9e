/** How the gestational age was dated; every basis is independent of the biometry of this scan. */
export const DATING_BASIS = ['lmp', 'crl', 'prior_scan', 'ivf'] as const;
export type DatingBasis = (typeof DATING_BASIS)[number];

/** Each basis as sentences name it. */
export const BASIS_TEXT: Readonly<Record<DatingBasis, string>> = {
  lmp: 'last menstrual period',
  crl: 'crown-rump length',
  prior_scan: 'an earlier scan',
  ivf: 'assisted reproduction',
};

/** The name of a basis; a basis of a later version is shown as it is. */
export const basisText = (basis: string): string =>
  Object.entries(BASIS_TEXT).find(([key]) => key === basis)?.[1] ?? basis;

/** The gestational age that the request states, in days, and how the pregnancy was dated. */
export interface Dating {
  ga_days: number;
  basis: DatingBasis;
}
