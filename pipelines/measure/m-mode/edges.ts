import { steadied } from '../waves.ts';
import type { MModePlane } from './plane.ts';

const MATCH = {
  /** Distance, in cm, above and below a position, over which its texture is compared. */
  window: 0.6,
  /**
   * Number of time samples between the two profiles that are compared. Each profile is the mean of
   * two samples.
   */
  lag: 2,
  /** Maximum speed of a wall, in cm/s. */
  fastest: 30,
  /** Minimum correlation of a match. */
  least: 0.3,
  /**
   * Distance in rows between the positions that are matched. Rows in between use the nearest match.
   */
  rows: 3,
} as const;

/**
 * Returns the grey levels without their slow change over depth. Each value is the mean of two
 * samples and three rows. Values are stored column by column, because profiles over depth are
 * compared.
 */
function texture({ columns, rows, levels }: MModePlane, reach: number): Float32Array {
  const fine = levels.map((level, i) => {
    const column = i % columns;
    const right = column + 1 < columns ? (levels[i + 1] ?? 0) : level;
    return (level + right) / 2;
  });
  const result = new Float32Array(levels.length);
  for (let column = 0; column < columns; column++) {
    const at = (row: number) => fine[Math.max(0, Math.min(rows - 1, row)) * columns + column] ?? 0;
    let sum = 0;
    for (let k = -reach; k <= reach; k++) sum += at(k);
    for (let row = 0; row < rows; row++) {
      result[column * rows + row] =
        (at(row - 1) + at(row) + at(row + 1)) / 3 - sum / (2 * reach + 1);
      sum += at(row + reach + 1) - at(row - reach);
    }
  }
  return result;
}

/**
 * Returns the cumulative sums of the products of two profiles over the rows, with `b` shifted down
 * by `shift` rows.
 *
 * @param sums memory for the result, one value longer than a profile.
 */
function sumsOfProducts(
  a: Float32Array,
  b: Float32Array,
  shift: number,
  sums: Float64Array = new Float64Array(a.length + 1),
): Float64Array {
  const first = Math.max(0, -shift);
  const last = Math.min(a.length, b.length - shift);
  sums.fill(0, 0, first + 1);
  for (let row = first; row < last; row++) {
    sums[row + 1] = (sums[row] ?? 0) + (a[row] ?? 0) * (b[row + shift] ?? 0);
  }
  return sums.fill(sums[Math.max(0, last)] ?? 0, Math.max(0, last) + 1);
}

/**
 * Calculates the normalised correlation of two profiles around every third row of the first, with
 * the second shifted down by `shift` rows. Cumulative sums are used, so the time taken does not
 * depend on the size of the window.
 *
 * @param products memory for these sums, one value longer than a profile.
 */
function correlations(
  one: Profile,
  other: Profile,
  shift: number,
  reach: number,
  products: Float64Array,
  into: Float64Array,
): void {
  const rows = one.levels.length;
  sumsOfProducts(one.levels, other.levels, shift, products);
  for (let place = 0, row = 0; place < into.length; place++, row += MATCH.rows) {
    const from = Math.max(0, row - reach, -shift);
    const to = Math.min(rows, row + reach + 1, rows - shift);
    const cross = (products[to] ?? 0) - (products[from] ?? 0);
    const first = (one.squares[to] ?? 0) - (one.squares[from] ?? 0);
    const second = (other.squares[to + shift] ?? 0) - (other.squares[from + shift] ?? 0);
    into[place] = to > from && first > 0 && second > 0 ? cross / Math.sqrt(first * second) : 0;
  }
}

/** Levels over depth at one time, and the cumulative sums of their squares. */
interface Profile {
  levels: Float32Array;
  squares: Float64Array;
}

/**
 * Returns the motion of the texture in an M-mode at each position, in rows per sample, positive
 * downwards. It is 0 if nothing matches. Each profile over depth is matched with the profile of a
 * later sample.
 */
export function textureSlopes(plane: MModePlane): Float32Array {
  const { columns, rows, depthPerRow, secondsPerColumn } = plane;
  const reach = Math.max(4, Math.round(MATCH.window / depthPerRow));
  const farthest = Math.ceil((MATCH.fastest * secondsPerColumn * MATCH.lag) / depthPerRow);
  const texels = texture(plane, reach);
  const profiles = Array.from({ length: columns }, (_, column): Profile => {
    const levels = texels.subarray(column * rows, (column + 1) * rows);
    return { levels, squares: sumsOfProducts(levels, levels, 0) };
  });
  const slopes = new Float32Array(rows * columns);
  const places = Math.ceil(rows / MATCH.rows);
  // One extra shift on each side is tried, because the best shift is refined between its
  // neighbours.
  const shifts = 2 * farthest + 3;
  const scores = new Float64Array(shifts * places);
  const products = new Float64Array(rows + 1);
  for (let column = 0; column + MATCH.lag < columns; column++) {
    const one = profiles[column] as Profile;
    const other = profiles[column + MATCH.lag] as Profile;
    for (let n = 0; n < shifts; n++) {
      const into = scores.subarray(n * places, (n + 1) * places);
      correlations(one, other, n - farthest - 1, reach, products, into);
    }
    for (let place = 0; place < places; place++) {
      const slope = matchedShift(scores, shifts, place) / MATCH.lag;
      const end = Math.min(rows, (place + 1) * MATCH.rows);
      for (let row = place * MATCH.rows; row < end; row++) slopes[row * columns + column] = slope;
    }
  }
  return slopes;
}

/**
 * Returns the shift with the highest score at a place, refined between its neighbours; 0 if no score
 * is high enough. The scores of each shift follow one another, and the middle one is that of no
 * shift. (With an array for each shift, V8 would allocate memory for every score that is read as
 * `scores[shift]?.[place]`.)
 */
function matchedShift(scores: Float64Array, shifts: number, place: number): number {
  const places = scores.length / shifts;
  const unshifted = shifts >> 1;
  let best = unshifted;
  let top = scores[unshifted * places + place] ?? 0;
  for (let shift = 1; shift < shifts - 1; shift++) {
    const here = scores[shift * places + place] ?? 0;
    if (here > top) {
      top = here;
      best = shift;
    }
  }
  if (!(top >= MATCH.least)) return 0;
  const before = scores[(best - 1) * places + place] ?? 0;
  const after = scores[(best + 1) * places + place] ?? 0;
  const curvature = before - 2 * top + after;
  return best - unshifted + (curvature < 0 ? (before - after) / (2 * curvature) : 0);
}

/** Change of level at an edge, in the direction away from the probe. */
type EdgeKind = 'brighter' | 'darker';

const EDGE_PATH = {
  /** Distance, in cm, above and below an edge, over which levels are compared. */
  reach: 0.3,
  /** Number of samples over which an edge is averaged. */
  columns: 3,
  /** Maximum speed of a wall, in cm/s. */
  fastest: 30,
  /**
   * Cost of each row by which a path deviates from the motion of the texture, in units of edge
   * strength.
   */
  bend: 0.07,
  /** Mean grey level on both sides of an edge so faint that its strength is halved. */
  faint: 25,
} as const;

/**
 * Returns the strength of an edge at each position. It is the difference between the levels below
 * and above it, divided by their mean, so that a deep, faint wall is as strong as a near, bright
 * one.
 */
export function edgesOf(plane: MModePlane, kind: EdgeKind): Float32Array {
  const { columns, rows, levels, depthPerRow } = plane;
  const reach = Math.max(2, Math.round(EDGE_PATH.reach / depthPerRow));
  const sums = new Float64Array((rows + 1) * columns);
  for (let i = 0; i < rows * columns; i++) {
    sums[i + columns] = (sums[i] ?? 0) + (levels[i] ?? 0);
  }
  const vertical = new Float32Array(rows * columns);
  for (let row = reach; row + reach <= rows; row++) {
    for (let column = 0; column < columns; column++) {
      const at = row * columns + column;
      const above = sums[at - reach * columns] ?? 0;
      const below = sums[at + reach * columns] ?? 0;
      const step = (below - 2 * (sums[at] ?? 0) + above) / reach;
      const level = (below - above) / (2 * reach);
      const strength = step / (level + EDGE_PATH.faint);
      vertical[at] = kind === 'brighter' ? strength : -strength;
    }
  }
  return averagedOverTime(vertical, columns, rows);
}

/**
 * Half height of a line echo, and the distance at which it is compared with its surroundings, in
 * cm.
 */
const LINE = { half: 0.12, beside: 0.35 } as const;

/**
 * Returns the strength of a bright line at each position: its level above the mean of the levels on
 * both sides of it.
 */
export function linesOf({ columns, rows, levels, depthPerRow }: MModePlane): Float32Array {
  const half = Math.max(1, Math.round(LINE.half / depthPerRow));
  const beside = Math.round(LINE.beside / depthPerRow);
  const result = new Float32Array(rows * columns);
  for (let row = beside + half; row + beside + half < rows; row++) {
    for (let column = 0; column < columns; column++) {
      let centre = 0;
      let around = 0;
      for (let k = -half; k <= half; k++) {
        const at = (row + k) * columns + column;
        centre += levels[at] ?? 0;
        around += ((levels[at - beside * columns] ?? 0) + (levels[at + beside * columns] ?? 0)) / 2;
      }
      result[row * columns + column] = (centre - around) / ((2 * half + 1) * FULL_CONTRAST);
    }
  }
  return averagedOverTime(result, columns, rows);
}

/** Contrast, in grey levels, at which a line is as strong as a full edge. */
const FULL_CONTRAST = 60;

function averagedOverTime(plane: Float32Array, columns: number, rows: number): Float32Array {
  const half = EDGE_PATH.columns >> 1;
  const result = new Float32Array(plane.length);
  for (let from = 0; from < rows * columns; from += columns) {
    averageRow(plane.subarray(from, from + columns), half, result.subarray(from, from + columns));
  }
  return result;
}

function averageRow(row: Float32Array, half: number, into: Float32Array): void {
  let sum = 0;
  let count = 0;
  for (let k = 0; k < half; k++, count++) sum += row[k] ?? 0;
  for (let column = 0; column < row.length; column++) {
    if (column + half < row.length) {
      sum += row[column + half] ?? 0;
      count++;
    }
    if (column - half - 1 >= 0) {
      sum -= row[column - half - 1] ?? 0;
      count--;
    }
    into[column] = sum / count;
  }
}

export interface EdgePath {
  /** Row of the path in each column of the plane. */
  rows: Float64Array;
  /** Mean strength of the edge along the path, 0 to about 2. */
  strength: number;
}

/** Returns the first and last row through which a path may run in a column. */
type Band = (column: number) => readonly [number, number];

/**
 * Returns the strongest continuous edge from the first to the last column within a band, found by
 * dynamic programming over the rows. The path moves no faster than a wall can and is guided by the
 * motion of the texture. Null if the band is empty.
 */
export function strongestPath(
  plane: MModePlane,
  edges: Float32Array,
  slopes: Float32Array,
  band: Band,
): EdgePath | null {
  const { columns, rows, secondsPerColumn, depthPerRow } = plane;
  const step = Math.max(1, Math.ceil((EDGE_PATH.fastest * secondsPerColumn) / depthPerRow));
  let best = new Float64Array(rows);
  let next = new Float64Array(rows);
  const from = new Int16Array(rows * columns);
  for (let column = 0; column < columns; column++) {
    next.fill(Number.NEGATIVE_INFINITY);
    const [low, high] = band(column);
    for (let row = Math.max(0, Math.ceil(low)); row <= Math.min(rows - 1, high); row++) {
      const before = column === 0 ? row : rowBefore(plane, best, slopes, row, column - 1, step);
      const top = column === 0 ? 0 : scoreOf(plane, best, slopes, row, before, column - 1);
      next[row] = top + (edges[row * columns + column] ?? 0);
      from[row * columns + column] = before;
    }
    [best, next] = [next, best];
  }
  let end = 0;
  for (let row = 1; row < rows; row++) if ((best[row] ?? 0) > (best[end] ?? 0)) end = row;
  const total = best[end] ?? Number.NEGATIVE_INFINITY;
  if (!Number.isFinite(total)) return null;
  const path = new Float64Array(columns);
  for (let column = columns - 1, row = end; column >= 0; column--) {
    path[column] = row;
    row = from[row * columns + column] ?? row;
  }
  return { rows: path, strength: total / columns };
}

/** Score of the best path to row `before` of a column, continued to `row` in the next column. */
function scoreOf(
  { columns }: MModePlane,
  best: Float64Array,
  slopes: Float32Array,
  row: number,
  before: number,
  column: number,
): number {
  const moved = row - before - (slopes[before * columns + column] ?? 0);
  return (best[before] ?? 0) - EDGE_PATH.bend * moved * moved;
}

/** Returns the row, at most `step` rows away, from which the best path comes to `row`. */
function rowBefore(
  plane: MModePlane,
  best: Float64Array,
  slopes: Float32Array,
  row: number,
  column: number,
  step: number,
): number {
  let top = Number.NEGATIVE_INFINITY;
  let before = row;
  const last = Math.min(plane.rows - 1, row + step);
  for (let other = Math.max(0, row - step); other <= last; other++) {
    const score = scoreOf(plane, best, slopes, row, other, column);
    if (score > top) {
      top = score;
      before = other;
    }
  }
  return before;
}

/**
 * Distances in cm. An edge is searched for within `within` of a path, and levels are compared over
 * `reach`.
 */
const EXACT = { within: 0.15, reach: 0.1 } as const;

/**
 * Moves a path to the steepest change of level nearby. The path was found by relative strength,
 * which shifts it towards the darker side.
 */
export function exactEdge(plane: MModePlane, path: Float64Array, kind: EdgeKind): Float64Array {
  const { columns, rows, levels, depthPerRow } = plane;
  const reach = Math.max(1, Math.round(EXACT.reach / depthPerRow));
  const within = Math.max(1, Math.round(EXACT.within / depthPerRow));
  const sign = kind === 'brighter' ? 1 : -1;
  const exact = path.map((at, column) => {
    const level = (row: number) => {
      const inside = Math.max(0, Math.min(rows - 1, row)) * columns + column;
      return (levels[inside - 1] ?? 0) + (levels[inside] ?? 0) + (levels[inside + 1] ?? 0);
    };
    const step = (row: number) => {
      let sum = 0;
      for (let k = 0; k < reach; k++) sum += level(row + k) - level(row - 1 - k);
      return sign * sum;
    };
    let best = Math.round(at);
    for (let row = Math.round(at) - within; row <= Math.round(at) + within; row++) {
      if (step(row) > step(best)) best = row;
    }
    return best;
  });
  return steadied(exact, 1);
}

/**
 * Returns separate paths along edges or lines (`edgesOf`, `linesOf`), strongest first. A path loses
 * strength wherever it is within `apart` rows of a stronger one.
 */
export function severalPaths(
  plane: MModePlane,
  strengths: Float32Array,
  count: number,
  apart: number,
  band: Band,
  slopes: Float32Array = textureSlopes(plane),
): EdgePath[] {
  const edges = strengths.slice();
  const found: EdgePath[] = [];
  for (let i = 0; i < count; i++) {
    const path = strongestPath(plane, edges, slopes, band);
    if (!path || path.strength <= 0) break;
    found.push(path);
    for (let column = 0; column < plane.columns; column++) {
      const at = path.rows[column] ?? 0;
      const low = Math.max(0, Math.floor(at - apart));
      const high = Math.min(plane.rows - 1, Math.ceil(at + apart));
      for (let row = low; row <= high; row++) edges[row * plane.columns + column] = -2;
    }
  }
  return found;
}
