/** Ratios of biometry and their usual ranges (obstetric reference 2.3). */

/** 100 × BPD / OFD, in %. Hadlock et al., AJR 1981;137:83-85, with BPD outer to inner. */
export function cephalicIndex(bpd: number, ofd: number): number {
  return (100 * bpd) / ofd;
}

/** Usual reporting range in %, 14 to 40 weeks (Hadlock 1981). */
export const CEPHALIC_INDEX_RANGE = { low: 70, high: 86 } as const;

/** 100 × FL / AC in %; Hadlock et al., AJR 1983;141:979-984. */
export function femurAbdomenRatio(fl: number, ac: number): number {
  return (100 * fl) / ac;
}

/** 100 × FL / BPD in %; Hohler and Quetel, AJOG 1981;141:759-762, with BPD outer to inner. */
export function femurBpdRatio(fl: number, bpd: number): number {
  return (100 * fl) / bpd;
}

/** HC / AC. Falls with age; above 1 before about 36 weeks. */
export function headAbdomenRatio(hc: number, ac: number): number {
  return hc / ac;
}

/** Expected HC / AC at an age in weeks: a linear regression quoted by calculators (grade X). */
export function expectedHeadAbdomenRatio(gaWeeks: number): number {
  return 1.32293 - 0.0084471 * gaWeeks;
}

/** Circumference as π times the mean diameter: AC of APAD and TAD, HC of outer-outer diameters. */
export function circumferenceOfDiameters(first: number, second: number): number {
  return (Math.PI * (first + second)) / 2;
}

/** Share by which a circumference may differ from that of its diameters (obstetric reference 0.6). */
export const CIRCUMFERENCE_SHARE = 0.06;

/** HC of an outer-inner BPD and the OFD; 1.62 holds the missing bone (ISUOG 2019, Hadlock 1982). */
export function headCircumferenceOuterInner(bpdOuterInner: number, ofd: number): number {
  return 1.62 * (bpdOuterInner + ofd);
}
