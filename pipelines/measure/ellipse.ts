import type { Ellipse, PixelScale, Point } from '../contract/image.ts';

/** Returns the distance in mm between two points in pixels. Each axis has its own scale. */
export function distance(from: Point, to: Point, scale: PixelScale): number {
  return Math.hypot((to.x - from.x) * scale.x, (to.y - from.y) * scale.y);
}

/** Returns the perimeter of an ellipse from its semi-axes (Ramanujan 1914, first approximation). */
export function perimeter(a: number, b: number): number {
  return Math.PI * (3 * (a + b) - Math.sqrt((3 * a + b) * (a + 3 * b)));
}

/**
 * Converts an ellipse from pixels to mm. The result is also an ellipse, but its axes have other
 * directions if the scales of x and y differ. In the result, `a >= b`, and `angle` is the direction
 * of `a`.
 */
export function toMillimetres(ellipse: Ellipse, scale: PixelScale): Ellipse {
  const cos = Math.cos(ellipse.angle);
  const sin = Math.sin(ellipse.angle);
  // Columns of the matrix that maps the unit circle to the ellipse.
  const ux = ellipse.a * cos * scale.x;
  const uy = ellipse.a * sin * scale.y;
  const vx = -ellipse.b * sin * scale.x;
  const vy = ellipse.b * cos * scale.y;
  // The semi-axes are the singular values of this matrix M. They are calculated from the
  // eigenvalues of M Mᵀ.
  const xx = ux * ux + vx * vx;
  const yy = uy * uy + vy * vy;
  const xy = ux * uy + vx * vy;
  const mean = (xx + yy) / 2;
  const spread = Math.hypot((xx - yy) / 2, xy);
  return {
    centre: { x: ellipse.centre.x * scale.x, y: ellipse.centre.y * scale.y },
    a: Math.sqrt(mean + spread),
    b: Math.sqrt(Math.max(mean - spread, 0)),
    angle: Math.atan2(2 * xy, xx - yy) / 2,
  };
}

/**
 * Returns the two ends of the axis `a`, then the two ends of the axis `b`, in the same coordinates
 * as the ellipse.
 */
export function axisEnds({ centre, a, b, angle }: Ellipse): [Point, Point, Point, Point] {
  const along = (length: number, direction: number): [Point, Point] => {
    const dx = length * Math.cos(direction);
    const dy = length * Math.sin(direction);
    return [
      { x: centre.x - dx, y: centre.y - dy },
      { x: centre.x + dx, y: centre.y + dy },
    ];
  };
  return [...along(a, angle), ...along(b, angle + Math.PI / 2)];
}

/** Returns the smallest upright rectangle around an ellipse, as two opposite corners. */
export function extent({ centre, a, b, angle }: Ellipse): [Point, Point] {
  const dx = Math.hypot(a * Math.cos(angle), b * Math.sin(angle));
  const dy = Math.hypot(a * Math.sin(angle), b * Math.cos(angle));
  return [
    { x: centre.x - dx, y: centre.y - dy },
    { x: centre.x + dx, y: centre.y + dy },
  ];
}
