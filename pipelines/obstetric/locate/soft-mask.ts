import type { Ellipse, Point } from '../../contract/image.ts';
import { distanceToEllipse } from './ellipse-fit.ts';

/** Probability per pixel of the network's grid, row by row. */
export interface SoftMask {
  width: number;
  height: number;
  values: Float32Array;
}

/** Where a soft mask counts as inside: the border is its 0.5 level. */
const LEVEL = 0.5;
const RAYS = 120;
const RAY_STEP = 0.5;

export interface Region {
  mean: Point;
  xx: number;
  xy: number;
  yy: number;
  /** The mask with every other region taken away; the soft rim is kept. */
  mask: SoftMask;
}

/** The largest connected region at or above the level, with its moments. Null: there is none. */
export function largestRegion(mask: SoftMask): Region | null {
  const { width, height, values } = mask;
  const label = new Int32Array(values.length);
  let best: number[] = [];
  for (let seed = 0; seed < values.length; seed++) {
    if (label[seed] !== 0 || (values[seed] ?? 0) < LEVEL) continue;
    const region = [seed];
    label[seed] = 1;
    for (let next = 0; next < region.length; next++) {
      for (const neighbour of neighbours(region[next] ?? 0, width, height)) {
        if (label[neighbour] !== 0 || (values[neighbour] ?? 0) < LEVEL) continue;
        label[neighbour] = 1;
        region.push(neighbour);
      }
    }
    if (region.length > best.length) best = region;
  }
  if (best.length === 0) return null;
  return { ...moments(best, width), mask: withRim(mask, best) };
}

function neighbours(index: number, width: number, height: number): number[] {
  const x = index % width;
  const near: number[] = [];
  if (x > 0) near.push(index - 1);
  if (x < width - 1) near.push(index + 1);
  if (index >= width) near.push(index - width);
  if (index < width * (height - 1)) near.push(index + width);
  return near;
}

function moments(region: readonly number[], width: number) {
  let x = 0;
  let y = 0;
  let xx = 0;
  let xy = 0;
  let yy = 0;
  for (const index of region) {
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

function withRim(mask: SoftMask, region: readonly number[]): SoftMask {
  const values = new Float32Array(mask.values.length);
  for (const index of region) {
    values[index] = mask.values[index] ?? 0;
    for (const rim of neighbours(index, mask.width, mask.height)) {
      values[rim] = mask.values[rim] ?? 0;
    }
  }
  return { width: mask.width, height: mask.height, values };
}

/**
 * The border of a region to a fraction of a pixel: on rays from its centre, the outermost place
 * where the mask falls through the level. A ray on which the region runs out of the image has no
 * border and gives no point.
 */
export function borderPoints(region: Region): Point[] {
  const { mask, mean } = region;
  const points: Point[] = [];
  const farthest = Math.hypot(mask.width, mask.height);
  for (let ray = 0; ray < RAYS; ray++) {
    const angle = (2 * Math.PI * ray) / RAYS;
    const at = (distance: number): Point => ({
      x: mean.x + distance * Math.cos(angle),
      y: mean.y + distance * Math.sin(angle),
    });
    let outside: number | null = null;
    for (let distance = farthest; distance > 0; distance -= RAY_STEP) {
      const value = sample(mask, at(distance));
      if (value === null) continue;
      if (value >= LEVEL) {
        if (outside === null) break;
        const beyond = outside;
        const share = (value - LEVEL) / (value - beyond);
        points.push(at(distance + share * RAY_STEP));
        break;
      }
      outside = value;
    }
  }
  return points;
}

/** Bilinear value, null outside the grid. */
function sample(mask: SoftMask, { x, y }: Point): number | null {
  if (x < 0 || y < 0 || x > mask.width - 1 || y > mask.height - 1) return null;
  const left = Math.min(Math.floor(x), mask.width - 2);
  const top = Math.min(Math.floor(y), mask.height - 2);
  const fx = x - left;
  const fy = y - top;
  const value = (dx: number, dy: number) => mask.values[(top + dy) * mask.width + left + dx] ?? 0;
  return (
    (1 - fy) * ((1 - fx) * value(0, 0) + fx * value(1, 0)) +
    fy * ((1 - fx) * value(0, 1) + fx * value(1, 1))
  );
}

/**
 * How well an ellipse accounts for a mask: their soft Dice overlap, 0 to 1. It falls when the mask
 * is undecided, when it is no ellipse, and when it holds a second region.
 */
export function overlap(mask: SoftMask, ellipse: Ellipse): number {
  let both = 0;
  let sum = 0;
  for (let y = 0; y < mask.height; y++) {
    for (let x = 0; x < mask.width; x++) {
      const inside = Math.min(Math.max(0.5 - distanceToEllipse(ellipse, { x, y }), 0), 1);
      const value = mask.values[y * mask.width + x] ?? 0;
      both += inside * value;
      sum += inside + value;
    }
  }
  return sum === 0 ? 0 : (2 * both) / sum;
}
