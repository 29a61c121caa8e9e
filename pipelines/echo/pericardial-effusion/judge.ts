import type { Measurement } from '../../result/envelope.ts';
import type { ViewFamily } from '../locate/names.ts';
import { isChild, isOfMachine, type PatientEvidence, type Values } from '../shared/section.ts';
import { type EffusionGrade, effusionGrade, outgrows, surelyLarge } from './guideline.ts';

/** What pericardial fluid is judged from, in addition to the values. */
export interface EffusionEvidence extends PatientEvidence {
  fluid: FluidFinding;
}

/** What is known of pericardial fluid, for every section that reports it. */
export interface Effusion {
  fluid: FluidFinding;
  depth: Measurement | null;
  /**
   * Null without a depth, for a child, and where the effusion is deeper elsewhere than where it was
   * measured.
   */
  grade: EffusionGrade | null;
  /**
   * Whether the depth was measured behind the posterior wall in PLAX, the only place where this
   * software measures it.
   */
  behindWall: boolean;
  /**
   * The view in which the effusion is outlined so deep that it exceeds the grade of the measured
   * depth; null where no view shows more.
   */
  deeperIn: string | null;
  /** Whether the outline alone shows that the effusion is large. */
  outlinedLarge: boolean;
}

/**
 * What is known of the effusion. It is graded by its greatest depth (echo 13); a depth at another
 * place does not replace the greatest one.
 */
export function effusionOf(evidence: EffusionEvidence, values: Values): Effusion {
  const { fluid } = evidence;
  const { outlined, seen } = fluid;
  const depth = values.measurement('effusion-depth');
  // The depth that the operator measured on the machine is assumed to be the greatest of all views.
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
  /** Clips that were searched for fluid: calibrated clips with accepted frames and a whole beat. */
  searched: readonly string[];
  /** Views of the clips that show an echo-free space outside the heart. */
  seen: readonly string[];
  /**
   * End-diastolic depth: behind the posterior wall as the picture shows it, else the greatest of the
   * outlines, which is not accepted; null where no searched clip shows any.
   */
  depth: Measurement | null;
  /**
   * Depth of the deepest outline, mm, and its view; it may extend beyond the fluid by
   * OUTLINE_EXCESS.
   */
  outlined: { depth: number; family: ViewFamily } | null;
}
