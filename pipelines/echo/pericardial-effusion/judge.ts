import type { Measurement } from '../../result/envelope.ts';
import type { ViewFamily } from '../locate/names.ts';
import { isChild, isOfMachine, type PatientEvidence, type Values } from '../shared/section.ts';
import { type EffusionGrade, effusionGrade, outgrows, surelyLarge } from './guideline.ts';

/** What pericardial fluid is judged from, beside the values. */
export interface EffusionEvidence extends PatientEvidence {
  fluid: FluidFinding;
}

/** What is known of pericardial fluid, for every section that reports it. */
export interface Effusion {
  fluid: FluidFinding;
  depth: Measurement | null;
  /** Null without a depth, of a child, and where it is deeper than where its depth was measured. */
  grade: EffusionGrade | null;
  /** Whether the depth is that behind the posterior wall in PLAX: the one place measured here. */
  behindWall: boolean;
  /** The view in which it is outlined deeper than the grade of the measured depth. */
  deeperIn: string | null;
  /** Whether an outline alone says that the effusion is large. */
  outlinedLarge: boolean;
}

/**
 * The greatest depth grades an effusion (echo 13); a depth at another place does not replace it.
 */
export function effusionOf(evidence: EffusionEvidence, values: Values): Effusion {
  const { fluid } = evidence;
  const { outlined, seen } = fluid;
  const depth = values.measurement('effusion-depth');
  // What the operator measured on the machine is the greatest depth of all views.
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
  /** Clips that were searched: calibrated ones with accepted frames and a whole beat. */
  searched: readonly string[];
  /** Clips that show a space free of echoes outside of the heart, by their view. */
  seen: readonly string[];
  /**
   * End-diastolic depth: behind the posterior wall as the picture shows it, else the greatest of the
   * outlines, which is not accepted; null where no searched clip shows any.
   */
  depth: Measurement | null;
  /** The deepest outline, mm, and its view; it may run beyond the fluid by OUTLINE_EXCESS. */
  outlined: { depth: number; family: ViewFamily } | null;
}
