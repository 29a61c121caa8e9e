import type { Point } from '../../contract/image.ts';
import type { FramePlane, MeasuringRoute } from '../shared/plane.ts';
import type { EvidenceWith } from '../shared/section.ts';

/** A funnel: the widening of the canal above its closed part. */
export interface Funnel {
  /** Both ends of the funnel's mouth. */
  shoulders: readonly [Point, Point];
  /**
   * Area of the funnel divided by the product of mouth and depth: 1/2 for a V, less for a Y, more
   * for a U.
   */
  fullness: number;
}

/** Landmarks of the cervix on one image, in pixels of the image. */
export interface CervixLandmarks {
  externalOs: Point;
  /** Upper end of the closed part of the canal. If there is a funnel, this is its tip. */
  internalOs: Point;
  /** Point of the canal halfway between internal and external os. */
  middle: Point;
  funnel: Funnel | null;
  /** True if a filled bladder is visible. */
  bladder: boolean;
  confidence: number;
  accepted: boolean;
}

/** One frame of the cervical plane; `located` is null if no canal was found. */
export interface CervixReading extends FramePlane {
  /** Route according to the view's label; null if the label does not indicate it. */
  route: MeasuringRoute;
  located: CervixLandmarks | null;
}

export interface CervixReadings {
  /** Null if no permitted model can find the cervix. */
  frames: readonly CervixReading[] | null;
  /** Half width of the 95 % interval of the length, mm. */
  uncertainty: number | null;
}

export type CervixEvidence = EvidenceWith<'cervix', CervixReadings>;
