import { type Point, type Pose, place } from '../geometry.ts';
import { ellipse, type Shape, stroke } from '../shapes.ts';
import type { Tissue } from '../tissue.ts';

/** Along (u) and across (v) a part of the fetus, in its units. */
export type UV = readonly [u: number, v: number];

/** Tissues of a fetus of 11 to 14 weeks that differ from those of `TISSUE`: bone is still thin. */
export const MEDIAN_TISSUE = {
  body: { echo: -33, loss: 0.01, texture: 6 },
  faceBone: { echo: -15, mirror: 2, loss: 0.5, texture: 3, rough: 8 },
  nuchalLine: { echo: -17, mirror: 3, loss: 0.05, texture: 3, rough: 6 },
} as const satisfies Record<string, Tissue>;

/** Draws in the units of a part that lies as `pose` says. `unit` in mm; so is the radius of a line. */
export function unitFrame(pose: Pose, unit: number) {
  return {
    at: (u: number, v: number): Point => place(pose, u * unit, v * unit),
    oval: (u: number, v: number, a: number, b: number, turn = 0): Shape =>
      ellipse(pose, { u: u * unit, v: v * unit, a: a * unit, b: b * unit, turn }),
    line: (points: readonly UV[], radius: number): Shape =>
      stroke(
        pose,
        points.map(([u, v]) => [u * unit, v * unit] as const),
        radius,
      ),
  };
}
