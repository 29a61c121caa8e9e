import type { PixelScale, Point } from '../contract/image.ts';

/** Length in mm between two points in pixels; each axis has its own scale. */
export function distance(from: Point, to: Point, scale: PixelScale): number {
  return Math.hypot((to.x - from.x) * scale.x, (to.y - from.y) * scale.y);
}
