type Pair = readonly [number, number];

/**
 * The pixels whose centre lies inside a closed outline, by the even-odd rule.
 * @param points vertices in pixel-centre coordinates, the first not repeated.
 * @returns 1 inside, 0 outside, row by row.
 */
export function filledPolygon(points: readonly Pair[], columns: number, rows: number): Uint8Array {
  const pixels = new Uint8Array(columns * rows);
  for (let row = 0; row < rows; row++) {
    const crossings = points.flatMap((from, index) => {
      const to = points[(index + 1) % points.length] ?? from;
      // A vertex on the row belongs to one of its two edges only.
      if (from[1] <= row === to[1] <= row) return [];
      return [from[0] + ((row - from[1]) / (to[1] - from[1])) * (to[0] - from[0])];
    });
    crossings.sort((one, other) => one - other);
    for (let pair = 0; pair + 1 < crossings.length; pair += 2) {
      const first = Math.max(Math.ceil(crossings[pair] ?? 0), 0);
      const last = Math.min(Math.floor(crossings[pair + 1] ?? 0), columns - 1);
      if (first <= last) pixels.fill(1, row * columns + first, row * columns + last + 1);
    }
  }
  return pixels;
}
