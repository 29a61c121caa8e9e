import type { Ellipse, GrayImage, Point } from '../../contract/image.ts';
import { cropped, type Placement, toSource } from '../../inference/letterbox.ts';
import { mirroredMaps } from '../../inference/mirrored-maps.ts';
import type { ModelSession } from '../../inference/session.ts';
import { extent } from '../../measure/ellipse.ts';
import { ellipseFromMoments, fitEllipse } from '../../measure/ellipse-fit.ts';
import { borderPoints, largestRegion, overlap, type SoftMask } from '../../measure/soft-mask.ts';

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

/**
 * An outline that takes less of the network's input than this is looked at again, enlarged until it takes
 * `ENLARGED` of it: at the size of a stamp its border is a blur, and the ellipse comes out too large (HC18
 * validation split, 18 heads: bias 1.2 mm, looked at again -0.2 mm; a head on a screen that a sector half fills
 * is 2 % too large).
 */
const SMALL = 0.5;
const ENLARGED = 0.6;

/** The outline of each image by a model with one mask channel; null where nothing was found. */
export async function locateOutline(
  session: ModelSession,
  images: readonly GrayImage[],
): Promise<(Outline | null)[]> {
  const first = await outlinesOn(session, images);
  const small = first.flatMap(({ outline, placement }, index) => {
    const image = images[index];
    const area = image && outline && enlargement(outline.ellipse, placement, session.model.input);
    return area ? [{ index, ...part(image, area) }] : [];
  });
  const again = await outlinesOn(
    session,
    small.map(({ image }) => image),
  );
  const outlines = first.map(({ outline }) => outline);
  for (const [n, { index, corner }] of small.entries()) {
    const found = again[n]?.outline;
    if (found) outlines[index] = shifted(found, corner);
  }
  return outlines;
}

async function outlinesOn(session: ModelSession, images: readonly GrayImage[]) {
  if (images.length === 0) return [];
  const { width, height } = session.model.input;
  const maps = await mirroredMaps(session, images);
  return maps.map(({ placement, channels: [values = new Float32Array()] }) => ({
    placement,
    outline: outlineOfMask({ width, height, values }, placement, session.model.gate),
  }));
}

/** Two corners of what to look at again, in pixel coordinates; null where the outline is large enough. */
function enlargement(
  ellipse: Ellipse,
  { scaleX, scaleY }: Placement,
  { width, height }: ModelSession['model']['input'],
): [Point, Point] | null {
  const [from, to] = extent(ellipse);
  const taken = Math.max((scaleX * (to.x - from.x)) / width, (scaleY * (to.y - from.y)) / height);
  if (taken >= SMALL) return null;
  const half = {
    x: ((taken / ENLARGED) * width) / scaleX / 2,
    y: ((taken / ENLARGED) * height) / scaleY / 2,
  };
  const { x, y } = ellipse.centre;
  return [
    { x: x - half.x, y: y - half.y },
    { x: x + half.x, y: y + half.y },
  ];
}

/** What of an image lies between two corners, and where its first pixel stood. */
function part(image: GrayImage, [from, to]: [Point, Point]) {
  const bounded = (value: number, size: number) =>
    Math.min(Math.max(Math.round(value), 0), size - 1);
  const area = {
    minX: bounded(from.x, image.width),
    minY: bounded(from.y, image.height),
    maxX: bounded(to.x, image.width),
    maxY: bounded(to.y, image.height),
  };
  return { image: cropped(image, area), corner: { x: area.minX, y: area.minY } };
}

function shifted(outline: Outline, by: Point): Outline {
  const moved = ({ x, y }: Point) => ({ x: x + by.x, y: y + by.y });
  return {
    ...outline,
    ellipse: { ...outline.ellipse, centre: moved(outline.ellipse.centre) },
    boundary: outline.boundary.map(moved),
  };
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
