/** Said with every value whose method could be developed on phantoms only. */
export const SIMULATED_ONLY =
  'measured by a method developed on simulated images only; not validated on real ones';

/** The same where some real images were shown in training, with labels that are no reference. */
export const WITHOUT_REFERENCE =
  'measured by a method that was not validated on real images; the labels of its real training images were drawn by no clinician';
