/** Said with every value whose method could be developed on phantoms only. */
export const SIMULATED_ONLY =
  'measured by a method developed on simulated images only; not validated on real ones';
