import type { PixelScale, Point } from '../contract/image.ts';
import type { SoftMask } from './soft-mask.ts';

/** The deepest vertical pocket, in cells of the grid. Whole numbers are cell centres. */
interface Pocket {
  top: Point;
  bottom: Point;
  depthMm: number;
}

const LEVEL = 0.5;

/**
 * Returns where the map crosses the level between a wet cell and its dry neighbour, as a share of
 * the distance.
 */
function crossing(wet: number, dry: number, level: number): number {
  return wet <= dry ? 0.5 : Math.min(1, Math.max(0, (wet - level) / (wet - dry)));
}

/**
 * Returns the longest column of fluid that is at least `narrowestMm` wide in its middle (obstetric
 * 4: vertical depth, free of cord and fetal parts); null if there is no such column. `cell` is the
 * size of a cell in mm. `map` contains the probability of fluid in each cell; a cell counts as
 * fluid if its probability is at least `level`.
 */
export function deepestPocket(
  map: SoftMask,
  cell: PixelScale,
  narrowestMm: number,
  level: number = LEVEL,
): Pocket | null {
  const { width, height, values } = map;
  const at = (x: number, y: number) =>
    x < 0 || y < 0 || x >= width || y >= height ? 0 : (values[y * width + x] ?? 0);
  const widthAt = (x: number, y: number) => {
    let left = x;
    let right = x;
    while (at(left - 1, y) >= level) left--;
    while (at(right + 1, y) >= level) right++;
    const ends =
      crossing(at(left, y), at(left - 1, y), level) +
      crossing(at(right, y), at(right + 1, y), level);
    return (right - left + ends) * cell.x;
  };
  let best: Pocket | null = null;
  for (let x = 0; x < width; x++) {
    let start = 0;
    for (let y = 0; y <= height; y++) {
      if (at(x, y) >= level) continue;
      const [first, last] = [start, y - 1];
      start = y + 1;
      if (last < first) continue;
      const top = first - crossing(at(x, first), at(x, first - 1), level);
      const bottom = last + crossing(at(x, last), at(x, last + 1), level);
      const depthMm = (bottom - top) * cell.y;
      if (best !== null && depthMm <= best.depthMm) continue;
      if (widthAt(x, (first + last) >> 1) < narrowestMm) continue;
      best = { top: { x, y: top }, bottom: { x, y: bottom }, depthMm };
    }
  }
  return best;
}
