import type { Plane } from '../shared/plane.ts';

/**
 * One item of the mid-trimester checklist (ISUOG 2022, Salomon et al., UOG 59:840-856), with the
 * planes that show it. An item without planes is recognised only by a measurement (judge.ts), if at
 * all.
 */
interface ChecklistItem {
  id: string;
  /**
   * Name of the structure. It does not describe the appearance, because items that were not seen
   * are listed too.
   */
  text: string;
  /** False for items that the guideline calls "optional when feasible". */
  mandatory: boolean;
  shownBy: readonly Plane[];
}

const HEADS = ['transthalamic', 'transventricular', 'transcerebellar'] as const;
const CHEST = ['thorax', 'four-chamber'] as const;

const item = (id: string, text: string, shownBy: readonly Plane[] = []): ChecklistItem => ({
  id,
  text,
  mandatory: true,
  shownBy,
});
const optional = (id: string, text: string): ChecklistItem => ({
  ...item(id, text),
  mandatory: false,
});

export const CHECKLIST: Readonly<Record<string, readonly ChecklistItem[]>> = {
  head: [
    item('cranium', 'integrity and shape of the cranium', HEADS),
    item('cavum', 'cavum septi pellucidi', ['transthalamic', 'transventricular']),
    item('falx', 'midline falx', HEADS),
    item('thalami', 'thalami', ['transthalamic']),
    item('ventricles', 'lateral ventricles and choroid plexus', ['transventricular']),
    item('cerebellum', 'cerebellum', ['transcerebellar']),
    item('cisterna-magna', 'cisterna magna', ['transcerebellar']),
  ],
  face: [
    item('orbits', 'both orbits'),
    optional('profile', 'mid-sagittal profile'),
    item('mouth', 'mouth'),
    item('upper-lip', 'upper lip'),
    optional('nasal-bone', 'nasal bone'),
  ],
  neck: [item('nuchal-fold', 'neck and nuchal fold', ['transcerebellar'])],
  chest: [
    item('thorax', 'shape and size of thorax and lungs', CHEST),
    item('heart-activity', 'heart activity'),
    item('four-chamber', 'four-chamber view and position of the heart', CHEST),
    item('outflow-tracts', 'left and right outflow tract'),
    item('three-vessel', 'three-vessel or three-vessel and trachea view'),
    item('diaphragm', 'diaphragm'),
  ],
  abdomen: [
    item('stomach', 'position of the stomach', ['abdominal']),
    item('bowel', 'bowel'),
    item('kidneys', 'both kidneys'),
    item('cord-insertion', 'cord insertion'),
    item('bladder', 'bladder'),
    optional('gallbladder', 'gallbladder'),
  ],
  skeleton: [
    item('spine', 'spine in transverse and sagittal planes'),
    item('arms', 'arms and hands'),
    item('legs', 'legs and feet'),
  ],
  placenta: [
    item('placenta-position', 'position of the placenta', ['placenta']),
    item('placenta-mass', 'masses of the placenta'),
    item('accessory-lobe', 'accessory lobe of the placenta'),
    optional('placental-cord-insertion', 'cord insertion into the placenta'),
  ],
  cord: [item('cord-vessels', 'three vessels of the cord')],
  other: [
    item('fluid', 'amniotic fluid', ['amniotic-fluid']),
    item('cervix', 'cervix (as the local protocol asks)', ['cervix']),
  ],
};

/** Ages at which the checklist applies: 18+0 to 24+0 weeks, in days. */
export const SCREEN_DAYS = { from: 126, to: 168 } as const;

/** Ages at which the limits for ventricle and cisterna magna apply: 14+0 to 40+0 weeks, in days. */
export const BRAIN_DAYS = { from: 98, to: 280 } as const;

/** Ages at which the nuchal fold is classified: 16+0 to 24+0 weeks, in days (Benacerraf 1985). */
const NUCHAL_FOLD_DAYS = { from: 112, to: 168 } as const;

/** Limits in millimetres; for sources see obstetric 8.1. */
export const SCREEN_MM = {
  cisternaMagna: { low: 2, high: 10 },
  nuchalFold: 6,
} as const;

/**
 * Returns the category of a cisterna magna: mega above 10 mm, effaced below 2 mm (ISUOG CNS part 1,
 * 2020).
 */
export function cisternaMagnaCategory(mm: number): 'effaced' | 'normal' | 'mega' {
  const { low, high } = SCREEN_MM.cisternaMagna;
  if (mm < low) return 'effaced';
  return mm > high ? 'mega' : 'normal';
}

/**
 * Returns the category of a nuchal fold, which is thick from 6 mm at 16 to 24 weeks. Null at other
 * ages, at which it is not classified.
 */
export function nuchalFoldCategory(mm: number, gaDays: number): 'normal' | 'thick' | null {
  if (gaDays < NUCHAL_FOLD_DAYS.from || gaDays > NUCHAL_FOLD_DAYS.to) return null;
  return mm >= SCREEN_MM.nuchalFold ? 'thick' : 'normal';
}

/** Brain structures that have a chart of their size in mm by exact weeks. */
export type BrainStructure =
  | 'parieto-occipital-fissure'
  | 'sylvian-fissure'
  | 'anterior-horn'
  | 'posterior-horn'
  | 'cisterna-magna'
  | 'cerebellum';

interface Standard {
  weeks: { from: number; to: number };
  mean(ga: number): number;
  sd(ga: number): number;
  /** True if mean and SD describe ln(mm) instead of mm. */
  logarithmic?: boolean;
}

const NAPOLITANO_WEEKS = { from: 15, to: 36 } as const;

/**
 * INTERGROWTH-21st: Napolitano et al., UOG 2020;56:359-370; the transcerebellar diameter by
 * Rodriguez-Sibaja et al., UOG 2021;57:614-623.
 */
const STANDARDS: Readonly<Record<BrainStructure, Standard>> = {
  'parieto-occipital-fissure': {
    weeks: NAPOLITANO_WEEKS,
    mean: (ga) => 10.29428 - 122.8447 / ga + 0.00001038 * ga ** 3,
    sd: (ga) => 1.596042 - 257.2297 * ga ** -2,
  },
  'sylvian-fissure': {
    weeks: NAPOLITANO_WEEKS,
    mean: (ga) => 80.27012 - 32.7877 * ga ** -0.5 - 100.1593 * ga ** -0.5 * Math.log(ga),
    sd: (ga) => 2.304501 - 353.814 * ga ** -2,
  },
  'anterior-horn': {
    weeks: NAPOLITANO_WEEKS,
    mean: (ga) => 6.396214 + 0.00006205 * ga ** 3,
    sd: () => 1.204454,
  },
  'posterior-horn': {
    weeks: NAPOLITANO_WEEKS,
    mean: (ga) => 4.389214 + 38.10015 / ga + 0.0000020063 * ga ** 3,
    sd: (ga) => 0.6707227 + 0.034258 * ga,
  },
  'cisterna-magna': {
    weeks: NAPOLITANO_WEEKS,
    mean: (ga) => 2.098095 - 239.0659 * ga ** -2 - 0.0000001547 * ga ** 3,
    sd: (ga) => 0.2297936 + 8.1872 * ga ** -2,
    logarithmic: true,
  },
  cerebellum: {
    weeks: { from: 14, to: 40 },
    mean: (ga) => -13.10907 + 20.8941 * (ga / 10) ** 0.5 + 0.5035914 * (ga / 10) ** 3,
    sd: (ga) => 0.4719837 + 0.0500382 * (ga / 10) ** 3,
  },
};

/** Returns the length in mm at a z-score; null at an age outside the chart. */
export function brainStructureAt(
  structure: BrainStructure,
  gaWeeks: number,
  z: number,
): number | null {
  const { weeks, mean, sd, logarithmic } = STANDARDS[structure];
  if (gaWeeks < weeks.from || gaWeeks > weeks.to) return null;
  const value = mean(gaWeeks) + z * sd(gaWeeks);
  return logarithmic ? Math.exp(value) : value;
}

/**
 * Returns the age in days for a transcerebellar diameter of 12 to 55 mm (Rodriguez-Sibaja 2021);
 * null outside that range.
 */
export function ageByCerebellum(tcd: number): number | null {
  if (tcd < 12 || tcd > 55) return null;
  const t = tcd / 10;
  return 7 * (3.957113 + 8.154074 * t - 0.076187 * t ** 3);
}

/**
 * Categories of the atrial width of the lateral ventricle (SMFM 2018, Fox et al., AJOG 219:B2-B9).
 */
type VentricleCategory = 'normal' | 'mild' | 'moderate' | 'severe';

/**
 * Lower limits of the categories: mild from 10.0 mm, moderate from 13.0 mm, severe above 15 mm
 * (ISUOG 2020; SMFM 2018).
 */
export const VENTRICLE_MM = { mild: 10, moderate: 13, severe: 15 } as const;

/** Returns the category of an atrial width in mm. */
export function ventricleCategory(atrialWidth: number): VentricleCategory {
  if (atrialWidth < VENTRICLE_MM.mild) return 'normal';
  if (atrialWidth < VENTRICLE_MM.moderate) return 'mild';
  return atrialWidth <= VENTRICLE_MM.severe ? 'moderate' : 'severe';
}
