import type { Measurement } from '../../result/envelope.ts';
import type { EffusionGrade } from '../../result/render/echo/shared.ts';
import type { ViewFamily } from '../locate/names.ts';
import { belongsToMachine, isChild, type PatientEvidence, type Values } from '../shared/section.ts';
import { effusionGrade, outgrows, surelyLarge } from './guideline.ts';

export interface EffusionEvidence extends PatientEvidence {
  fluid: FluidFinding;
}

export interface Effusion {
  fluid: FluidFinding;
  depth: Measurement | null;
  /**
   * Null if there is no depth, if the patient is a child, or if another view shows a deeper
   * effusion.
   */
  grade: EffusionGrade | null;
  /**
   * True if the depth was measured behind the posterior wall in PLAX, the only place where the
   * software measures it.
   */
  behindWall: boolean;
  /**
   * View in which the outlined effusion has a higher grade than the measured depth; null if there
   * is none.
   */
  deeperIn: string | null;
  /** True if the outline alone is enough to show that the effusion is large. */
  outlinedLarge: boolean;
}

/**
 * Returns the findings on the effusion. The grade is that of the greatest depth of the fluid (echo
 * 13). There is no grade if the effusion is deeper in another view than where it was measured.
 */
export function effusionOf(evidence: EffusionEvidence, values: Values): Effusion {
  const { fluid } = evidence;
  const { outlined, seen } = fluid;
  const depth = values.measurement('effusion-depth');
  // A machine value is assumed to be the greatest depth in all views, because the operator chose
  // the place.
  const behindWall = depth !== null && !belongsToMachine(depth) && !fluid.ofOutline;
  const deeperIn =
    behindWall && outlined && outgrows(outlined.depth, depth.value) ? outlined.family : null;
  return {
    fluid,
    depth,
    grade: depth && !deeperIn && !isChild(evidence) ? effusionGrade(depth.value) : null,
    behindWall,
    deeperIn,
    outlinedLarge: outlined !== null && seen.length > 0 && surelyLarge(outlined.depth),
  };
}

export interface FluidFinding {
  /**
   * Views of the clips searched for fluid: calibrated clips with accepted frames and a whole beat.
   */
  searched: readonly string[];
  /**
   * Views of the clips that show an echo-free space outside the heart. Empty if only one clip shows
   * it, because it may then be a shadow, fat or a failed outline.
   */
  seen: readonly string[];
  /**
   * End-diastolic depth behind the posterior wall, measured on the picture. If it could not be
   * measured there, or if only one clip shows fluid, it is the greatest depth of an outline and is
   * accepted only if a person confirmed it. Null if there is no outline either.
   */
  depth: Measurement | null;
  /**
   * True if `depth` is that of an outline. It is used only if a person measured it by hand, and may
   * then be anywhere around the heart.
   */
  ofOutline: boolean;
  /**
   * Depth, mm, and view of the deepest outline. It may extend beyond the fluid by up to
   * `OUTLINE_EXCESS`.
   */
  outlined: { depth: number; family: ViewFamily } | null;
}
