/** Range of CRL in mm, inclusive, in which NT is interpreted (FMF; obstetric 6). */
export const NT_WINDOW = { from: 45, to: 84 } as const;

/**
 * Returns the expected nuchal translucency in mm for a CRL of 45 to 84 mm: FMF, Spencer et al., UOG
 * 2003;22:142-148. Null outside this range, because NT is not interpreted there.
 */
export function expectedNuchalTranslucency(crl: number): number | null {
  if (crl < NT_WINDOW.from || crl > NT_WINDOW.to) return null;
  return 10 ** (-0.3599 + 0.0127 * crl - 0.000058 * crl ** 2);
}

/** Returns the NT as a multiple of the expected median; null for a CRL outside `NT_WINDOW`. */
export function nuchalTranslucencyMoM(crl: number, nt: number): number | null {
  const expected = expectedNuchalTranslucency(crl);
  return expected && nt / expected;
}

/** 99th centile in mm, independent of CRL: Snijders et al., Lancet 1998;352:343-346. */
export const HIGH_NT = 3.5;

/**
 * Returns the 95th centile in mm, interpolated linearly between 2.1 at CRL 45 and 2.7 at CRL 84
 * (FMF). Null outside this range.
 */
export function nuchalTranslucency95(crl: number): number | null {
  const { from, to } = NT_WINDOW;
  if (crl < from || crl > to) return null;
  return 2.1 + (0.6 * (crl - from)) / (to - from);
}

/**
 * Returns the category of an NT in mm. Without a CRL in the window, only `high` can be determined;
 * null otherwise.
 */
export function nuchalCategory(
  nt: number,
  crl: number | null,
): 'normal' | 'increased' | 'high' | null {
  if (nt >= HIGH_NT) return 'high';
  const limit = crl === null ? null : nuchalTranslucency95(crl);
  if (limit === null) return null;
  return nt >= limit ? 'increased' : 'normal';
}
