import { rounded } from '../../measure/rounding.ts';

const EFFUSION_GRADES = ['none', 'small', 'moderate', 'large', 'very large'] as const;
export type EffusionGrade = (typeof EFFUSION_GRADES)[number];

/** Greatest depth, mm, of a moderate and of a large effusion. */
const MODERATE = 20;
const LARGE = 25;

/**
 * By how many mm an outline of fluid may run beyond it: on simulated hearts 8 mm read 9 to 12,
 * because an outline follows a thin layer only as closely as its grid.
 */
export const OUTLINE_EXCESS = 4;

/** Whether an effusion is large or very large, which is reported at once (echo 13). */
export const isLarge = (depth: number) => rounded(depth, 0) > MODERATE;

/** Whether fluid outlined so deep, mm, is a large effusion even if the outline runs beyond it. */
export const surelyLarge = (outlined: number) => isLarge(outlined - OUTLINE_EXCESS);

/** Whether fluid outlined elsewhere is of a higher grade than the depth that was measured, both mm. */
export function outgrows(outlined: number, measured: number): boolean {
  const grades: readonly EffusionGrade[] = EFFUSION_GRADES;
  const grade = (depth: number) => grades.indexOf(effusionGrade(Math.max(depth, 0)));
  return grade(outlined - OUTLINE_EXCESS) > grade(measured);
}

/** By the greatest end-diastolic depth, mm (PER13, PER15; echo 13). */
export function effusionGrade(depth: number): EffusionGrade {
  const shown = rounded(depth, 0);
  if (shown === 0) return 'none';
  if (shown < 10) return 'small';
  if (shown <= MODERATE) return 'moderate';
  return shown <= LARGE ? 'large' : 'very large';
}

/** Respiratory variation of an inflow velocity, per cent of the expiratory one; a magnitude. */
export const respiratoryVariation = (expiration: number, inspiration: number) =>
  Math.abs((100 * (expiration - inspiration)) / expiration);

interface TamponadeSigns {
  effusion: boolean;
  /** Which chambers collapse; null: not assessed. */
  collapse: readonly ('RA' | 'RV' | 'LA' | 'LV')[] | null;
  variation: boolean | null;
  plethora: boolean | null;
}

const TAMPONADE_STATEMENTS = [
  'no effusion seen',
  'tamponade signs not assessed',
  'effusion, no echo sign of tamponade',
  'possible haemodynamic effect; urgent clinical correlation',
  'minor sign; correlate',
  'echo signs compatible with tamponade; urgent review',
  'raised RA pressure; tamponade not excluded',
] as const;
type TamponadeStatement = (typeof TAMPONADE_STATEMENTS)[number];

/** Whether a statement asks for the patient to be seen at once. */
export const isUrgent = (statement: TamponadeStatement) =>
  statement === 'possible haemodynamic effect; urgent clinical correlation' ||
  statement === 'echo signs compatible with tamponade; urgent review';

/** The table is a convention of the project ([C], echo 13), so its statements name no society. */
export const TAMPONADE_SCHEME = 'Sonogate convention for echo signs of tamponade';

/**
 * Decision table of echo 13; tamponade itself is a clinical diagnosis. The row "no echo sign"
 * requires chambers that were examined and do not collapse; a sign that is present counts whatever
 * else was not assessed.
 */
export function tamponadeStatement({
  effusion,
  collapse,
  variation,
  plethora,
}: TamponadeSigns): TamponadeStatement {
  if (!effusion) return 'no effusion seen';
  const collapsing = new Set(collapse ?? []);
  const major = collapsing.has('RV') || collapsing.has('LA') || collapsing.has('LV');
  if (major || (collapsing.has('RA') && plethora === true)) {
    return 'echo signs compatible with tamponade; urgent review';
  }
  if (variation === true) return 'possible haemodynamic effect; urgent clinical correlation';
  if (collapsing.has('RA')) return 'minor sign; correlate';
  if (plethora === true) return 'raised RA pressure; tamponade not excluded';
  if (collapse === null) return 'tamponade signs not assessed';
  return 'effusion, no echo sign of tamponade';
}
