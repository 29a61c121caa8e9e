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

/** Sums of the products of two profiles up to each row, `b` taken `shift` rows further down. */
function sumsOfProducts(a: Float32Array, b: Float32Array, shift: number): Float64Array {
  const sums = new Float64Array(a.length + 1);
  const last = Math.min(a.length, b.length - shift);
  for (let row = Math.max(0, -shift); row < last; row++) {
    sums[row + 1] = (sums[row] ?? 0) + (a[row] ?? 0) * (b[row + shift] ?? 0);
  }
  return sums.fill(sums[Math.max(0, last)] ?? 0, Math.max(0, last) + 1);
}

/**
 * Normalised correlation of two profiles about every third row of the first, the second `shift` rows
 * further down. From sums up to each row, so that the window costs nothing.
 */
function correlations(
  one: Profile,
  other: Profile,
  shift: number,
  reach: number,
  into: Float64Array,
): void {
  const rows = one.levels.length;
  const products = sumsOfProducts(one.levels, other.levels, shift);
  for (let place = 0, row = 0; place < into.length; place++, row += MATCH.rows) {
    const from = Math.max(0, row - reach, -shift);
    const to = Math.min(rows, row + reach + 1, rows - shift);
    const cross = (products[to] ?? 0) - (products[from] ?? 0);
    const first = (one.squares[to] ?? 0) - (one.squares[from] ?? 0);
    const second = (other.squares[to + shift] ?? 0) - (other.squares[from + shift] ?? 0);
    into[place] = to > from && first > 0 && second > 0 ? cross / Math.sqrt(first * second) : 0;
  }
}

/** Levels over depth at one time, and the sums of their squares up to each row. */
interface Profile {
  levels: Float32Array;
  squares: Float64Array;
}

/**
 * How the texture of an M-mode moves: rows per sample at each place, down positive, by matching the
 * profile over depth with that of a later sample. 0 where nothing matches.
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
  // One shift more on each side: the best is refined between its neighbours.
  const scores = Array.from({ length: 2 * farthest + 3 }, () => new Float64Array(places));
  const at = (shift: number, place: number) => scores[shift + farthest + 1]?.[place] ?? 0;
  for (const [column, one] of profiles.entries()) {
    const other = profiles[column + MATCH.lag];
    if (!other) break;
    for (const [n, into] of scores.entries()) {
      correlations(one, other, n - farthest - 1, reach, into);
    }
    for (let place = 0; place < places; place++) {
      let best = 0;
      let top = at(0, place);
      for (let shift = -farthest; shift <= farthest; shift++) {
        const here = at(shift, place);
        if (here > top) [top, best] = [here, shift];
      }
      const [before, after] = [at(best - 1, place), at(best + 1, place)];
      const curvature = before - 2 * top + after;
      const offset = curvature < 0 ? (before - after) / (2 * curvature) : 0;
      const slope = top >= MATCH.least ? (best + offset) / MATCH.lag : 0;
      const end = Math.min(rows, (place + 1) * MATCH.rows);
      for (let row = place * MATCH.rows; row < end; row++) slopes[row * columns + column] = slope;
    }
  }
  return slopes;
}
