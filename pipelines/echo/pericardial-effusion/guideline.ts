import { rounded } from '../../measure/rounding.ts';
import type { TamponadeStatement } from '../../result/render/echo/pericardial-effusion.ts';
import { EFFUSION_GRADES, type EffusionGrade } from '../../result/render/echo/shared.ts';

/** Maximum depth, mm, of a moderate and of a large effusion. */
const MODERATE = 20;
const LARGE = 25;

/**
 * Distance, mm, by which an outline may extend beyond the fluid. On simulated hearts, 8 mm of fluid
 * were measured as 9 to 12 mm, because an outline cannot follow a thin layer more closely than its
 * grid allows.
 */
const OUTLINE_EXCESS = 4;

/**
 * Returns true if an effusion of this depth, mm, is large or very large and therefore a critical
 * finding (echo 13).
 */
export const isLarge = (depth: number) => rounded(depth, 0) > MODERATE;

/**
 * Returns true if an effusion is certainly large. `outlined` is the depth of its outline, mm, which
 * may be too great by up to `OUTLINE_EXCESS`.
 */
export const surelyLarge = (outlined: number) => isLarge(outlined - OUTLINE_EXCESS);

/**
 * Returns true if fluid outlined in another place has a higher grade than the measured depth. Both
 * depths are in mm.
 */
export function outgrows(outlined: number, measured: number): boolean {
  const grades: readonly EffusionGrade[] = EFFUSION_GRADES;
  const grade = (depth: number) => grades.indexOf(effusionGrade(Math.max(depth, 0)));
  return grade(outlined - OUTLINE_EXCESS) > grade(measured);
}

/**
 * Returns the grade of an effusion from its greatest end-diastolic depth, mm (PER13, PER15; echo
 * 13).
 */
export function effusionGrade(depth: number): EffusionGrade {
  const shown = rounded(depth, 0);
  if (shown === 0) return 'none';
  if (shown < 10) return 'small';
  if (shown <= MODERATE) return 'moderate';
  return shown <= LARGE ? 'large' : 'very-large';
}

/**
 * Returns the magnitude of the respiratory variation of an inflow velocity, in per cent of the
 * expiratory velocity.
 */
export const respiratoryVariation = (expiration: number, inspiration: number) =>
  Math.abs((100 * (expiration - inspiration)) / expiration);

interface TamponadeSigns {
  effusion: boolean;
  /** Chambers that collapse; null if this was not assessed. */
  collapse: readonly ('RA' | 'RV' | 'LA' | 'LV')[] | null;
  variation: boolean | null;
  plethora: boolean | null;
}

/** Returns true if a statement requires attention at once. */
export const isUrgent = (statement: TamponadeStatement) =>
  statement === 'possible-effect' || statement === 'compatible';

/**
 * Name of the decision table. The table is a convention of this project ([C], echo 13), so its
 * statements do not refer to a society.
 */
export const TAMPONADE_SCHEME = 'Sonogate convention for echo signs of tamponade';

/**
 * Returns the statement according to the decision table in echo 13. Tamponade itself is a clinical
 * diagnosis. The row "no echo sign" requires that the chambers were examined and do not collapse. A
 * single sign is enough even if others were not assessed.
 */
export function tamponadeStatement({
  effusion,
  collapse,
  variation,
  plethora,
}: TamponadeSigns): TamponadeStatement {
  if (!effusion) return 'no-effusion';
  const collapsing = new Set(collapse ?? []);
  const major = collapsing.has('RV') || collapsing.has('LA') || collapsing.has('LV');
  if (major || (collapsing.has('RA') && plethora === true)) {
    return 'compatible';
  }
  if (variation === true) return 'possible-effect';
  if (collapsing.has('RA')) return 'minor-sign';
  if (plethora === true) return 'raised-atrial-pressure';
  if (collapse === null) return 'not-assessed';
  return 'no-sign';
}
