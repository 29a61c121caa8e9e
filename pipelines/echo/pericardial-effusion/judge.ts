import type { Measurement } from '../../result/envelope.ts';
import type { ViewFamily } from '../locate/names.ts';
import { isChild, isOfMachine, type PatientEvidence, type Values } from '../shared/section.ts';
import { type EffusionGrade, effusionGrade, outgrows, surelyLarge } from './guideline.ts';

/** Evidence on pericardial fluid, in addition to the values. */
export interface EffusionEvidence extends PatientEvidence {
  fluid: FluidFinding;
}

/** All findings on pericardial fluid, for every section that reports them. */
export interface Effusion {
  fluid: FluidFinding;
  depth: Measurement | null;
  /** Null without a depth, for a child, or if the effusion is deeper elsewhere. */
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
 * Returns the findings on the effusion. It is graded by its greatest depth (echo 13), and a depth
 * measured elsewhere must not take its place.
 */
export function effusionOf(evidence: EffusionEvidence, values: Values): Effusion {
  const { fluid } = evidence;
  const { outlined, seen } = fluid;
  const depth = values.measurement('effusion-depth');
  // A machine value is assumed to be the greatest depth of all views, because the operator chose
  // the place.
  const behindWall = depth !== null && !isOfMachine(depth);
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
   * Views of the clips that were searched for fluid: those that are calibrated and have accepted
   * frames and a whole beat.
   */
  searched: readonly string[];
  /**
   * Views of the clips that show an echo-free space outside the heart; empty if only one clip shows
   * it.
   */
  seen: readonly string[];
  /**
   * End-diastolic depth behind the posterior wall, measured in the picture. If it could not be
   * measured there, the greatest depth of an outline, which is not accepted. Null if no searched
   * clip shows fluid.
   */
  depth: Measurement | null;
  /**
   * Depth of the deepest outline, mm, and its view. The outline may extend beyond the fluid by
   * `OUTLINE_EXCESS`.
   */
  outlined: { depth: number; family: ViewFamily } | null;
}
