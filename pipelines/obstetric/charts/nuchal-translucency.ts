/**
 * Expected nuchal translucency in mm by CRL in mm, 45 to 84: FMF, Spencer et al., UOG
 * 2003;22:142-148. Null outside the window in which NT is interpreted.
 */
export function expectedNuchalTranslucency(crl: number): number | null {
  if (crl < 45 || crl > 84) return null;
  return 10 ** (-0.3599 + 0.0127 * crl - 0.000058 * crl ** 2);
}

/** Multiple of the expected median. */
export function nuchalTranslucencyMoM(crl: number, nt: number): number | null {
  const expected = expectedNuchalTranslucency(crl);
  return expected && nt / expected;
}
