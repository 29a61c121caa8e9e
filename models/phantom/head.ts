import { cortex, type HeadAxes, type HeadPlane, INTRACRANIAL, line, type UV } from './brain.ts';
import type { Ellipse, Pose } from './geometry.ts';
import { createNoise, type Random } from './random.ts';
import { ellipse, grown, rim, type Shape, within, without } from './shapes.ts';
import type { FetalSizes } from './sizes.ts';
import { type Layer, risingFrom, TISSUE } from './tissue.ts';

/** A head in its pose: its layers, and the outer border of its skull in mm. */
interface Head {
  layers: Layer[];
  outline: Ellipse;
  /** Border of the whole head, including the scalp. */
  surface: Shape;
}

/** Builds the structures inside the skull. `boneMm` is the thickness of the surrounding bone. */
type Contents = (head: HeadAxes, random: Random, boneMm: number) => Layer[];

/**
 * Builds the sutures: echo-free gaps between the bones, one beam width wide. They do not change the
 * outline.
 */
function sutures(head: HeadAxes, random: Random): Shape[] {
  return Array.from({ length: random.integer(0, 3) }, () => {
    const angle = random.range(0, 2 * Math.PI);
    const at: UV = [Math.cos(angle), Math.sin(angle)];
    return line(
      head,
      [
        [0.9 * at[0], 0.9 * at[1]],
        [1.1 * at[0], 1.1 * at[1]],
      ],
      random.range(0.5, 1.4),
    );
  });
}

/** Builds an axial section of a fetal head. The true outline is the outer border of the skull. */
export function buildHead(
  plane: HeadPlane,
  sizes: FetalSizes,
  pose: Pose,
  random: Random,
  inside: Contents = INTRACRANIAL[plane],
): Head {
  const a = sizes.ofdMm / 2;
  const b = sizes.bpdMm / 2;
  const head: HeadAxes = { pose, a, b };
  const outer = ellipse(pose, { u: 0, v: 0, a, b });
  const scalp = random.range(1.2, 2 + a / 25);
  const bone = random.range(1.2, 1.6) + a / 60;
  const uneven = createNoise(random.fork('bone'), random.range(6, 14));
  const boneAt = (x: number, y: number) => bone * (1 + 0.3 * uneven(x, y));
  const withinBone = grown(outer, -0.7 * bone);
  const haze = random.range(0, 9);
  const surface = grown(outer, scalp);
  const contents = inside(head, random.fork(plane), bone);
  const brain: Layer = {
    shape: withinBone,
    tissue: TISSUE.brain,
    rigid: true,
    // Reverberation from the skull above covers the near hemisphere.
    modulation: (_, y) => haze * Math.max(0, Math.min(1, 0.4 - (y - pose.centre.y) / b)),
  };
  return {
    surface,
    outline: { centre: pose.centre, a, b, angle: pose.angle },
    layers: [
      { shape: surface, tissue: TISSUE.scalp, rigid: true },
      brain,
      ...[...cortex(head, random.fork('cortex')), ...contents].map((layer) => ({
        ...layer,
        shape: within(layer.shape, withinBone),
      })),
      {
        shape: without(rim(outer, boneAt), sutures(head, random.fork('sutures'))),
        tissue: TISSUE.skull,
        rigid: true,
        modulation: risingFrom(outer, { depthMm: 0.8, dip: 20 }),
      },
    ],
  };
}
