import type { MModePlane } from './m-mode-plane.ts';

const MATCH = {
  /** cm above and below a place whose texture is compared. */
  window: 0.6,
  /** Samples of time between the two profiles, which are means of two samples each. */
  lag: 2,
  /** Fastest wall, cm/s. */
  fastest: 30,
  /** Correlation from which a match is believed. */
  least: 0.3,
  /** Every so many rows a place is matched; those between take the nearest. */
  rows: 3,
} as const;

/**
 * Levels with their slow change over depth taken off, each the mean of two samples and three rows;
 * column after column, for profiles over depth are compared.
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

/** Normalised correlation of two profiles about two rows. */
function correlation(
  profiles: Float32Array,
  { rows }: MModePlane,
  one: { row: number; column: number },
  other: { row: number; column: number },
  reach: number,
): number {
  let cross = 0;
  let first = 0;
  let second = 0;
  for (let k = -reach; k <= reach; k++) {
    const a = one.row + k;
    const b = other.row + k;
    if (a < 0 || b < 0 || a >= rows || b >= rows) continue;
    const x = profiles[one.column * rows + a] ?? 0;
    const y = profiles[other.column * rows + b] ?? 0;
    cross += x * y;
    first += x * x;
    second += y * y;
  }
  return first > 0 && second > 0 ? cross / Math.sqrt(first * second) : 0;
}

/**
 * How the texture of an M-mode moves: rows per sample at each place, down positive, by matching the
 * profile over depth with that of a later sample. 0 where nothing matches.
 */
export function textureSlopes(plane: MModePlane): Float32Array {
  const { columns, rows, depthPerRow, secondsPerColumn } = plane;
  const reach = Math.max(4, Math.round(MATCH.window / depthPerRow));
  const farthest = Math.ceil((MATCH.fastest * secondsPerColumn * MATCH.lag) / depthPerRow);
  const levels = texture(plane, reach);
  const slopes = new Float32Array(rows * columns);
  for (let row = 0; row < rows; row += MATCH.rows) {
    for (let column = 0; column + MATCH.lag < columns; column++) {
      const score = (shift: number) =>
        correlation(
          levels,
          plane,
          { row, column },
          { row: row + shift, column: column + MATCH.lag },
          reach,
        );
      let best = 0;
      let top = score(0);
      for (let shift = -farthest; shift <= farthest; shift++) {
        const here = score(shift);
        if (here > top) [top, best] = [here, shift];
      }
      const [before, after] = [score(best - 1), score(best + 1)];
      const curvature = before - 2 * top + after;
      const offset = curvature < 0 ? (before - after) / (2 * curvature) : 0;
      const slope = top >= MATCH.least ? (best + offset) / MATCH.lag : 0;
      for (let k = 0; k < MATCH.rows && row + k < rows; k++) {
        slopes[(row + k) * columns + column] = slope;
      }
    }
  }
  return slopes;
}
