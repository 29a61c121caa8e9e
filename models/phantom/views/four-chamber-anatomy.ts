import { type Point, type Pose, place } from '../geometry.ts';
import { createNoise, type Random } from '../random.ts';
import { ellipse, grown, rim, type Shape, stroke, within } from '../shapes.ts';
import { TISSUE } from '../tissue.ts';
import { type Piece, wavering } from './scene.ts';

/** A fetal chest across its four chambers; u points to the back, v to the right of the fetus. */
export interface ChestSizes {
  /** Half axes of the thorax outside the ribs, skin excluded, mm. */
  thorax: { u: number; v: number };
  /** Half axes of the heart in end diastole, along and across the septum, mm. */
  heart: { a: number; b: number };
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

const MYOCARDIUM = { echo: -33, loss: 0.02, texture: 5 } as const;
const LUNG = { echo: -28, loss: 0.02, texture: 4 } as const;

/** How much the chambers are emptied over the beat, 0 in end diastole to 1 in end systole. */
export function systole(phase: number): number {
  const p = phase - Math.floor(phase);
  return p < 0.4
    ? Math.sin((Math.PI / 2) * (p / 0.4)) ** 2
    : Math.cos((Math.PI / 2) * ((p - 0.4) / 0.6)) ** 2;
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
 * a heart whose ventricles empty and whose atria fill meanwhile.
 */
export function buildChest(pose: Pose, sizes: ChestSizes, phase: number, random: Random): Chest {
  const { thorax, heart, axisDegrees, effusionMm } = sizes;
  const skin = 0.07 * thorax.v + 0.8;
  const noise = createNoise(random.fork('border'), 14);
  const at = (u: number, v: number, a: number, b: number, turn = 0) =>
    ellipse(pose, { u, v, a, b, turn });
  const wall = at(0, 0, thorax.u, thorax.v);
  const body = wavering(grown(wall, skin), noise, 0.4);
  const squeeze = systole(phase);
  // The septum runs from the crux, near the spine and the midline, to the apex: front and left.
  const turn = (axisDegrees * Math.PI) / 180;
  const along = { u: -Math.cos(turn), v: -Math.sin(turn) };
  const across = { u: -along.v, v: along.u };
  const shrink = 1 - 0.06 * squeeze;
  const centre = { u: -0.12 * thorax.u, v: -0.1 * thorax.v };
  const inHeart = (forward: number, side: number) => ({
    u: centre.u + forward * along.u * heart.a + side * across.u * heart.b,
    v: centre.v + forward * along.v * heart.a + side * across.v * heart.b,
  });
  const direction = Math.atan2(along.v, along.u);
  const chamber = (forward: number, side: number, a: number, b: number): Shape => {
    const { u, v } = inHeart(forward, side);
    return at(u, v, a * heart.a, b * heart.b, direction);
  };
  const epicardium = at(centre.u, centre.v, heart.a * shrink, heart.b * shrink, direction);
  const ventricle = 1 - 0.32 * squeeze;
  const atrium = 1 + 0.18 * squeeze - 0.12;
  const chambers = [
    chamber(0.27, 0.45, 0.54 * ventricle, 0.35 * ventricle),
    chamber(0.23, -0.45, 0.5 * ventricle, 0.36 * ventricle),
    chamber(-0.55, 0.37, 0.29 * atrium, 0.31 * atrium),
    chamber(-0.55, -0.37, 0.3 * atrium, 0.32 * atrium),
  ].map((shape) => within(shape, grown(epicardium, -0.5)));
  const spine = { u: 0.86 * thorax.u, v: 0 };
  const vertebra = 0.09 * thorax.v + 1;
  const pieces: Piece[] = [
    { shape: body, tissue: TISSUE.skin },
    { shape: grown(wall, 0.3), tissue: TISSUE.subcutis },
    { shape: wall, tissue: TISSUE.muscle, structure: 'thorax' },
    { shape: grown(wall, -0.08 * thorax.v), tissue: LUNG, structure: 'thorax' },
    ...ribs(pose, thorax, random.fork('ribs')).map(
      (shape): Piece => ({ shape, tissue: TISSUE.rib, structure: 'thorax' }),
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
            shape: grown(epicardium, effusionMm),
            tissue: TISSUE.fetalFluid,
            structure: 'thorax',
          } satisfies Piece,
        ]
      : []),
    { shape: epicardium, tissue: MYOCARDIUM, structure: 'heart' },
    { shape: rim(epicardium, 0.5), tissue: TISSUE.membrane, structure: 'heart' },
    ...chambers.map((shape): Piece => ({ shape, tissue: TISSUE.fetalFluid, structure: 'heart' })),
  ];
  const apex = inHeart(1, 0);
  const crux = inHeart(-0.2, 0);
  return {
    pieces,
    surface: body,
    points: {
      septum: [place(pose, crux.u, crux.v), place(pose, apex.u, apex.v)],
      spineToSternum: [place(pose, thorax.u, 0), place(pose, -thorax.u, 0)],
    },
  };
}
