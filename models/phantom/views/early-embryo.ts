import { type Point, type Pose, place } from '../geometry.ts';
import type { Random } from '../random.ts';
import { ellipse, type Shape } from '../shapes.ts';
import { type Layer, TISSUE } from '../tissue.ts';

/** An embryo in its pose; u runs from crown (-) to rump (+). */
export interface Embryo {
  layers: Layer[];
  outline: Shape;
  crown: Point;
  rump: Point;
}

export const EMBRYO = { echo: -24, loss: 0.01, texture: 3 };
const HEAD_FLUID = { echo: -50, loss: 0, texture: 2 };

/** The union of shapes: inside where it is inside one of them. */
function joined(shapes: readonly [Shape, ...Shape[]]): Shape {
  const [{ centre }] = shapes;
  const reach = Math.max(
    ...shapes.map((s) => s.reach + Math.hypot(s.centre.x - centre.x, s.centre.y - centre.y)),
  );
  return { centre, reach, distance: (x, y) => Math.min(...shapes.map((s) => s.distance(x, y))) };
}

/**
 * Head and trunk that touch both ends of the crown-rump length; a bean below 8 mm, where the two
 * are not told apart. `beat` runs from -1 (systole) to 1 (diastole): the heart grows and darkens.
 */
export function buildEmbryo(pose: Pose, crlMm: number, beat: number, random: Random): Embryo {
  const half = crlMm / 2;
  const bean = crlMm < 8;
  const thickness = Math.max(0.9, half * random.range(0.4, 0.5));
  const headShare = bean ? 0.3 : random.range(0.42, 0.5);
  const head = ellipse(pose, {
    u: -half * (1 - headShare),
    v: 0,
    a: half * headShare,
    b: Math.max(0.85 * thickness, half * headShare * 0.8),
  });
  const trunk = ellipse(pose, {
    u: half * (1 - (bean ? 0.75 : 0.6)),
    v: 0,
    a: half * (bean ? 0.75 : 0.6),
    b: thickness * (bean ? 0.9 : 1),
  });
  const neck = ellipse(pose, {
    u: -0.1 * half,
    v: 0.1 * thickness,
    a: 0.45 * half,
    b: 0.75 * thickness,
  });
  const outline = joined([head, trunk, neck]);
  const heartMm = Math.max(0.7, 0.1 * crlMm) * (1 + 0.3 * beat);
  const heart = ellipse(pose, {
    u: 0.12 * half,
    v: -0.35 * thickness,
    a: heartMm,
    b: 0.8 * heartMm,
  });
  const limbs = bean
    ? []
    : [0.2, 0.75].map((u) =>
        ellipse(pose, {
          u: u * half,
          v: -1.1 * thickness,
          a: 0.1 * half,
          b: 0.35 * thickness,
          turn: 0.3,
        }),
      );
  const ventricle = ellipse(pose, {
    u: -half * (1 - headShare),
    v: 0,
    a: 0.4 * half * headShare,
    b: 0.35 * half * headShare,
  });
  return {
    outline,
    crown: place(pose, -half, 0),
    rump: place(pose, half, 0),
    layers: [
      ...limbs.map((shape) => ({ shape, tissue: EMBRYO })),
      { shape: outline, tissue: EMBRYO, rigid: true as const },
      ...(crlMm > 14 ? [{ shape: ventricle, tissue: HEAD_FLUID }] : []),
      {
        shape: heart,
        tissue: TISSUE.fetalFluid,
        // Blood brightens as the walls close on it.
        modulation: () => 14 - 12 * beat,
      },
    ],
  };
}
