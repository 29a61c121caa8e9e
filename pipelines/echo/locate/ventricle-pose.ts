import type { GrayImage, Point } from '../../contract/image.ts';
import { levelAt } from '../../measure/line-profile.ts';
import { moments } from '../../measure/soft-mask.ts';
import { areaOf, type ChamberMasks, labelOf } from './chambers.ts';
import { pixelsLabelled } from './label-map.ts';

/** Position and direction of the left ventricle, in stored pixels. */
export interface VentriclePose {
  centre: Point;
  /** Direction from base to apex: radians from +x towards +y. */
  toApex: number;
  /** Length along the axis of the ellipse that has the same moments as the cavity. */
  length: number;
}

/**
 * Returns the pose of the LV from the second moments of the cavity. The apex is on the side to
 * which the centre of the myocardium is displaced from that of the cavity, because the myocardium
 * has a gap at the mitral valve. Null if there is no cavity or no myocardium.
 */
export function ventriclePose(masks: ChamberMasks): VentriclePose | null {
  const cavity = momentsOf(masks, labelOf('lv'));
  const wall = momentsOf(masks, labelOf('myocardium'));
  if (!cavity || !wall) return null;
  const { mean, xx, xy, yy } = cavity;
  const axis = 0.5 * Math.atan2(2 * xy, xx - yy);
  const along = (wall.mean.x - mean.x) * Math.cos(axis) + (wall.mean.y - mean.y) * Math.sin(axis);
  const toApex = along >= 0 ? axis : axis + Math.PI;
  const variance = (xx + yy) / 2 + Math.hypot((xx - yy) / 2, xy);
  return {
    centre: { x: mean.x + masks.area.minX, y: mean.y + masks.area.minY },
    toApex,
    length: 4 * Math.sqrt(variance),
  };
}

/**
 * Crops the image to a square around the ventricle, with the apex at the top. The square is
 * `lengths` long axes wide and is resampled to `size` × `size` pixels by bilinear interpolation.
 * Values are from 0 to 1, and 0 outside the image (as in models/training/ventricle.py).
 */
export function ventricleCrop(
  image: GrayImage,
  pose: VentriclePose,
  size: number,
  lengths: number,
): Float32Array {
  const step = (lengths * pose.length) / size;
  const up = { x: Math.cos(pose.toApex), y: Math.sin(pose.toApex) };
  const right = { x: -up.y, y: up.x };
  const crop = new Float32Array(size * size);
  for (let row = 0; row < size; row++) {
    const v = -(row - (size - 1) / 2) * step;
    for (let column = 0; column < size; column++) {
      const u = (column - (size - 1) / 2) * step;
      const x = pose.centre.x + u * right.x + v * up.x;
      const y = pose.centre.y + u * right.y + v * up.y;
      crop[row * size + column] = levelAt(image, x, y) / 255;
    }
  }
  return crop;
}

function momentsOf(masks: ChamberMasks, label: number) {
  const pixels = pixelsLabelled(masks, label);
  return pixels.length === 0 ? null : moments(pixels, masks.width);
}

export type ShapeFault =
  | 'no-ventricle'
  | 'slender-or-round'
  | 'wall-missing'
  | 'wall-out-of-proportion'
  | 'out-of-sector';

/**
 * Shape limits for apical views. They exclude failed outlines but allow dilated ventricles and
 * thick, contracted ones. `areaPerLengthSquared`: area divided by the squared length of the ellipse
 * with the same moments. `wallShare`: share of the cavity's border that is next to myocardium.
 * `wallPerCavity`: area of the myocardium divided by the area of the cavity.
 */
const SHAPE_LIMITS = {
  areaPerLengthSquared: { min: 0.24, max: 0.66 },
  wallShare: 0.6,
  wallPerCavity: { min: 0.4, max: 3.4 },
  /** Maximum share of the border that may be on the edge of the fan (echo 3, quality gates). */
  edgeShare: 0.15,
} as const;

/** Maximum change in area relative to both neighbouring frames (echo 3, quality gates). */
const AREA_JUMP = 0.25;

/**
 * Returns the faults of the left ventricle on one apical frame; empty if the outline has the shape
 * of a ventricle.
 */
export function shapeFaults(masks: ChamberMasks): ShapeFault[] {
  const pose = ventriclePose(masks);
  const cavity = areaOf(masks, 'lv');
  if (!pose || cavity === 0) return ['no-ventricle'];
  const faults: ShapeFault[] = [];
  const { areaPerLengthSquared, wallShare, wallPerCavity, edgeShare } = SHAPE_LIMITS;
  const roundness = cavity / pose.length ** 2;
  if (roundness < areaPerLengthSquared.min || roundness > areaPerLengthSquared.max) {
    faults.push('slender-or-round');
  }
  const border = borderOf(masks);
  if (border.wall < wallShare) faults.push('wall-missing');
  const proportion = areaOf(masks, 'myocardium') / cavity;
  if (proportion < wallPerCavity.min || proportion > wallPerCavity.max) {
    faults.push('wall-out-of-proportion');
  }
  if (border.edge > edgeShare) faults.push('out-of-sector');
  return faults;
}

/**
 * Returns the share of the cavity's border that is next to myocardium, and the share that is on the
 * edge of the picture.
 */
function borderOf({ labels, width, height }: ChamberMasks): { wall: number; edge: number } {
  const lv = labelOf('lv');
  const wall = labelOf('myocardium');
  let border = 0;
  let walled = 0;
  let edge = 0;
  const steps = [-1, 1, -width, width];
  for (let pixel = 0; pixel < labels.length; pixel++) {
    if (labels[pixel] !== lv) continue;
    const x = pixel % width;
    const outside = x === 0 || x === width - 1 || pixel < width || pixel >= (height - 1) * width;
    let walls = 0;
    let cavities = 0;
    for (let n = 0; n < steps.length && !outside; n++) {
      const beside = labels[pixel + (steps[n] ?? 0)];
      if (beside === wall) walls += 1;
      else if (beside === lv) cavities += 1;
    }
    if (cavities === 4) continue;
    border += 1;
    if (outside) edge += 1;
    else if (walls > 0) walled += 1;
  }
  return { wall: walled / Math.max(1, border), edge: edge / Math.max(1, border) };
}

/**
 * Returns the indices of frames whose area differs by more than 25 % from both neighbours, because
 * no heart changes that much within one frame. The first and last frames have only one neighbour
 * and are not checked.
 */
export function jumpingFrames(areas: readonly number[]): number[] {
  const far = (a: number, b: number) => Math.abs(a - b) > AREA_JUMP * Math.max(b, 1);
  return areas.flatMap((area, n) => {
    const before = areas[n - 1];
    const after = areas[n + 1];
    if (before === undefined || after === undefined) return [];
    return far(area, before) && far(area, after) ? [n] : [];
  });
}
