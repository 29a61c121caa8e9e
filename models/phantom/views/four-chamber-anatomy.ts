import { type Point, type Pose, place } from '../geometry.ts';
import { createNoise, type Random } from '../random.ts';
import { ellipse, grown, type Shape, stroke } from '../shapes.ts';
import { TISSUE } from '../tissue.ts';
import { buildHeart, type HeartSizes } from './four-chamber-heart.ts';
import { type Piece, wavering } from './scene.ts';

/** A fetal chest across its four chambers; u points to the back, v to the right of the fetus. */
export interface ChestSizes {
  /** Half axes of the thorax outside the ribs, skin excluded, mm. */
  thorax: { u: number; v: number };
  heart: HeartSizes;
  /** Between the line spine to sternum and the septum, to the left, degrees. */
  axisDegrees: number;
  /** Width of the pericardial fluid, mm. */
  effusionMm: number;
}

export interface Chest {
  pieces: Piece[];
  surface: Shape;
  points: Readonly<Record<string, readonly Point[]>>;
}

function ribs(pose: Pose, { u, v }: ChestSizes['thorax'], random: Random): Shape[] {
  const arc = (from: number, to: number): Shape =>
    stroke(
      pose,
      Array.from({ length: 9 }, (_, i) => {
        const t = from + ((to - from) * i) / 8;
        return [0.95 * u * Math.cos(t), 0.95 * v * Math.sin(t)] as const;
      }),
      0.035 * v + 0.3,
    );
  const reach = random.range(1.9, 2.4);
  return [arc(0.35, reach), arc(-reach, -0.35)];
}

/**
 * The chest at a phase of the beat (0 end diastole): thorax, lungs, ribs, spine, descending aorta and
 * the heart, whose base lies near the spine and whose apex points to the front and left.
 */
export function buildChest(pose: Pose, sizes: ChestSizes, phase: number, random: Random): Chest {
  const { thorax, heart, axisDegrees, effusionMm } = sizes;
  const skin = 0.07 * thorax.v + 0.8;
  const noise = createNoise(random.fork('border'), 14);
  const at = (u: number, v: number, a: number, b: number, turn = 0) =>
    ellipse(pose, { u, v, a, b, turn });
  const wall = at(0, 0, thorax.u, thorax.v);
  const body = wavering(grown(wall, skin), noise, 0.4);
  const turn = (axisDegrees * Math.PI) / 180;
  const look = random.fork('look');
  const lung = { echo: look.range(-31, -21), loss: 0.02, texture: 4 };
  const rib = { ...TISSUE.rib, loss: look.range(0.6, 3) };
  const beating = buildHeart(
    pose,
    {
      centre: { u: -0.12 * thorax.u, v: -0.1 * thorax.v },
      direction: Math.atan2(-Math.sin(turn), -Math.cos(turn)),
    },
    heart,
    phase,
    random.fork('heart'),
  );
  const spine = { u: 0.86 * thorax.u, v: 0 };
  const vertebra = 0.09 * thorax.v + 1;
  const pieces: Piece[] = [
    { shape: body, tissue: TISSUE.skin },
    { shape: grown(wall, 0.3), tissue: TISSUE.subcutis },
    { shape: wall, tissue: TISSUE.muscle, structure: 'thorax' },
    { shape: grown(wall, -0.08 * thorax.v), tissue: lung, structure: 'thorax' },
    ...ribs(pose, thorax, random.fork('ribs')).map(
      (shape): Piece => ({ shape, tissue: rib, structure: 'thorax' }),
    ),
    ...[-1, 1].map(
      (side): Piece => ({
        shape: at(spine.u, side * vertebra, 0.8 * vertebra, 0.55 * vertebra),
        tissue: TISSUE.vertebra,
        structure: 'thorax',
      }),
    ),
    {
      shape: at(spine.u - 0.22 * thorax.u, -0.16 * thorax.v, 0.08 * thorax.v, 0.08 * thorax.v),
      tissue: TISSUE.fetalFluid,
      structure: 'thorax',
    },
    ...(effusionMm > 0
      ? [
          {
            shape: grown(beating.epicardium, effusionMm),
            tissue: TISSUE.fetalFluid,
            structure: 'thorax',
          } satisfies Piece,
        ]
      : []),
    ...beating.pieces,
  ];
  return {
    pieces,
    surface: body,
    points: {
      ...beating.points,
      spineToSternum: [place(pose, thorax.u, 0), place(pose, -thorax.u, 0)],
    },
  };
}
