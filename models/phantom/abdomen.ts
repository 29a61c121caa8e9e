import type { Ellipse, Pose } from './geometry.ts';
import type { Random } from './random.ts';
import { ellipse, grown, rim, type Shape, stroke, within } from './shapes.ts';
import type { FetalSizes } from './sizes.ts';
import { type Layer, risingFrom, TISSUE } from './tissue.ts';

/** An abdomen in its pose. `outline` (mm) is the outer border of the skin. */
interface Abdomen {
  layers: Layer[];
  outline: Ellipse;
  surface: Shape;
}

/** Axes of the trunk: u from the spine (-1) to the front (+1), v from right (-1) to left (+1). */
interface Axes {
  pose: Pose;
  a: number;
  b: number;
}

function oval(trunk: Axes, u: number, v: number, a: number, b: number, turn = 0): Shape {
  const { pose } = trunk;
  return ellipse(pose, { u: u * trunk.a, v: v * trunk.b, a: a * trunk.a, b: b * trunk.b, turn });
}

function line(trunk: Axes, points: readonly (readonly [number, number])[], radius: number): Shape {
  return stroke(
    trunk.pose,
    points.map(([u, v]) => [u * trunk.a, v * trunk.b] as const),
    radius,
  );
}

/** Builds the spine in cross-section: three ossification centres around the spinal canal. */
function spine(trunk: Axes, random: Random): Layer[] {
  const size = Math.max(0.9, 0.055 * trunk.a) * random.range(0.85, 1.2);
  const gap = 0.085;
  const at = (u: number, v: number, scale: number): Layer => ({
    shape: line(
      trunk,
      [
        [u, v * 0.9],
        [u, v * 1.1 + 0.012],
      ],
      size * scale,
    ),
    tissue: TISSUE.vertebra,
  });
  return [
    { shape: oval(trunk, -0.72, 0, 0.2, 0.22), tissue: TISSUE.muscle },
    { shape: oval(trunk, -0.74, 0, 0.045, 0.05), tissue: TISSUE.fetalFluid },
    at(-0.62, 0, 1.3),
    at(-0.84, gap, 0.8),
    at(-0.84, -gap, 0.8),
  ];
}

/**
 * Builds one symmetrical pair of ribs just below the subcutis. It is the sign of a true transverse
 * plane.
 */
function ribs(trunk: Axes, random: Random): Layer[] {
  if (random.chance(0.25)) return [];
  const depth = random.range(0.86, 0.9);
  const start = random.range(1.9, 2.3);
  const length = random.range(0.3, 0.9);
  const half = Math.max(0.5, 0.018 * trunk.a);
  return [1, -1].map((side) => {
    const points = Array.from({ length: 7 }, (_, i) => {
      const angle = start - (length * i) / 6;
      return [depth * Math.cos(angle), side * depth * Math.sin(angle)] as const;
    });
    return { shape: line(trunk, points, half), tissue: TISSUE.rib };
  });
}

/**
 * Builds the stomach on the left side of the fetus, and the umbilical vein, which enters in front
 * and bends to the right at the portal sinus.
 */
function stomachAndVein(trunk: Axes, random: Random): Layer[] {
  const stomach = oval(
    trunk,
    random.range(-0.2, 0.05),
    random.range(0.42, 0.55),
    random.range(0.13, 0.26),
    random.range(0.1, 0.18),
    random.normal(0, 0.5),
  );
  const width = random.range(0.045, 0.075) * trunk.a;
  const from = random.range(0.3, 0.55);
  const bend = random.range(0.08, 0.2);
  const vein = line(
    trunk,
    [
      [from, random.normal(0, 0.04)],
      [bend + 0.06, 0],
      [bend - 0.04, -0.08],
      [bend - random.range(0.06, 0.16), random.range(-0.32, -0.2)],
    ],
    width,
  );
  return [
    { shape: grown(stomach, 0.7), tissue: TISSUE.vesselWall },
    { shape: stomach, tissue: TISSUE.fetalFluid },
    { shape: grown(vein, 0.5), tissue: TISSUE.vesselWall },
    { shape: vein, tissue: TISSUE.fetalFluid },
  ];
}

function greatVessels(trunk: Axes, random: Random): Layer[] {
  const aorta = oval(trunk, -0.42, random.range(0.05, 0.14), 0.045, 0.045);
  const cava = oval(trunk, -0.28, random.range(-0.2, -0.12), 0.05, 0.05);
  return [aorta, cava].flatMap((shape) => [
    { shape: grown(shape, 0.5), tissue: TISSUE.vesselWall },
    { shape, tissue: TISSUE.fetalFluid },
  ]);
}

/**
 * Builds portal tracts, adrenals and bowel as short strokes. Without them the liver would be
 * uniform.
 */
function parenchyma(trunk: Axes, random: Random): Layer[] {
  return Array.from({ length: random.integer(12, 34) }, () => {
    const angle = random.range(0, 2 * Math.PI);
    const depth = random.range(0.2, 0.75);
    const u = depth * Math.cos(angle);
    const v = depth * Math.sin(angle);
    return {
      shape: line(
        trunk,
        [
          [u, v],
          [u + random.normal(0, 0.05), v + random.normal(0, 0.07)],
        ],
        random.range(0.3, 1.6),
      ),
      tissue: random.pick([TISSUE.vesselWall, TISSUE.bowel, TISSUE.kidney, TISSUE.subcutis]),
    };
  });
}

/**
 * Builds a transverse section at the level of the stomach and the portal sinus (ISUOG 2019, AC
 * plane).
 */
export function buildAbdomen(sizes: FetalSizes, pose: Pose, random: Random): Abdomen {
  const a = sizes.apadMm / 2;
  const b = sizes.tadMm / 2;
  const trunk: Axes = { pose, a, b };
  const surface = ellipse(pose, { u: 0, v: 0, a, b });
  const skin = random.range(0.6, 1.1) + a / 90;
  const subcutis = random.range(1, 2.2) + a / 30;
  const wall = grown(surface, -skin - subcutis);
  const organs = [
    ...parenchyma(trunk, random.fork('parenchyma')),
    ...spine(trunk, random.fork('spine')),
    ...greatVessels(trunk, random.fork('vessels')),
    ...stomachAndVein(trunk, random.fork('stomach')),
    ...ribs(trunk, random.fork('ribs')),
  ];
  const turned = a >= b ? pose.angle : pose.angle + Math.PI / 2;
  return {
    surface,
    outline: {
      centre: pose.centre,
      a: Math.max(a, b),
      b: Math.min(a, b),
      angle: turned,
    },
    layers: [
      { shape: surface, tissue: TISSUE.subcutis, rigid: true },
      {
        shape: rim(surface, skin),
        tissue: TISSUE.skin,
        rigid: true,
        modulation: risingFrom(surface, { depthMm: 0.7, dip: 14 }),
      },
      { shape: rim(grown(wall, 0.9), 0.9), tissue: TISSUE.fascia },
      { shape: wall, tissue: TISSUE.liver },
      ...organs.map((layer) => ({ ...layer, shape: within(layer.shape, surface) })),
    ],
  };
}
