import type { Ellipse, GrayImage, Point } from '../../contract/image.ts';
import { croppedBetween, type Placement, toSource } from '../../inference/letterbox.ts';
import { mirroredMaps } from '../../inference/mirrored-maps.ts';
import type { ModelSession } from '../../inference/session.ts';
import { axisEnds } from '../../measure/ellipse.ts';
import { distanceToEllipse, fitEllipse } from '../../measure/ellipse-fit.ts';
import { areaOf, contains, outlineOf } from '../../measure/outline.ts';
import { convexHull } from '../../measure/polygon.ts';
import { insideOf, type SoftMask, valueAt } from '../../measure/soft-mask.ts';
import { median } from '../../measure/statistics.ts';
import { type Outline, outlineOfMask } from '../shared/outline.ts';
import type { LocatedBorder, LocatedSymphysisHead, LocatedTransperineal } from './evidence.ts';

/**
 * Magnifications at which the symphysis is segmented again. Further passes help because the
 * symphysis is small and its axis determines the angle of progression. The maps of all passes are
 * averaged (validation split: mean error 5.3° with one pass, 4.7° with three).
 */
const CLOSER = [1.15, 1.3] as const;

/**
 * Maximum difference in degrees between the axes found by the passes. If it is exceeded, the
 * symphysis has no clear axis. On the validation split no two passes differ by more than 18°.
 */
const AXES_APART = 20;

/** The network's maps of one image, all on the same grid. */
interface TransperinealMaps {
  placement: Placement;
  symphysis: SoftMask;
  head: SoftMask;
  /** The map of the symphysis from each pass. */
  looks: readonly SoftMask[];
}

/**
 * Crops the central part of the area passed to the network, so that it appears magnified `zoom`
 * times.
 */
function closer(
  image: GrayImage,
  placement: Placement,
  { width, height }: { width: number; height: number },
  zoom: number,
) {
  const corner = (sign: -1 | 1) =>
    toSource(placement, {
      x: (width - 1) / 2 + (sign * width) / 2 / zoom,
      y: (height - 1) / 2 + (sign * height) / 2 / zoom,
    });
  return croppedBetween(image, [corner(-1), corner(1)]);
}

/**
 * Transfers a map of part of the image to the grid of the whole image. Values outside the part are
 * 0.
 */
function onWhole(
  map: SoftMask,
  { scaleX, scaleY, offsetX, offsetY }: Placement,
  corner: Point,
  whole: Placement,
): SoftMask {
  const { width, height } = map;
  const values = Float32Array.from({ length: width * height }, (_, index) => {
    const source = toSource(whole, { x: index % width, y: Math.floor(index / width) });
    const x = scaleX * (source.x - corner.x + 0.5) - 0.5 + offsetX;
    const y = scaleY * (source.y - corner.y + 0.5) - 0.5 + offsetY;
    return valueAt(map, x, y) ?? 0;
  });
  return { width, height, values };
}

function meanOf(masks: readonly SoftMask[]): SoftMask {
  const [first] = masks;
  const values = Float32Array.from(first?.values ?? [], (_, index) => {
    let sum = 0;
    for (const mask of masks) sum += mask.values[index] ?? 0;
    return sum / masks.length;
  });
  return { width: first?.width ?? 0, height: first?.height ?? 0, values };
}

/**
 * Returns the maps of each image from the model `symphysis-head`: the head from one pass, the
 * symphysis from several.
 */
export async function transperinealMaps(
  session: ModelSession,
  images: readonly GrayImage[],
  zooms: readonly number[] = CLOSER,
): Promise<TransperinealMaps[]> {
  const { input } = session.model;
  const maps = await mirroredMaps(session, images);
  const parts = maps.flatMap(({ placement }, n) => {
    const image = images[n];
    return image ? zooms.map((zoom) => closer(image, placement, input, zoom)) : [];
  });
  const enlarged = await mirroredMaps(
    session,
    parts.map(({ image }) => image),
  );
  return maps.map(({ placement, map }, n) => {
    const again = zooms.flatMap((_, k) => {
      const part = parts[n * zooms.length + k];
      const closer = enlarged[n * zooms.length + k];
      if (!part || !closer) return [];
      return [onWhole(closer.map('symphysis'), closer.placement, part.corner, placement)];
    });
    const looks = [map('symphysis'), ...again];
    return { placement, looks, symphysis: meanOf(looks), head: map('head') };
  });
}

/** Returns the direction of the long axis in degrees, from 0 to below 180. */
function axisOf(ellipse: Ellipse): number {
  const turned = ellipse.angle + (ellipse.a >= ellipse.b ? 0 : Math.PI / 2);
  return ((((turned * 180) / Math.PI) % 180) + 180) % 180;
}

function axesAgree({ looks, placement }: TransperinealMaps): boolean {
  const axes = looks.flatMap((look) => {
    const outline = outlineOfMask(look, placement, 0);
    return outline ? [axisOf(outline.ellipse)] : [];
  });
  return axes.every((one) =>
    axes.every((other) => {
      const apart = Math.abs(one - other);
      return Math.min(apart, 180 - apart) <= AXES_APART;
    }),
  );
}

/**
 * Minimum ratio of a head's area to that of its convex hull. Below it, another structure is joined
 * to the head. Of 1016 real images, 2 are below this ratio; half are above 0.98.
 */
const LEAST_CONVEX = 0.965;
/**
 * Maximum distance of a head's border from its innermost point, as a multiple of the median
 * distance.
 */
const FARTHEST = 1.3;
/** Maximum distance of the border from the head's ellipse, as a share of the shorter semi-axis. */
const NEAR_ELLIPSE = 0.08;

/** Returns the grid point inside a border that is farthest from it. */
function innermost(border: readonly Point[]): Point | null {
  const [minX, maxX] = [
    Math.min(...border.map(({ x }) => x)),
    Math.max(...border.map(({ x }) => x)),
  ];
  const [minY, maxY] = [
    Math.min(...border.map(({ y }) => y)),
    Math.max(...border.map(({ y }) => y)),
  ];
  let best: { point: Point; depth: number } | null = null;
  for (let i = 1; i < INNERMOST_STEPS; i++) {
    for (let j = 1; j < INNERMOST_STEPS; j++) {
      const point = {
        x: minX + ((maxX - minX) * i) / INNERMOST_STEPS,
        y: minY + ((maxY - minY) * j) / INNERMOST_STEPS,
      };
      if (!contains(border, point)) continue;
      const depth = Math.min(...border.map(({ x, y }) => Math.hypot(x - point.x, y - point.y)));
      if (best === null || depth > best.depth) best = { point, depth };
    }
  }
  return best?.point ?? null;
}
const INNERMOST_STEPS = 32;

/**
 * Returns the head without a second lobe; null if its outline is convex or the lobe cannot be
 * removed. A skull is convex, but a full bladder in front of the head is as dark as the head and is
 * segmented together with it. Therefore the ellipse is fitted only to the border of the larger
 * lobe.
 */
function withoutLobe(head: Outline, border: readonly Point[]): Outline | null {
  if (areaOf(border) >= LEAST_CONVEX * areaOf(convexHull(border))) return null;
  const centre = innermost(border);
  if (!centre) return null;
  const radii = border.map(({ x, y }) => Math.hypot(x - centre.x, y - centre.y));
  const radius = median(radii);
  const own = border.filter((_, n) => (radii[n] ?? 0) <= FARTHEST * radius);
  const first = fitEllipse(own, { centre, a: radius, b: radius, angle: 0 });
  if (!first) return null;
  const near = (ellipse: Ellipse) =>
    own.filter(
      (point) =>
        Math.abs(distanceToEllipse(ellipse, point)) <=
        NEAR_ELLIPSE * Math.min(ellipse.a, ellipse.b),
    );
  const ellipse = fitEllipse(near(first), first) ?? first;
  return { ...head, ellipse, boundary: pointsOf(ellipse) };
}

/** Returns points on an ellipse, five degrees of its parameter apart. */
function pointsOf(ellipse: Ellipse): Point[] {
  const [a1, , b1] = axisEnds(ellipse);
  const { centre } = ellipse;
  return Array.from({ length: 72 }, (_, n) => {
    const [cos, sin] = [Math.cos((n * Math.PI) / 36), Math.sin((n * Math.PI) / 36)];
    return {
      x: centre.x + cos * (a1.x - centre.x) + sin * (b1.x - centre.x),
      y: centre.y + cos * (a1.y - centre.y) + sin * (b1.y - centre.y),
    };
  });
}

/**
 * Returns the border of the mask; null if the mask is too small. The mask is used instead of the
 * ellipse because the overlap on the model card was measured with the mask, and the ellipse leaves
 * out all non-elliptic parts.
 */
function borderOf(mask: SoftMask, placement: Placement): Point[] | null {
  const border = outlineOf(insideOf(mask), mask.width);
  return border?.map((point) => toSource(placement, point)) ?? null;
}

const located = (
  border: readonly Point[] | null,
  { confidence, accepted }: Outline,
): LocatedBorder | null => border && { border, confidence, accepted };

/**
 * Locates the pubic symphysis and the fetal head on each transperineal image with the model
 * `symphysis-head`. The pair is accepted if the less certain of the two structures is accepted.
 * Each border is accepted or rejected separately.
 */
export async function locateTransperineal(
  session: ModelSession,
  images: readonly GrayImage[],
  zooms: readonly number[] = CLOSER,
): Promise<LocatedTransperineal[]> {
  const { gate } = session.model;
  const maps = await transperinealMaps(session, images, zooms);
  return maps.map((own) => {
    const { placement } = own;
    const symphysis = outlineOfMask(own.symphysis, placement, gate);
    const drawn = outlineOfMask(own.head, placement, gate);
    const drawnBorder = drawn && borderOf(own.head, placement);
    const single = drawnBorder && withoutLobe(drawn, drawnBorder);
    const head = single ?? drawn;
    const symphysisBorder = symphysis && located(borderOf(own.symphysis, placement), symphysis);
    const headBorder = head && located(single ? single.boundary : drawnBorder, head);
    return {
      pair: symphysis && head && pairOf(symphysis, head, axesAgree(own)),
      borders: {
        ...(symphysisBorder && { symphysis: symphysisBorder }),
        ...(headBorder && { 'fetal-head': headBorder }),
      },
    };
  });
}

function pairOf(symphysis: Outline, head: Outline, clearAxis: boolean): LocatedSymphysisHead {
  return {
    symphysis: symphysis.ellipse,
    head: head.ellipse,
    skull: head.boundary,
    confidence: Math.min(symphysis.confidence, head.confidence),
    accepted: symphysis.accepted && head.accepted && clearAxis,
  };
}

/**
 * Locates the pair in a single pass, which is enough to confirm that an image shows both
 * structures.
 */
export async function confirmSymphysisHead(
  session: ModelSession,
  images: readonly GrayImage[],
): Promise<(LocatedSymphysisHead | null)[]> {
  const found = await locateTransperineal(session, images, []);
  return found.map(({ pair }) => pair);
}
