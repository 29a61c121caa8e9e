import type { Point } from '../geometry.ts';

/** A pocket counts from this width on (AIUM 2018), mm. */
const WIDTH_MM = 10;

export interface Depth {
  mm: number;
  /** Pixels. */
  top: Point;
  bottom: Point;
}

/** Fluid to the left and right of a place, itself included, in pixels. */
function widthAt(fluid: Uint8Array, columns: number, column: number, row: number): number {
  const at = (c: number) => c >= 0 && c < columns && fluid[row * columns + c] === 1;
  let left = column;
  let right = column;
  while (at(left - 1)) left--;
  while (at(right + 1)) right++;
  return right - left + 1;
}

/**
 * The deepest vertical pocket of a mask: the longest column of nothing but fluid whose middle lies
 * where the pocket is at least 10 mm wide. Null: there is none. The truth's own computation: the
 * gateway's must not be used to check itself.
 */
export function deepestPocket(
  fluid: Uint8Array,
  columns: number,
  mmPerPixel: number,
): Depth | null {
  const rows = fluid.length / columns;
  let best: Depth | null = null;
  for (let column = 0; column < columns; column++) {
    let start = -1;
    for (let row = 0; row <= rows; row++) {
      const wet = row < rows && fluid[row * columns + column] === 1;
      if (wet && start < 0) start = row;
      if (wet || start < 0) continue;
      const mm = (row - start) * mmPerPixel;
      const middle = (start + row) >> 1;
      if (
        mm > (best?.mm ?? 0) &&
        widthAt(fluid, columns, column, middle) * mmPerPixel >= WIDTH_MM
      ) {
        best = { mm, top: { x: column, y: start - 0.5 }, bottom: { x: column, y: row - 0.5 } };
      }
      start = -1;
    }
  }
  return best;
}
