import { rounded } from '../../measure/rounding.ts';
import type { FocusedBand, FocusedLevel, FocusedSize } from '../../result/render/echo/focused.ts';
import { atrialPressure, isCollapsing } from '../pulmonary-hypertension/guideline.ts';
import { isBeyond, RV_SIZE } from '../rv-function/guideline.ts';

/**
 * Returns the band of an EF, per cent, in a focused study (ACC; echo 15). The band is never shown
 * together with the sex-specific grade.
 */
export function focusedBand(ef: number): FocusedBand {
  const shown = rounded(ef, 0);
  if (shown > 70) return 'hyperdynamic';
  if (shown >= 50) return 'normal';
  if (shown >= 40) return 'mildly-reduced';
  return shown >= 30 ? 'moderately-reduced' : 'severely-reduced';
}

/** Returns the level of an EF, per cent, on the three-level scale in api 2.6. */
export function focusedLevel(ef: number): FocusedLevel {
  const shown = rounded(ef, 0);
  if (shown >= 50) return 'normal';
  return shown >= 30 ? 'reduced' : 'severely-reduced';
}

/** In a focused study, EFs are rounded to multiples of this many percentage points. */
const FOCUSED_STEP = 5;

/**
 * Returns the EF, per cent, rounded to the nearest step in the same band. For example, 48 % becomes
 * 45 %, because 50 % would contradict "reduced". At least one of the two neighbouring steps is
 * always in the same band.
 */
export function focusedEf(ef: number): number {
  const nearest = FOCUSED_STEP * rounded(ef / FOCUSED_STEP, 0);
  const steps = [nearest, nearest - FOCUSED_STEP, nearest + FOCUSED_STEP];
  return steps.find((step) => focusedBand(step) === focusedBand(ef)) ?? nearest;
}

/** Class of the IVC for each RA pressure, mmHg, that is estimated from it. */
const CAVA_STATES = { 3: 'collapsing', 8: 'intermediate', 15: 'plethoric' } as const;

/**
 * Returns the class of an IVC from its diameter, mm, and its collapse, per cent; null if the
 * collapse is exactly at the limit (echo 12.2, 15).
 */
export const focusedCava = (diameter: number, collapse: number) =>
  isCollapsing(collapse) === null ? null : CAVA_STATES[atrialPressure(diameter, collapse)];

/**
 * Returns the size of the RV from the ratio of the end-diastolic RV and LV areas in A4C
 * (Vieillard-Baron, Jardin; echo 15). The limit of 0.6 applies only to areas: in a healthy heart,
 * the ratio of the basal diameters is usually higher.
 */
export function focusedRightVentricle(areas: number): FocusedSize {
  const shown = rounded(areas, 2);
  if (shown <= 0.6) return 'normal';
  return shown <= 1 ? 'enlarged' : 'severely-enlarged';
}

/**
 * Returns the size of the RV from the ratio of the basal diameters. This ratio has only one limit
 * (PH22).
 */
export const focusedByDiameters = (ratio: number): FocusedSize =>
  isBeyond(RV_SIZE.ratio, ratio) ? 'enlarged' : 'normal';
