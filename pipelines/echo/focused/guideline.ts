import { rounded } from '../../measure/rounding.ts';
import { atrialPressure } from '../pulmonary-hypertension/guideline.ts';

const FOCUSED_BANDS = [
  'hyperdynamic',
  'normal',
  'mildly reduced',
  'moderately reduced',
  'severely reduced',
] as const;

/** Band of EF of a focused study (ACC; echo 15); never shown beside the sex-specific grade. */
export function focusedBand(ef: number): (typeof FOCUSED_BANDS)[number] {
  const shown = rounded(ef, 0);
  if (shown > 70) return 'hyperdynamic';
  if (shown >= 50) return 'normal';
  if (shown >= 40) return 'mildly reduced';
  return shown >= 30 ? 'moderately reduced' : 'severely reduced';
}

/** The three levels of api 2.6. */
export function focusedLevel(ef: number): 'normal' | 'reduced' | 'severely reduced' {
  const shown = rounded(ef, 0);
  if (shown >= 50) return 'normal';
  return shown >= 30 ? 'reduced' : 'severely reduced';
}

/** The EF of a focused study is given in steps of this many points. */
const FOCUSED_STEP = 5;

/**
 * The nearest step in the same band: 48 % becomes 45, because 50 would contradict "reduced". Every
 * band contains a step within one step of each of its values.
 */
export function focusedEf(ef: number): number {
  const nearest = FOCUSED_STEP * rounded(ef / FOCUSED_STEP, 0);
  const steps = [nearest, nearest - FOCUSED_STEP, nearest + FOCUSED_STEP];
  return steps.find((step) => focusedBand(step) === focusedBand(ef)) ?? nearest;
}

const CAVA_STATES = { 3: 'small, collapsing', 8: 'intermediate', 15: 'plethoric' } as const;

/** The three classes of IVC diameter, mm, and collapse, per cent (echo 12.2, 15). */
export const focusedCava = (diameter: number, collapse: number) =>
  CAVA_STATES[atrialPressure(diameter, collapse)];

/** RV to LV basal diameter (Vieillard-Baron, Jardin). */
export function focusedRightVentricle(ratio: number): 'normal' | 'enlarged' | 'severely enlarged' {
  const shown = rounded(ratio, 2);
  if (shown <= 0.6) return 'normal';
  return shown <= 1 ? 'enlarged' : 'severely enlarged';
}
