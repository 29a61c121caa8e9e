/** Views that the classifier distinguishes (echo 2.1). `other` is everything else. */
export const ECHO_VIEWS = [
  'PLAX',
  'PSAX-AV',
  'PSAX-MV',
  'PSAX-PM',
  'PSAX-AP',
  'A4C',
  'A2C',
  'A3C',
  'A5C',
  'SUBCOSTAL-4C',
  'SUBCOSTAL-IVC',
  'SUPRASTERNAL',
  'other',
] as const;
export type EchoView = (typeof ECHO_VIEWS)[number];

/**
 * A view identified by the header, the classifier or a person. `PSAX` is a short axis of unknown
 * level. The LV is not measured on an A4C aimed at the RV (A4C-RV), which foreshortens the LV, or
 * on RV long axes, which do not show it.
 */
export type HeartView =
  | Exclude<EchoView, 'other'>
  | 'PSAX'
  | 'SUBCOSTAL'
  | 'A4C-RV'
  | 'RV-INFLOW'
  | 'RV-OUTFLOW';

/** A clip whose header names one view, and which certainly shows another to the classifier. */
export interface ViewDispute {
  named: HeartView;
  seen: HeartView;
}

/**
 * Groups of views (api 2.6). The result lists clips by group, and sections request them by group.
 */
export const VIEW_FAMILIES = [
  'PLAX',
  'PSAX',
  'A2C',
  'A3C',
  'A4C',
  'A5C',
  'subcostal',
  'suprasternal',
  'RV inflow',
  'RV outflow',
] as const;
export type ViewFamily = (typeof VIEW_FAMILIES)[number];

const FAMILY: Readonly<Record<HeartView, ViewFamily>> = {
  PLAX: 'PLAX',
  PSAX: 'PSAX',
  'PSAX-AV': 'PSAX',
  'PSAX-MV': 'PSAX',
  'PSAX-PM': 'PSAX',
  'PSAX-AP': 'PSAX',
  A2C: 'A2C',
  A3C: 'A3C',
  A4C: 'A4C',
  A5C: 'A5C',
  SUBCOSTAL: 'subcostal',
  'SUBCOSTAL-4C': 'subcostal',
  'SUBCOSTAL-IVC': 'subcostal',
  SUPRASTERNAL: 'suprasternal',
  'A4C-RV': 'A4C',
  'RV-INFLOW': 'RV inflow',
  'RV-OUTFLOW': 'RV outflow',
};

/**
 * Returns true if a clip shows a picture of the heart and therefore has a view. Spectra and M-modes
 * do not.
 */
export const isPicture = ({ mode }: { mode: string }) => mode !== 'spectral' && mode !== 'm-mode';

const FOCUSED: ReadonlySet<ViewFamily> = new Set(['PLAX', 'PSAX', 'A4C', 'subcostal']);

/** Returns true if a view belongs to focused cardiac ultrasound (echo 15). */
export const isFocused = (view: HeartView) => FOCUSED.has(familyOf(view));

const WITHOUT_VENTRICLE: ReadonlySet<HeartView> = new Set(['SUBCOSTAL-IVC', 'PSAX-AV']);

/**
 * Returns true if a view of focused ultrasound (`isFocused`) shows the left ventricle. Views of a
 * vessel or of the aortic valve plane do not.
 */
export const showsVentricle = (view: HeartView) => !WITHOUT_VENTRICLE.has(view);

export const familyOf = (view: HeartView): ViewFamily => FAMILY[view];

/** Structures on an apical frame, in the order of their labels (1 to 5; 0 is the background). */
export const CHAMBERS = ['lv', 'myocardium', 'la', 'rv', 'ra'] as const;
export type Chamber = (typeof CHAMBERS)[number];

/**
 * Structures on a parasternal or subcostal frame, in the order of their labels, which start at 1.
 */
export const PARASTERNAL_STRUCTURES = [
  'lv',
  'myocardium',
  'la',
  'rv',
  'ra',
  'aorta',
  'pulmonary-artery',
  'effusion',
] as const;
export type ParasternalStructure = (typeof PARASTERNAL_STRUCTURES)[number];
