import type { Point } from '../contract/image.ts';
import type { SoftMask } from './soft-mask.ts';

/** A position on the network's grid at which a map has a maximum. */
export type Peak = Point & { value: number };

const LOWEST_PEAK = 0.05;
const WINDOW = 4;

const at = (map: SoftMask, x: number, y: number) => map.values[y * map.width + x] ?? 0;

/** Returns up to `limit` local maxima of a landmark map, highest first. */
export function highestPeaks(map: SoftMask, limit: number): Peak[] {
  const peaks: Peak[] = [];
  for (let y = 1; y < map.height - 1; y++) {
    for (let x = 1; x < map.width - 1; x++) {
      const value = at(map, x, y);
      if (value < LOWEST_PEAK) continue;
      let highest = true;
      for (let dy = -1; dy <= 1; dy++) {
        for (let dx = -1; dx <= 1; dx++) highest &&= at(map, x + dx, y + dy) <= value;
      }
      if (highest) peaks.push({ x, y, value });
    }
  }
  return peaks.sort((a, b) => b.value - a.value).slice(0, limit);
}

/** Returns the mean of a map along the straight line between two positions. */
export function meanAlong(map: SoftMask, from: Point, to: Point): number {
  const steps = Math.max(2, Math.ceil(Math.hypot(to.x - from.x, to.y - from.y)));
  let sum = 0;
  for (let i = 0; i <= steps; i++) {
    const x = Math.round(from.x + ((to.x - from.x) * i) / steps);
    const y = Math.round(from.y + ((to.y - from.y) * i) / steps);
    sum += at(map, x, y);
  }
  return sum / (steps + 1);
}

/**
 * Returns the position of a peak to a fraction of a pixel, as a centre of mass. The weights are
 * squared so that pixels at the edge of the window hardly shift the position.
 */
export function centreOfMass(map: SoftMask, peak: Point): Point {
  let sum = 0;
  let x = 0;
  let y = 0;
  for (let dy = -WINDOW; dy <= WINDOW; dy++) {
    for (let dx = -WINDOW; dx <= WINDOW; dx++) {
      const px = peak.x + dx;
      if (px < 0 || px >= map.width) continue;
      const value = at(map, px, peak.y + dy) ** 2;
      sum += value;
      x += value * px;
      y += value * (peak.y + dy);
    }
  }
  return { x: x / sum, y: y / sum };
}
