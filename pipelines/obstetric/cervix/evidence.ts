import type { Point } from '../../contract/image.ts';
import type { FramePlane } from '../shared/plane.ts';
import type { SectionEvidence } from '../shared/section.ts';

/** A widening of the canal above its closed part. */
export interface Funnel {
  /** Both ends of its mouth. */
  shoulders: readonly [Point, Point];
  /** Its area as a share of mouth times depth: 1/2 for a V, less for a Y, more for a U. */
  fullness: number;
}

/** The cervix on one image, pixels of the image. */
export interface CervixLandmarks {
  externalOs: Point;
  /** Where the closed part ends: the tip of the funnel, where there is one. */
  internalOs: Point;
  /** The canal half way between them. */
  middle: Point;
  funnel: Funnel | null;
  /** Whether a bladder with urine is in view. */
  bladder: boolean;
  confidence: number;
  accepted: boolean;
}

/** The cervix on one frame; null: a frame of the plane on which no canal was found. */
export interface CervixReading extends FramePlane {
  located: CervixLandmarks | null;
}

export interface CervixReadings {
  /** Null where no permitted model finds the cervix. */
  frames: readonly CervixReading[] | null;
  /** Half width of the 95 % interval of the length, mm. */
  uncertainty: number | null;
}

/** What the section looks at. */
export interface CervixEvidence extends SectionEvidence {
  views: {
    cervix?: CervixReadings | null;
  };
}
