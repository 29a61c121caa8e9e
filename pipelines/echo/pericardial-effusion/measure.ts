import type { Measurement } from '../../result/envelope.ts';
import { isOfMachine } from '../../result/measurement.ts';
import { type FluidFinding, fluidFinding } from '../parasternal/measure.ts';
import { isChild } from '../shared/conclude.ts';
import type { EchoEvidence } from '../shared/section.ts';
import type { Values } from '../shared/values.ts';
import { type EffusionGrade, effusionGrade, outgrows, surelyLarge } from './guideline.ts';

const NOTHING_SEARCHED: FluidFinding = { searched: [], seen: [], depth: null, outlined: null };

/** What is known of pericardial fluid, for every section that speaks of it. */
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

/** The greatest depth grades an effusion (reference 13), and no place stands for another. */
export function effusionOf(evidence: EchoEvidence, values: Values): Effusion {
  const { parasternal } = evidence.views;
  const fluid = parasternal ? fluidFinding(parasternal) : NOTHING_SEARCHED;
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
