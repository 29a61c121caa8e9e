import type { Plane } from './locator.ts';

/**
 * The mid-trimester checklist (ISUOG 2022, Salomon et al., UOG 59:840-856): what is to be looked at,
 * by region, and the planes that show it. An item without planes is none that this version can tell.
 */
export interface ChecklistItem {
  id: string;
  /** What is looked at and never how it looks: it stands among what was seen and what was not. */
  text: string;
  /** "Optional when feasible" are not mandatory. */
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

/** Ages at which the checklist is looked at, 18+0 to 24+0 weeks, days. */
export const SCREEN_DAYS = { from: 126, to: 168 } as const;

/** Ages at which the limits of ventricle and cisterna magna hold, 14+0 to 40+0 weeks, days. */
export const BRAIN_DAYS = { from: 98, to: 280 } as const;

/** Ages at which the nuchal fold is judged, 16+0 to 24+0 weeks, days (Benacerraf 1985). */
export const NUCHAL_FOLD_DAYS = { from: 112, to: 168 } as const;

/** Millimetres; sources in obstetric reference 8.1. */
export const SCREEN_MM = {
  cisternaMagna: { low: 2, high: 10 },
  nuchalFold: 6,
} as const;

/** Mega above 10 mm, effaced below 2 mm (ISUOG CNS part 1, 2020). */
export function cisternaMagnaCategory(mm: number): 'effaced' | 'normal' | 'mega' {
  const { low, high } = SCREEN_MM.cisternaMagna;
  if (mm < low) return 'effaced';
  return mm > high ? 'mega' : 'normal';
}

/** Thick from 6 mm at 16 to 24 weeks; null outside of them, where it is not judged. */
export function nuchalFoldCategory(mm: number, gaDays: number): 'normal' | 'thick' | null {
  if (gaDays < NUCHAL_FOLD_DAYS.from || gaDays > NUCHAL_FOLD_DAYS.to) return null;
  return mm >= SCREEN_MM.nuchalFold ? 'thick' : 'normal';
}
