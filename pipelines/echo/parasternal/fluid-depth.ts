import type { Point } from '../../contract/image.ts';
import { contains, crossings, outlineOf } from '../../measure/outline.ts';
import { maskOf, sizeOf } from '../locate/label-map.ts';
import { type ParasternalMasks, parasternalLabel } from '../locate/parasternal.ts';

/** Directions in which the depth at a place is tried. */
const ANGLES = 24;
/** Places of the layer at which its depth is tried. */
const PLACES = 120;

/** The shortest way through an outline at a point just within it. */
function shortestThrough(
  outline: readonly Point[],
  from: Point,
): { ends: readonly [Point, Point]; length: number } | null {
  let best: { ends: readonly [Point, Point]; length: number } | null = null;
  for (let k = 0; k < ANGLES; k++) {
    const angle = (Math.PI * k) / ANGLES;
    const direction = { x: Math.cos(angle), y: Math.sin(angle) };
    const cuts = crossings(outline, from, direction);
    const ahead = cuts.find((cut) => cut > 0);
    const behind = cuts.findLast((cut) => cut <= 0);
    if (ahead === undefined || behind === undefined) continue;
    const length = ahead - behind;
    if (best && length >= best.length) continue;
    const at = (cut: number) => ({
      x: from.x + cut * direction.x,
      y: from.y + cut * direction.y,
    });
    best = { ends: [at(behind), at(ahead)], length };
  }
  return best;
}

/**
 * The greatest depth of the fluid that a frame shows outside of the heart, across the layer: of the
 * shortest ways through it the longest (echo reference 13). Pixels of the stored frame; null
 * where no fluid was outlined.
 */
export function fluidDepth(masks: ParasternalMasks): readonly [Point, Point] | null {
  const { area, width, height } = masks;
  const fluid = parasternalLabel('effusion');
  const own = sizeOf(masks, fluid);
  if (own === 0) return null;
  const mask = maskOf(masks, fluid);
  const outline = outlineOf(mask, width, height);
  if (!outline) return null;
  const every = Math.max(1, Math.floor(own / PLACES));
  let deepest: { ends: readonly [Point, Point]; length: number } | null = null;
  let seen = 0;
  for (const [index, inside] of mask.entries()) {
    if (!inside) continue;
    seen += 1;
    if (seen % every !== 0) continue;
    const from = { x: index % width, y: Math.floor(index / width) };
    const way = contains(outline, from) ? shortestThrough(outline, from) : null;
    if (way && (!deepest || way.length > deepest.length)) deepest = way;
  }
  if (!deepest) return null;
  const [from, to] = deepest.ends;
  const shifted = ({ x, y }: Point) => ({ x: x + area.minX, y: y + area.minY });
  return [shifted(from), shifted(to)];
}
