import type { Ellipse, Point } from '../contract/image.ts';
import { distanceFrom } from './ellipse-fit.ts';
import { largestOf, pixelsOf, regionsOf } from './regions.ts';

/** Probability of each pixel of the network's grid, row by row. */
export interface SoftMask {
  width: number;
  height: number;
  values: Float32Array;
}

/**
 * Minimum probability of a pixel that counts as inside. The border is where the mask crosses this
 * level.
 */
const LEVEL = 0.5;
const RAYS = 120;
const RAY_STEP = 0.5;

export interface Region {
  mean: Point;
  xx: number;
  xy: number;
  yy: number;
  /** Mask with only this region and its soft margin. Other regions are removed. */
  mask: SoftMask;
}

/** Returns 1 for each pixel of the grid at or above the level, and 0 for all others. */
export function insideOf({ values }: SoftMask): Uint8Array {
  const inside = new Uint8Array(values.length);
  for (let at = 0; at < inside.length; at++) inside[at] = (values[at] ?? 0) >= LEVEL ? 1 : 0;
  return inside;
}

/**
 * Returns the largest connected region at or above the level, with its moments. Null if no pixel
 * reaches the level.
 */
export function largestRegion(mask: SoftMask): Region | null {
  const inside = insideOf(mask);
  const largest = largestOf(regionsOf(inside, mask.width));
  if (!largest) return null;
  const pixels = pixelsOf(largest);
  return { ...moments(pixels, mask.width), mask: withRim(mask, pixels) };
}

/** Returns the mean position and the second central moments of pixels, given by their indices. */
export function moments(region: ArrayLike<number>, width: number) {
  let x = 0;
  let y = 0;
  let xx = 0;
  let xy = 0;
  let yy = 0;
  for (let n = 0; n < region.length; n++) {
    const index = region[n] ?? 0;
    const px = index % width;
    const py = Math.floor(index / width);
    x += px;
    y += py;
    xx += px * px;
    xy += px * py;
    yy += py * py;
  }
  const n = region.length;
  const mean = { x: x / n, y: y / n };
  return {
    mean,
    xx: xx / n - mean.x * mean.x,
    xy: xy / n - mean.x * mean.y,
    yy: yy / n - mean.y * mean.y,
  };
}

function withRim({ width, height, values: all }: SoftMask, region: readonly number[]): SoftMask {
  const values = new Float32Array(all.length);
  const keep = (index: number) => {
    values[index] = all[index] ?? 0;
  };
  for (const index of region) {
    const x = index % width;
    keep(index);
    if (x > 0) keep(index - 1);
    if (x < width - 1) keep(index + 1);
    if (index >= width) keep(index - width);
    if (index < width * (height - 1)) keep(index + width);
  }
  return { width, height, values };
}

/**
 * Returns points on the border of a region, to a fraction of a pixel. Each is on a ray from the
 * region's centre, at the outermost crossing of the level. A ray on which the region leaves the
 * image has no point.
 */
export function borderPoints(region: Region): Point[] {
  const { mask, mean } = region;
  const points: Point[] = [];
  const farthest = Math.hypot(mask.width, mask.height);
  for (let ray = 0; ray < RAYS; ray++) {
    const angle = (2 * Math.PI * ray) / RAYS;
    const cos = Math.cos(angle);
    const sin = Math.sin(angle);
    let outside: number | null = null;
    for (let distance = farthest; distance > 0; distance -= RAY_STEP) {
      const value = valueAt(mask, mean.x + distance * cos, mean.y + distance * sin);
      if (value === null) continue;
      if (value >= LEVEL) {
        if (outside === null) break;
        const beyond = outside;
        const share = (value - LEVEL) / (value - beyond);
        const border = distance + share * RAY_STEP;
        points.push({ x: mean.x + border * cos, y: mean.y + border * sin });
        break;
      }
      outside = value;
    }
  }
  return points;
}

/** Returns the value between grid points, by bilinear interpolation. Null outside the grid. */
export function valueAt({ width, height, values }: SoftMask, x: number, y: number): number | null {
  if (x < 0 || y < 0 || x > width - 1 || y > height - 1) return null;
  const left = Math.min(Math.floor(x), width - 2);
  const top = Math.min(Math.floor(y), height - 2);
  const fx = x - left;
  const fy = y - top;
  const upper = top * width + left;
  const lower = upper + width;
  return (
    (1 - fy) * ((1 - fx) * (values[upper] ?? 0) + fx * (values[upper + 1] ?? 0)) +
    fy * ((1 - fx) * (values[lower] ?? 0) + fx * (values[lower + 1] ?? 0))
  );
}

/**
 * Returns how well an ellipse matches a mask: the soft Dice overlap, 0 to 1. It is lower if the
 * mask is uncertain, is not elliptical, or has a second region.
 */
export function overlap(mask: SoftMask, ellipse: Ellipse): number {
  const distanceAt = distanceFrom(ellipse);
  let both = 0;
  let sum = 0;
  for (let y = 0; y < mask.height; y++) {
    for (let x = 0; x < mask.width; x++) {
      const inside = Math.min(Math.max(0.5 - distanceAt(x, y), 0), 1);
      const value = mask.values[y * mask.width + x] ?? 0;
      both += inside * value;
      sum += inside + value;
    }
  }
  return sum === 0 ? 0 : (2 * both) / sum;
}
