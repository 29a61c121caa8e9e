import { type Point, type Pose, place } from './geometry.ts';
import { createNoise, type Random } from './random.ts';
import { ellipse, grown, rim, type Shape, stroke, within } from './shapes.ts';
import type { FetalSizes } from './sizes.ts';
import { type Layer, TISSUE } from './tissue.ts';

/** A thigh in its pose. `ends` (mm) are the outer ends of the ossified diaphysis. */
interface Femur {
  layers: Layer[];
  ends: [Point, Point];
  surface: Shape;
}

/**
 * Returns the shape of the diaphysis: a rod along u with square ends, bowed by `bow` mm. `half` and
 * `thickness` are its half length and half thickness.
 */
function diaphysis(pose: Pose, half: number, thickness: number, bow: number): Shape {
  const cos = Math.cos(pose.angle);
  const sin = Math.sin(pose.angle);
  const side = pose.mirror ? -1 : 1;
  return {
    centre: place(pose, 0, 0),
    reach: Math.hypot(half, thickness + Math.abs(bow)),
    distance: (x, y) => {
      const dx = x - pose.centre.x;
      const dy = y - pose.centre.y;
      const u = dx * cos + dy * sin;
      const v = (dy * cos - dx * sin) * side;
      const t = Math.min(1, Math.abs(u) / half);
      // The shaft widens a little towards the metaphyses.
      const width = thickness * (1 + 0.35 * t ** 4);
      return Math.max(Math.abs(u) - half, Math.abs(v - bow * (1 - t * t)) - width);
    },
  };
}

/**
 * Returns a function for the change of level, in dB, caused by muscle fibres. The fibres run along
 * the bone, so the level varies quickly across the bone and slowly along it.
 */
function fibrous(pose: Pose, random: Random): (x: number, y: number) => number {
  const grain = createNoise(random.fork('fibres'), 1);
  const depth = random.range(5, 12);
  const cos = Math.cos(pose.angle);
  const sin = Math.sin(pose.angle);
  return (x, y) => depth * grain((x * cos + y * sin) / 7, (y * cos - x * sin) / 0.9);
}

/**
 * Builds a long-axis view of the thigh with both ends of the diaphysis visible (ISUOG 2019, FL
 * plane).
 */
export function buildFemur(sizes: FetalSizes, pose: Pose, random: Random): Femur {
  const half = sizes.flMm / 2;
  const thickness = random.range(0.7, 1) + 0.022 * half;
  const bow = random.normal(0, 0.02) * half;
  const shaft = diaphysis(pose, half, thickness, bow);
  const flesh = half * random.range(0.3, 0.5);
  const knee = half * random.range(0.18, 0.24) + 1;
  const hip = half * random.range(0.2, 0.26) + 1;
  const offset = random.normal(0, 0.15) * flesh;
  const surface = stroke(
    pose,
    [
      [-half - 0.5 * hip, offset],
      [half + 0.6 * knee, offset * 0.5],
    ],
    flesh + thickness,
  );
  const skin = random.range(0.6, 1.2);
  const epiphysis = (u: number, radius: number, above: number) =>
    ellipse(pose, { u, v: above, a: radius, b: radius * 1.05 });
  const heads = [
    epiphysis(-half - 0.8 * hip, hip, -0.15 * hip),
    epiphysis(half + 0.85 * knee, knee, 0),
  ];
  const fibres = Array.from({ length: random.integer(3, 9) }, (): Layer => {
    const v = random.range(-0.85, 0.85) * flesh;
    const u = random.range(-0.9, 0.6) * half;
    const length = random.range(0.2, 0.6) * half;
    return {
      shape: stroke(
        pose,
        [
          [u, v],
          [u + length, v + random.normal(0, 0.06) * length],
        ],
        random.range(0.2, 0.5),
      ),
      tissue: TISSUE.fascia,
    };
  });
  const soft: Layer[] = [
    { shape: grown(surface, -skin), tissue: TISSUE.muscle, modulation: fibrous(pose, random) },
    ...fibres,
    ...heads.flatMap((shape) => [
      { shape: grown(shape, 0.5), tissue: TISSUE.subcutis },
      { shape, tissue: TISSUE.cartilage },
    ]),
  ];
  return {
    surface,
    ends: [place(pose, -half, 0), place(pose, half, 0)],
    layers: [
      { shape: surface, tissue: TISSUE.subcutis },
      { shape: rim(surface, skin), tissue: TISSUE.skin },
      ...soft.map((layer) => ({ ...layer, shape: within(layer.shape, surface) })),
      { shape: shaft, tissue: TISSUE.diaphysis, rigid: true },
    ],
  };
}
