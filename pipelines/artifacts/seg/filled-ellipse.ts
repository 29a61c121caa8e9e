type Pair = readonly [number, number];

/**
 * The pixels whose centre lies inside an ellipse or on its edge. The axes may be conjugate diameters,
 * as they are where the pixel spacing differs by axis.
 * @param points both ends of the one, then of the other axis, pixel-centre coordinates.
 * @returns 1 inside, 0 outside, row by row.
 * @throws RangeError when there are not four points.
 */
export function filledEllipse(points: readonly Pair[], columns: number, rows: number): Uint8Array {
  const [a, b, c, d] = points;
  if (points.length !== 4 || !a || !b || !c || !d) {
    throw new RangeError('an ellipse has four points');
  }
  const centre: Pair = [(a[0] + b[0] + c[0] + d[0]) / 4, (a[1] + b[1] + c[1] + d[1]) / 4];
  const u: Pair = [(b[0] - a[0]) / 2, (b[1] - a[1]) / 2];
  const v: Pair = [(d[0] - c[0]) / 2, (d[1] - c[1]) / 2];
  const determinant = u[0] * v[1] - u[1] * v[0];
  const pixels = new Uint8Array(columns * rows);
  if (determinant === 0) return pixels;
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const x = column - centre[0];
      const y = row - centre[1];
      // The point as s·u + t·v: inside the unit circle of (s, t) is inside the ellipse.
      const s = (x * v[1] - y * v[0]) / determinant;
      const t = (u[0] * y - u[1] * x) / determinant;
      if (s * s + t * t <= 1) pixels[row * columns + column] = 1;
    }
  }
  return pixels;
}
