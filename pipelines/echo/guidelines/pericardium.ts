import { rounded } from '../formulas/rounding.ts';

export const EFFUSION_GRADES = ['none', 'small', 'moderate', 'large', 'very large'] as const;
export type EffusionGrade = (typeof EFFUSION_GRADES)[number];

/** By the greatest end-diastolic depth, mm (PER13, PER15; reference 13). */
export function effusionGrade(depth: number): EffusionGrade {
  const shown = rounded(depth, 0);
  if (shown === 0) return 'none';
  if (shown < 10) return 'small';
  if (shown <= 20) return 'moderate';
  return shown <= 25 ? 'large' : 'very large';
}

/** Respiratory variation of an inflow velocity, per cent of the expiratory one; a magnitude. */
export const respiratoryVariation = (expiration: number, inspiration: number) =>
  Math.abs((100 * (expiration - inspiration)) / expiration);

export interface TamponadeSigns {
  effusion: boolean;
  /** Which chambers collapse; null: not assessed. */
  collapse: readonly ('RA' | 'RV' | 'LA' | 'LV')[] | null;
  variation: boolean | null;
  plethora: boolean | null;
}

export const TAMPONADE_STATEMENTS = [
  'no effusion seen',
  'effusion, no echo sign of tamponade',
  'possible haemodynamic effect; urgent clinical correlation',
  'minor sign; correlate',
  'echo signs compatible with tamponade; urgent review',
  'raised RA pressure; tamponade not excluded',
] as const;

/** Decision table of reference 13; tamponade itself is clinical. */
export function tamponadeStatement({
  effusion,
  collapse,
  variation,
  plethora,
}: TamponadeSigns): (typeof TAMPONADE_STATEMENTS)[number] {
  if (!effusion) return 'no effusion seen';
  const collapsing = new Set(collapse ?? []);
  const major = collapsing.has('RV') || collapsing.has('LA') || collapsing.has('LV');
  if (major || (collapsing.has('RA') && plethora === true)) {
    return 'echo signs compatible with tamponade; urgent review';
  }
  if (variation === true) return 'possible haemodynamic effect; urgent clinical correlation';
  if (collapsing.has('RA')) return 'minor sign; correlate';
  if (plethora === true) return 'raised RA pressure; tamponade not excluded';
  return 'effusion, no echo sign of tamponade';
}
