import type { MModePlane } from './m-mode-plane.ts';
import { textureSlopes } from './texture-slope.ts';
import { steadied } from './waves.ts';

/** Down the screen, away from the probe: an edge into the brighter, or into the darker. */
export type EdgeKind = 'brighter' | 'darker';

export const EDGE_PATH = {
  /** cm above and below an edge whose levels are compared. */
  reach: 0.3,
  /** Samples over which an edge is averaged. */
  columns: 3,
  /** Fastest wall, cm/s. */
  fastest: 30,
  /** What a row away from the way that the texture moves costs, in the strength of an edge. */
  bend: 0.07,
  /** Grey levels of an echo so faint that its edge counts half. */
  faint: 25,
} as const;

/**
 * The strength of an edge at each place: the difference between the levels below and above it over
 * their mean, so that a deep faint wall counts like a near bright one.
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
      const at = (r: number) => sums[r * columns + column] ?? 0;
      const step = (at(row + reach) - 2 * at(row) + at(row - reach)) / reach;
      const level = (at(row + reach) - at(row - reach)) / (2 * reach);
      const strength = step / (level + EDGE_PATH.faint);
      vertical[row * columns + column] = kind === 'brighter' ? strength : -strength;
    }
  }
  return averagedOverTime(vertical, columns, rows);
}

/** Half the height of an echo that is a line, and how far beside it is compared, cm. */
const LINE = { half: 0.12, beside: 0.35 } as const;

/** The strength of a bright line at each place: its level over the mean of those above and below. */
export function linesOf({ columns, rows, levels, depthPerRow }: MModePlane): Float32Array {
  const half = Math.max(1, Math.round(LINE.half / depthPerRow));
  const beside = Math.round(LINE.beside / depthPerRow);
  const result = new Float32Array(rows * columns);
  for (let row = beside + half; row + beside + half < rows; row++) {
    for (let column = 0; column < columns; column++) {
      let centre = 0;
      let around = 0;
      for (let k = -half; k <= half; k++) {
        const level = (at: number) => levels[(row + k + at) * columns + column] ?? 0;
        centre += level(0);
        around += (level(-beside) + level(beside)) / 2;
      }
      result[row * columns + column] = (centre - around) / ((2 * half + 1) * FULL_CONTRAST);
    }
  }
  return averagedOverTime(result, columns, rows);
}

/** Grey levels of a line above its surroundings that count as much as a full edge. */
const FULL_CONTRAST = 60;

function averagedOverTime(plane: Float32Array, columns: number, rows: number): Float32Array {
  const half = EDGE_PATH.columns >> 1;
  const result = new Float32Array(plane.length);
  for (let row = 0; row < rows; row++) {
    const from = row * columns;
    let sum = 0;
    let count = 0;
    for (let k = 0; k < half; k++, count++) sum += plane[from + k] ?? 0;
    for (let column = 0; column < columns; column++) {
      if (column + half < columns) {
        sum += plane[from + column + half] ?? 0;
        count++;
      }
      if (column - half - 1 >= 0) {
        sum -= plane[from + column - half - 1] ?? 0;
        count--;
      }
      result[from + column] = sum / count;
    }
  }
  return result;
}

export interface EdgePath {
  /** Row of the plane by column. */
  rows: Float64Array;
  /** Mean strength of the edge along the path, 0 to about 2. */
  strength: number;
}

/** Rows within which a path may run in a column. */
export type Band = (column: number) => readonly [number, number];

/**
 * The strongest continuous edge from the first to the last column within a band: dynamic
 * programming over the rows, no faster than a wall moves and along the texture about it. Null where the band is empty.
 */
export function strongestPath(
  plane: MModePlane,
  edges: Float32Array,
  slopes: Float32Array,
  band: Band = () => [0, plane.rows - 1],
): EdgePath | null {
  const { columns, rows, secondsPerColumn, depthPerRow } = plane;
  const step = Math.max(1, Math.ceil((EDGE_PATH.fastest * secondsPerColumn) / depthPerRow));
  let best = new Float64Array(rows).fill(Number.NEGATIVE_INFINITY);
  const from = new Int16Array(rows * columns);
  for (let column = 0; column < columns; column++) {
    const next = new Float64Array(rows).fill(Number.NEGATIVE_INFINITY);
    const [low, high] = band(column);
    for (let row = Math.max(0, Math.ceil(low)); row <= Math.min(rows - 1, high); row++) {
      let top = column === 0 ? 0 : Number.NEGATIVE_INFINITY;
      let before = row;
      if (column > 0) {
        for (let k = -step; k <= step; k++) {
          const moved = -k - (slopes[(row + k) * columns + column - 1] ?? 0);
          const cost = EDGE_PATH.bend * moved * moved;
          const score = (best[row + k] ?? Number.NEGATIVE_INFINITY) - cost;
          if (score > top) [top, before] = [score, row + k];
        }
      }
      next[row] = top + (edges[row * columns + column] ?? 0);
      from[row * columns + column] = before;
    }
    best = next;
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

/** cm about a path within which its edge lies, and over which its levels are compared. */
const EXACT = { within: 0.15, reach: 0.1 } as const;

/**
 * The rows of a path moved to the steepest change of level near it: relative strength, by which a
 * path is found, draws it towards the darker side.
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
 * Distinct paths along edges or lines (`edgesOf`, `linesOf`), the strongest first, no two nearer than
 * `apart` rows on average.
 */
export function severalPaths(
  plane: MModePlane,
  strengths: Float32Array,
  count: number,
  apart: number,
  band?: Band,
): EdgePath[] {
  const edges = strengths.slice();
  const slopes = textureSlopes(plane);
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
