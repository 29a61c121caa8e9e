import type { Ellipse, Point } from '../../contract/image.ts';
import { type Clip, type Frame, scaleFor } from '../../contract/study.ts';

/**
 * Classes of the plane classifier (api 2.6; obstetric 1.1): the eight of the service,
 * then the views of the other sections.
 */
export const PLANES = [
  'transthalamic',
  'transventricular',
  'transcerebellar',
  'abdominal',
  'femur',
  'thorax',
  'cervix',
  'other',
  'midsagittal',
  'transperineal',
  'early-pregnancy',
  'amniotic-fluid',
  'placenta',
  'four-chamber',
] as const;

export type Plane = (typeof PLANES)[number];

/**
 * Structures that show whether a head is cut at the level of its biometry or too low (Salomon
 * 2006).
 */
export const HEAD_STRUCTURES = ['csp', 'thalami', 'cerebellum'] as const;

/** The confidence that each structure is in view, 0 to 1. */
export type HeadStructures = Readonly<Record<(typeof HEAD_STRUCTURES)[number], number>>;

export interface PlaneEstimate {
  /** `other` below the gate of the classifier. */
  label: Plane;
  confidence: number;
  /** Probability of every plane; absent where the classifier gives only its answer. */
  probabilities?: Readonly<Record<Plane, number>>;
  /** The plane that would have been named, had nothing spoken against it; null or absent: none. */
  belowGate?: Plane | null;
  /** Structures seen on a head that was examined as a crop; absent otherwise. */
  structures?: HeadStructures;
}

export interface LocatedOutline {
  /** In pixels of the image. */
  ellipse: Ellipse;
  confidence: number;
  /** False below the model's gate: the structure is then listed, but not used. */
  accepted: boolean;
}

export interface LocatedEnds {
  ends: readonly [Point, Point];
  confidence: number;
  accepted: boolean;
}

/** One frame of the study with the plane that the classifier saw on it. */
export interface FramePlane {
  clip: Clip;
  frame: Frame;
  estimate: PlaneEstimate;
}

/** What was found on one frame; `located` null: nothing was found there. */
export type FrameReading = FramePlane &
  (
    | { structure: 'head'; located: LocatedOutline | null }
    | { structure: 'abdomen'; located: LocatedOutline | null }
    | { structure: 'femur'; located: LocatedEnds | null }
  );

export type Structure = FrameReading['structure'];

/**
 * Planes on which a structure is measured, in tiers: a later tier is used only where the earlier
 * ones gave nothing. HC may come from the transventricular plane, too (ISUOG 2019); the tilted
 * transcerebellar plane is a last resort, which a remark states. No plane counts where the cerebellum
 * is clearly in view (`excludedBy`). Within a tier the best plane stands first.
 */
export const MEASURING_PLANES: Readonly<Record<Structure, readonly (readonly Plane[])[]>> = {
  head: [['transthalamic', 'transventricular'], ['transcerebellar']],
  abdomen: [['abdominal']],
  femur: [['femur']],
};

/**
 * The same for the BPD alone, which belongs on the transthalamic plane (obstetric 1.4): HC
 * may come from either.
 */
export const BPD_PLANES: readonly (readonly Plane[])[] = [
  ['transthalamic'],
  ['transventricular'],
  ['transcerebellar'],
];

/** The most confident frame first. */
export const byConfidence = (a: FramePlane, b: FramePlane) =>
  b.estimate.confidence - a.estimate.confidence;

/** The most confident frame of a plane; null where the plane was not found. */
export function keyFrame(planes: readonly FramePlane[], plane: Plane): FramePlane | null {
  return (
    planes.filter(({ estimate }) => estimate.label === plane).toSorted(byConfidence)[0] ?? null
  );
}

/** How the probe was applied; null where the name of the view does not say. */
export type MeasuringRoute = 'transvaginal' | 'transabdominal' | null;

/** Steepest femur, degrees to the horizontal (Salomon 2006). */
export const STEEPEST_FEMUR = 45;

/**
 * Confidence from which a structure of the head counts as seen, and up to which it counts as not
 * seen; in between it is undecided. Chosen out of fold against what was read by eye (card of
 * `fetal-brain-plane`).
 */
const SEEN = 0.8;
const NOT_SEEN = 0.4;

/** Whether a structure is in view; null where this was not examined or is not clear. */
export function inView(
  structures: HeadStructures | undefined,
  name: keyof HeadStructures,
): boolean | null {
  const share = structures?.[name];
  if (share === undefined || (share > NOT_SEEN && share < SEEN)) return null;
  return share >= SEEN;
}

type FemurReading = Extract<FrameReading, { structure: 'femur' }>;

/**
 * Angle of a femur to the horizontal in degrees, measured in mm where there is a scale; null where
 * no femur was found.
 */
export function femurAngle({ clip, located }: FemurReading): number | null {
  if (!located) return null;
  const [from, to] = located.ends;
  const scale = scaleFor(clip, located.ends)?.scale ?? { x: 1, y: 1 };
  const rise = Math.abs(to.y - from.y) * scale.y;
  return (Math.atan2(rise, Math.abs(to.x - from.x) * scale.x) * 180) / Math.PI;
}

/**
 * Why a frame is not the plane that its structure is measured on (obstetric 1.1); null where
 * nothing clearly contradicts it. Two answers must agree that a head shows the cerebellum: the plane
 * alone is named wrongly too often (card of `fetal-brain-plane`).
 */
export function excludedBy(reading: FrameReading): 'steep-femur' | 'cerebellum-in-view' | null {
  if (reading.structure === 'femur') {
    const angle = femurAngle(reading);
    return angle !== null && angle > STEEPEST_FEMUR ? 'steep-femur' : null;
  }
  const { label, structures } = reading.estimate;
  const cerebellum = label === 'transcerebellar' && inView(structures, 'cerebellum') === true;
  return reading.structure === 'head' && cerebellum ? 'cerebellum-in-view' : null;
}
