import type { Point } from '../../contract/image.ts';
import type { FramePlane, MeasuringRoute } from '../shared/plane.ts';
import type { SectionEvidence } from '../shared/section.ts';

/**
 * Wall of the uterus on which the placenta lies, as a probe on the mother's abdomen shows it: top,
 * bottom, or a side.
 */
export type PlacentaSide = 'anterior' | 'posterior' | 'lateral-or-fundal';

/** The placenta on a transabdominal image, pixels of the image. */
export interface PlacentaBody {
  side: PlacentaSide;
  /** Ends of the thickness line: across the thickest part, from surface to surface. */
  thickness: readonly [Point, Point];
  /** Number of separate dark spaces within the placenta. */
  lacunae: number;
  confidence: number;
  accepted: boolean;
}

/** The lower edge and the internal os on a transvaginal image, pixels of the image. */
export interface PlacentaEdge {
  internalOs: Point;
  edge: Point;
  /** Whether the placenta reaches from the edge back over the os. */
  overlaps: boolean;
  confidence: number;
  accepted: boolean;
}

export interface PlacentaReadings {
  /** Transabdominal frames of the placenta; null where no permitted model finds it. */
  bodies: readonly BodyReading[] | null;
  /** Transvaginal frames of the lower uterus; null where no permitted model finds the placenta. */
  edges: readonly EdgeReading[] | null;
  /** Half widths of 95 % intervals, mm. */
  uncertainty: { toOs: number | null; thickness: number | null };
}

export interface BodyReading extends FramePlane {
  located: PlacentaBody | null;
}

export interface EdgeReading extends FramePlane {
  /** How the probe was applied, by the name of the view; null where it does not say. */
  route: MeasuringRoute;
  located: PlacentaEdge | null;
}

/** What the placenta section works from. */
export interface PlacentaEvidence extends SectionEvidence {
  views: {
    placenta?: PlacentaReadings | null;
  };
}
