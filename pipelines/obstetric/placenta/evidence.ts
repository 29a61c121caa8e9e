import type { Point } from '../../contract/image.ts';
import type { PlacentalSide } from '../../result/render/obstetric/placenta.ts';
import type { FramePlane, MeasuringRoute } from '../shared/plane.ts';
import type { EvidenceWith } from '../shared/section.ts';

/** The placenta on a transabdominal image, in pixels of the image. */
export interface PlacentaBody {
  side: PlacentalSide;
  /** Ends of the thickness line, which crosses the thickest part from surface to surface. */
  thickness: readonly [Point, Point];
  /** Number of separate dark spaces within the placenta. */
  lacunae: number;
  /** True if this number needs review, although a person confirmed the thickness. */
  lacunaeHeld?: true;
  confidence: number;
  accepted: boolean;
}

/** Lower edge of the placenta and internal os on a transvaginal image, in pixels of the image. */
export interface PlacentaEdge {
  internalOs: Point;
  edge: Point;
  /** True if the body of the placenta extends from the edge towards and over the os. */
  overlaps: boolean;
  confidence: number;
  accepted: boolean;
}

export interface PlacentaReadings {
  /** Frames of the placenta, by whatever route; null if no model for the placenta is permitted. */
  bodies: readonly BodyReading[] | null;
  /** Frames of the cervix, by whatever route; null if no model for the placenta is permitted. */
  edges: readonly EdgeReading[] | null;
  /** Half widths of 95 % intervals, mm. */
  uncertainty: { toOs: number | null; thickness: number | null };
}

export interface BodyReading extends FramePlane {
  located: PlacentaBody | null;
}

export interface EdgeReading extends FramePlane {
  /** Route according to the view's label; null if the label does not indicate it. */
  route: MeasuringRoute;
  located: PlacentaEdge | null;
}

export type PlacentaEvidence = EvidenceWith<'placenta', PlacentaReadings>;
