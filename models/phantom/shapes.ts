import { type Point, type Pose, place } from './geometry.ts';

/**
 * A region. `distance` is in mm, negative inside and zero on the border. The whole region is inside
 * `reach`.
 */
export interface Shape {
  distance: (x: number, y: number) => number;
  centre: Point;
  reach: number;
}

/** The whole plane, for backgrounds. */
export const everywhere: Shape = {
  distance: () => -1,
  centre: { x: 0, y: 0 },
  reach: Number.POSITIVE_INFINITY,
};

/** Returns an ellipse with semi-axes a along u and b along v, centred at (u, v) of the pose. */
export function ellipse(
  pose: Pose,
  at: { u: number; v: number; a: number; b: number; turn?: number },
): Shape {
  const centre = place(pose, at.u, at.v);
  const angle = pose.angle + (pose.mirror ? -1 : 1) * (at.turn ?? 0);
  const cos = Math.cos(angle);
  const sin = Math.sin(angle);
  const { a, b } = at;
  return {
    centre,
    reach: Math.max(a, b),
    distance: (x, y) => {
      const dx = x - centre.x;
      const dy = y - centre.y;
      const u = (dx * cos + dy * sin) / a;
      const v = (dy * cos - dx * sin) / b;
      const radial = Math.sqrt(u * u + v * v);
      if (radial < 1e-9) return -Math.min(a, b);
      // A first-order distance, exact on the border, where the truth is defined.
      const slope = Math.sqrt((u / a) ** 2 + (v / b) ** 2);
      return (radial * (radial - 1)) / slope;
    },
  };
}

/**
 * Returns all points within `radius` mm of the chain of segments through `points` (u, v of the
 * pose).
 */
export function stroke(
  pose: Pose,
  points: readonly (readonly [number, number])[],
  radius: number,
): Shape {
  const placed = points.map(([u, v]) => place(pose, u, v));
  const centre = {
    x: placed.reduce((sum, p) => sum + p.x, 0) / placed.length,
    y: placed.reduce((sum, p) => sum + p.y, 0) / placed.length,
  };
  const reach = radius + Math.max(...placed.map((p) => Math.hypot(p.x - centre.x, p.y - centre.y)));
  return {
    centre,
    reach,
    distance: (x, y) => {
      let nearest = Number.POSITIVE_INFINITY;
      for (let i = 1; i < placed.length; i++) {
        const from = placed[i - 1] as Point;
        const to = placed[i] as Point;
        const dx = to.x - from.x;
        const dy = to.y - from.y;
        const along = ((x - from.x) * dx + (y - from.y) * dy) / (dx * dx + dy * dy);
        const t = Math.max(0, Math.min(1, along));
        const ex = x - from.x - t * dx;
        const ey = y - from.y - t * dy;
        nearest = Math.min(nearest, ex * ex + ey * ey);
      }
      return Math.sqrt(nearest) - radius;
    },
  };
}

/** Returns the shape enlarged by `by` mm on all sides. */
export function grown(shape: Shape, by: number): Shape {
  return {
    centre: shape.centre,
    reach: shape.reach + by,
    distance: (x, y) => shape.distance(x, y) - by,
  };
}

/**
 * Returns the outermost layer of the shape, `thickness` mm deep. The thickness may vary with
 * position.
 */
export function rim(shape: Shape, thickness: number | ((x: number, y: number) => number)): Shape {
  const depth = typeof thickness === 'number' ? () => thickness : thickness;
  return {
    ...shape,
    distance: (x, y) => {
      const d = shape.distance(x, y);
      return d >= 0 ? d : Math.max(d, -d - depth(x, y));
    },
  };
}

/** Returns the part of `shape` outside of all `gaps`. */
export function without(shape: Shape, gaps: readonly Shape[]): Shape {
  return {
    ...shape,
    distance: (x, y) => {
      let d = shape.distance(x, y);
      if (d >= 0) return d;
      for (const gap of gaps) d = Math.max(d, -gap.distance(x, y));
      return d;
    },
  };
}

/** Returns the part of `shape` inside `other`. */
export function within(shape: Shape, other: Shape): Shape {
  return { ...shape, distance: (x, y) => Math.max(shape.distance(x, y), other.distance(x, y)) };
}
