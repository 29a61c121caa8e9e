import type { Ellipse, GrayImage, Point } from '../../contract/image.ts';
import { type Placement, toSource } from '../../inference/letterbox.ts';
import type { ModelSession } from '../../inference/session.ts';
import { ellipseFromMoments, fitEllipse } from './ellipse-fit.ts';
import { mirroredMaps } from './mirrored-maps.ts';
import { borderPoints, largestRegion, overlap, type SoftMask } from './soft-mask.ts';

export interface Outline {
  /** In pixel coordinates of the image; `a` is the longer semi-axis. */
  ellipse: Ellipse;
  /** Points of the border that the ellipse was fitted to, pixel coordinates of the image. */
  boundary: Point[];
  /** Soft Dice overlap of the ellipse with the network's mask, 0 to 1. */
  confidence: number;
  /** Whether the confidence reaches the gate of the model's card. Below it: do not measure. */
  accepted: boolean;
}

/** The outline of each image by a model with one mask channel; null where nothing was found. */
export async function locateOutline(
  session: ModelSession,
  images: readonly GrayImage[],
): Promise<(Outline | null)[]> {
  const { width, height } = session.model.input;
  const maps = await mirroredMaps(session, images);
  return maps.map(({ placement, channels: [values = new Float32Array()] }) =>
    outlineOfMask({ width, height, values }, placement, session.model.gate),
  );
}

/** The ellipse of a soft mask on the network's grid, carried to the source image. */
export function outlineOfMask(mask: SoftMask, placement: Placement, gate: number): Outline | null {
  const region = largestRegion(mask);
  if (!region) return null;
  const border = borderPoints(region);
  const onGrid = fitEllipse(border, ellipseFromMoments(region));
  if (!onGrid) return null;
  const boundary = border.map((point) => toSource(placement, point));
  const ellipse = fitEllipse(boundary, ellipseToSource(onGrid, placement));
  if (!ellipse) return null;
  const confidence = overlap(mask, onGrid);
  return { ellipse, boundary, confidence, accepted: confidence >= gate };
}

/** Near enough for a start: the two scales of a placement differ by less than a pixel's rounding. */
function ellipseToSource(ellipse: Ellipse, placement: Placement): Ellipse {
  const scale = (placement.scaleX + placement.scaleY) / 2;
  return {
    centre: toSource(placement, ellipse.centre),
    a: ellipse.a / scale,
    b: ellipse.b / scale,
    angle: ellipse.angle,
  };
}
