import type { Ellipse, Point } from '../../contract/image.ts';
import type { Clip, Frame } from '../../contract/study.ts';

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

/** What shows that a head is cut at the level of its biometry, or too low (Salomon 2006). */
export const HEAD_STRUCTURES = ['csp', 'thalami', 'cerebellum'] as const;

/** The confidence that each is in view, 0 to 1. */
export type HeadStructures = Readonly<Record<(typeof HEAD_STRUCTURES)[number], number>>;

export interface PlaneEstimate {
  /** `other` below the gate of the classifier. */
  label: Plane;
  confidence: number;
  /** Of every plane; absent where the classifier gives its answer alone. */
  probabilities?: Readonly<Record<Plane, number>>;
  /** The plane that would have been named, had nothing spoken against it; null or absent: none. */
  belowGate?: Plane | null;
  /** Of a head that was looked at alone; absent otherwise. */
  structures?: HeadStructures;
}

export interface LocatedOutline {
  /** In pixels of the image. */
  ellipse: Ellipse;
  confidence: number;
  /** False below the gate of the model: named, and not used. */
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
