import type { GrayImage, Point } from '../../contract/image.ts';
import type { Rectangle } from '../../contract/study.ts';
import { cropped } from '../../inference/letterbox.ts';
import type { ModelSession } from '../../inference/session.ts';
import { convexHull } from '../../measure/polygon.ts';
import { largestOf, regionsOf } from '../../measure/regions.ts';
import {
  type Grid,
  labelsOf,
  maskOf,
  mostLikely,
  removeSpecks,
  type StructureMasks,
  segmentFan,
  sizeOf,
} from './label-map.ts';
import { CHAMBERS, type Chamber } from './names.ts';
import { mirroredImage } from './sector.ts';

/**
 * Fills in the left ventricle of an apical view, because a ventricle has neither dents nor holes.
 * Within the convex hull of cavity and myocardium, the probabilities of background and right heart
 * are set to 0, so that a class of the left heart is the most likely there.
 *
 * @param shares the probabilities on the grid, one channel after another. They are modified.
 * @param left the classes of the left heart, starting with cavity and myocardium.
 */
export function completeVentricle(
  shares: Float32Array,
  grid: Grid,
  left: readonly [cavity: number, wall: number, ...others: number[]],
): void {
  const size = grid.width * grid.height;
  const labels = mostLikely(shares, size, grid.classes);
  const [cavity, wall] = left;
  const ventricle = largestOf(regionsOf(maskOf({ labels }, cavity, wall), grid.width));
  // Only the ends of a run can be corners of the hull.
  const ends = ventricle?.runs.map((at, n) => (n % 2 === 0 ? at : at - 1)) ?? [];
  const hull = convexHull(ends.map((pixel) => pointOf(pixel, grid.width)));
  const spans = spansInside(hull, grid);
  for (let c = 0; c < grid.classes; c++) {
    if (left.includes(c)) continue;
    for (const [from, to] of spans) shares.fill(0, c * size + from, c * size + to);
  }
}

const pointOf = (pixel: number, width: number): Point => ({
  x: pixel % width,
  y: Math.floor(pixel / width),
});

/**
 * Returns, for each row with pixels inside a convex hull, the index of the first of these pixels
 * and the index after the last one.
 */
function spansInside(hull: readonly Point[], { width, height }: Grid): [number, number][] {
  const spans: [number, number][] = [];
  if (hull.length < 3) return spans;
  for (let y = 0; y < height; y++) {
    let left = Number.POSITIVE_INFINITY;
    let right = Number.NEGATIVE_INFINITY;
    let a = hull.at(-1) as Point;
    for (const b of hull) {
      if (Math.min(a.y, b.y) <= y && Math.max(a.y, b.y) >= y) {
        const x = a.y === b.y ? a.x : a.x + ((b.x - a.x) * (y - a.y)) / (b.y - a.y);
        left = Math.min(left, x);
        right = Math.max(right, x);
      }
      a = b;
    }
    const from = Math.max(0, Math.ceil(left));
    const to = Math.min(width - 1, Math.floor(right));
    if (from <= to) spans.push([y * width + from, y * width + to + 1]);
  }
  return spans;
}

/** Chambers of one frame: LV cavity, LV myocardium, LA, RV and RA. */
export type ChamberMasks = StructureMasks<Chamber>;

/** Returns the label of a chamber in `ChamberMasks.labels`. */
export const labelOf = (chamber: Chamber): number => CHAMBERS.indexOf(chamber) + 1;

/** Labels of the left heart, starting with cavity and myocardium. */
const LEFT_HEART_LABELS = [labelOf('lv'), labelOf('myocardium'), labelOf('la')] as const;

export function areaOf(masks: ChamberMasks, chamber: Chamber): number {
  return sizeOf(masks, labelOf(chamber));
}

/**
 * Outlines the chambers on each frame with `echo-chambers`. The model expects the apex of the fan
 * at the top and the right heart on the left; `mirrored` is true if the display shows the right
 * heart on the right. `area` is the fan (sector.ts), which is the same for all frames of a clip.
 */
export async function segmentChambers(
  session: ModelSession,
  images: readonly GrayImage[],
  area: Rectangle,
  mirrored = false,
): Promise<ChamberMasks[]> {
  const crops = images.map((image) => {
    const crop = cropped(image, area);
    return mirrored ? mirroredImage(crop) : crop;
  });
  return segmentFan(session, crops, area, CHAMBERS, (shares, grid, placement, width, height) => {
    completeVentricle(shares, grid, LEFT_HEART_LABELS);
    const found = removeSpecks(labelsOf(shares, grid, placement, width, height));
    if (mirrored) mirrorRows(found.labels, width);
    return found;
  });
}

function mirrorRows(labels: Uint8Array, width: number): void {
  for (let start = 0; start < labels.length; start += width) {
    labels.subarray(start, start + width).reverse();
  }
}

/**
 * Combines the left heart from one model with the right heart from another. A pixel becomes right
 * ventricle or right atrium only if the first model labelled it as background.
 */
export function withRightHeart(left: ChamberMasks, whole: ChamberMasks): ChamberMasks {
  const [ventricle, atrium] = [labelOf('rv'), labelOf('ra')];
  const labels = left.labels.slice();
  for (let pixel = 0; pixel < labels.length; pixel++) {
    const other = whole.labels[pixel] ?? 0;
    if (labels[pixel] === 0 && (other === ventricle || other === atrium)) labels[pixel] = other;
  }
  const { rv, ra } = whole.confidence;
  return { ...left, labels, confidence: { ...left.confidence, rv, ra } };
}

/** Minimum area of each right chamber in a four-chamber view, as a share of the left ventricle's. */
const RIGHT_SHARE = 0.1;

/**
 * Returns true if right ventricle and right atrium are both outlined, on average over the frames.
 * `session` is a model that knows the right heart.
 */
export async function showsRightHeart(
  session: ModelSession,
  frames: readonly GrayImage[],
  area: Rectangle,
): Promise<boolean> {
  const masks = await segmentChambers(session, frames, area);
  return (['rv', 'ra'] as const).every((chamber) => {
    const shares = masks.map((one) => areaOf(one, chamber) / Math.max(1, areaOf(one, 'lv')));
    return shares.reduce((sum, share) => sum + share, 0) >= RIGHT_SHARE * shares.length;
  });
}

/** Minimum difference in confidence for the display to count as mirrored. */
const MARGIN = 0.01;

/**
 * Returns true if an apical view is displayed mirrored, with the right heart on the right, as in
 * some laboratories. `echo-chambers` then outlines LV, myocardium and LA with more confidence in
 * the mirror image. A few frames of a clip are enough.
 */
export async function isMirrored(
  session: ModelSession,
  frames: readonly GrayImage[],
  area: Rectangle,
): Promise<boolean> {
  const straight = await segmentChambers(session, frames, area);
  const mirrored = await segmentChambers(session, frames, area, true);
  return certainty(mirrored) > certainty(straight) + MARGIN;
}

const LEFT_HEART_CHAMBERS = CHAMBERS.slice(0, 3);

function certainty(masks: readonly ChamberMasks[]): number {
  const values = masks.flatMap(({ confidence }) =>
    LEFT_HEART_CHAMBERS.map((one) => confidence[one]),
  );
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}
