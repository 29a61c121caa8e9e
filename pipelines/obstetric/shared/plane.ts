import type { Ellipse, Point } from '../../contract/image.ts';
import { type Clip, type Frame, scaleFor } from '../../contract/study.ts';

/**
 * Classes of the plane classifier (api 2.6; obstetric 1.1): first the eight in the API, then the
 * views for the other sections.
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
 * Structures that show whether a head was cut at the level for biometry or too low (Salomon 2006).
 */
export const HEAD_STRUCTURES = ['csp', 'thalami', 'cerebellum'] as const;

/** Confidence that each structure is visible, 0 to 1. */
export type HeadStructures = Readonly<Record<(typeof HEAD_STRUCTURES)[number], number>>;

export interface PlaneEstimate {
  /** The plane; `other` if no plane reached the gate of the classifier. */
  label: Plane;
  confidence: number;
  /** Probability of every plane; absent if the classifier returns only its decision. */
  probabilities?: Readonly<Record<Plane, number>>;
  /**
   * Plane that was rejected because its probability was below the gate or another finding
   * contradicted it; null or absent if there is no such plane.
   */
  belowGate?: Plane | null;
  /** Structures seen on the cropped head; absent if no crop was examined. */
  structures?: HeadStructures;
}

export interface LocatedOutline {
  /** In pixels of the image. */
  ellipse: Ellipse;
  confidence: number;
  /** False if below the model's gate. The structure is then listed but not used. */
  accepted: boolean;
}

/** The ends of a structure, such as the outer ends of the ossified diaphysis of the femur. */
export interface LocatedEnds {
  /** In pixels of the image; the left end comes first. */
  ends: readonly [Point, Point];
  /**
   * Geometric mean of three confidences, 0 to 1: one for each end, and one for the structure
   * between them.
   */
  confidence: number;
  /** False if below the model's gate. The structure must then not be measured. */
  accepted: boolean;
}

export interface FramePlane {
  clip: Clip;
  frame: Frame;
  estimate: PlaneEstimate;
}

/** Returns true if this is the frame at `at`, where frames are numbered from 1. */
export const isFrameAt = (
  { clip, frame }: FramePlane,
  at: { file: string | null; frame: number | null },
): boolean => clip.file === at.file && frame.index + 1 === at.frame;

/** What was found on a frame; `located` is null if nothing was found. */
export type FrameReading = FramePlane &
  (
    | { structure: 'head'; located: LocatedOutline | null }
    | { structure: 'abdomen'; located: LocatedOutline | null }
    | { structure: 'femur'; located: LocatedEnds | null }
  );

export type Structure = FrameReading['structure'];

/**
 * Planes on which a structure is measured, in tiers. A later tier is used only if the earlier tiers
 * have no accepted reading. Within a tier, the best plane comes first.
 *
 * HC may also be measured on the transventricular plane (ISUOG 2019). The tilted transcerebellar
 * plane is the last choice and gets a remark. It is not used if the cerebellum is clearly visible
 * (`excludedBy`).
 */
export const MEASURING_PLANES: Readonly<Record<Structure, readonly (readonly Plane[])[]>> = {
  head: [['transthalamic', 'transventricular'], ['transcerebellar']],
  abdomen: [['abdominal']],
  femur: [['femur']],
};

/**
 * Planes for the BPD, in tiers. Unlike the HC, the BPD belongs on the transthalamic plane
 * (obstetric 1.4). On the other planes it gets a remark.
 */
export const BPD_PLANES: readonly (readonly Plane[])[] = [
  ['transthalamic'],
  ['transventricular'],
  ['transcerebellar'],
];

/** Compares frames for sorting: most confident first. */
export const byConfidence = (a: FramePlane, b: FramePlane) =>
  b.estimate.confidence - a.estimate.confidence;

/** Returns the most confident frame of a plane; null if the plane was not found. */
export function keyFrame(planes: readonly FramePlane[], plane: Plane): FramePlane | null {
  return (
    planes.filter(({ estimate }) => estimate.label === plane).toSorted(byConfidence)[0] ?? null
  );
}

/** Route of a scan; null if the name of the view does not indicate it. */
export type MeasuringRoute = 'transvaginal' | 'transabdominal' | null;

/** Maximum angle of a measured femur to the horizontal, degrees (Salomon 2006). */
export const STEEPEST_FEMUR = 45;

/**
 * Minimum confidence at which a structure of the head counts as visible. At or below `NOT_SEEN` it
 * counts as not visible; between the two it is undecided. The limits were chosen out of fold
 * against readings by eye (card of `fetal-brain-plane`).
 */
const SEEN = 0.8;
const NOT_SEEN = 0.4;

/** Returns whether a structure is visible; null if it was not examined or is undecided. */
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
 * Returns the angle of a femur to the horizontal in degrees, calculated in mm if there is a scale;
 * null if no femur was found.
 */
export function femurAngle({ clip, located }: FemurReading): number | null {
  if (!located) return null;
  const [from, to] = located.ends;
  const scale = scaleFor(clip, located.ends)?.scale ?? { x: 1, y: 1 };
  const rise = Math.abs(to.y - from.y) * scale.y;
  return (Math.atan2(rise, Math.abs(to.x - from.x) * scale.x) * 180) / Math.PI;
}

/**
 * Returns a clear sign that a frame does not show the plane on which its structure is measured
 * (obstetric 1.1); null without such a sign. For the cerebellum, both the plane and the structure
 * must be recognised, because the plane alone is wrong too often (card of `fetal-brain-plane`).
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
