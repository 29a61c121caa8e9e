import type { Ellipse, Pose } from './geometry.ts';
import { createNoise, type Random } from './random.ts';
import { ellipse, grown, rim, type Shape, stroke, within, without } from './shapes.ts';
import type { FetalSizes } from './sizes.ts';
import { type Layer, risingFrom, TISSUE } from './tissue.ts';

export type HeadPlane = 'transthalamic' | 'transventricular' | 'transcerebellar';

/** A head in its pose: what lies where, and the outer border of its skull in mm. */
export interface Head {
  layers: Layer[];
  outline: Ellipse;
  /** Border of everything that belongs to the head, scalp included. */
  surface: Shape;
}

/** Axes of the head: u from the forehead (-1) to the occiput (+1), v across; unit = half axis. */
interface Axes {
  pose: Pose;
  a: number;
  b: number;
}

type UV = readonly [number, number];

function line(head: Axes, points: readonly UV[], radiusMm: number): Shape {
  return stroke(
    head.pose,
    points.map(([u, v]) => [u * head.a, v * head.b] as const),
    radiusMm,
  );
}

function oval(head: Axes, u: number, v: number, a: number, b: number, turn = 0): Shape {
  return ellipse(head.pose, { u: u * head.a, v: v * head.b, a: a * head.a, b: b * head.b, turn });
}

/** The falx, broken in front by the cavum septi pellucidi (ISUOG 2019, transthalamic plane). */
function midline(head: Axes, random: Random, brokenBehind: number): Layer[] {
  const thin = random.range(0.25, 0.5);
  const drift = random.normal(0, 0.02);
  const cavumFront = random.range(-0.56, -0.48);
  const cavumBack = random.range(-0.34, -0.26);
  const half = random.range(0.07, 0.12);
  const front = line(
    head,
    [
      [-0.95, drift],
      [cavumFront - 0.05, 0],
    ],
    thin,
  );
  const behind = line(
    head,
    [
      [brokenBehind, 0],
      [0.96, -drift],
    ],
    thin,
  );
  const cavum = (side: number) =>
    line(
      head,
      [
        [cavumFront, half * side],
        [cavumBack, half * 0.8 * side],
      ],
      thin,
    );
  return [
    { shape: front, tissue: TISSUE.membrane },
    { shape: behind, tissue: TISSUE.membrane },
    {
      shape: line(
        head,
        [
          [cavumFront, 0],
          [cavumBack, 0],
        ],
        half * head.b,
      ),
      tissue: TISSUE.fetalFluid,
    },
    { shape: cavum(1), tissue: TISSUE.membrane },
    { shape: cavum(-1), tissue: TISSUE.membrane },
  ];
}

function thalami(head: Axes, random: Random): Layer[] {
  const length = random.range(0.19, 0.25);
  const width = random.range(0.17, 0.23);
  const u = random.range(-0.02, 0.1);
  const both = (side: number): Layer[] => [
    {
      shape: oval(head, u, side * (width + 0.03), length + 0.1, width + 0.1, -0.3 * side),
      tissue: TISSUE.basalGanglia,
    },
    {
      shape: oval(head, u, side * (width + 0.02), length, width, -0.35 * side),
      tissue: TISSUE.thalamus,
    },
    {
      shape: line(
        head,
        [
          [u + length, side * 0.05],
          [u + length + 0.1, side * 0.22],
          [u + length + 0.02, side * 0.4],
        ],
        random.range(0.5, 1.1),
      ),
      tissue: TISSUE.basalGanglia,
    },
  ];
  const ventricle = random.range(0.02, 0.045);
  return [
    ...both(1),
    ...both(-1),
    {
      shape: line(
        head,
        [
          [u - 0.15, ventricle],
          [u + 0.15, ventricle],
        ],
        0.25,
      ),
      tissue: TISSUE.membrane,
    },
    {
      shape: line(
        head,
        [
          [u - 0.15, -ventricle],
          [u + 0.15, -ventricle],
        ],
        0.25,
      ),
      tissue: TISSUE.membrane,
    },
  ];
}

/** Atrium of the lateral ventricle with its choroid plexus, and the wall lines that show it. */
function lateralVentricle(head: Axes, random: Random, side: number, wide: boolean): Layer[] {
  const v = side * random.range(0.36, 0.46);
  const half = wide ? random.range(0.13, 0.2) : random.range(0.05, 0.1);
  const from = random.range(0.18, 0.28);
  const to = random.range(0.55, 0.7);
  const plexus = random.range(0.6, 0.9);
  return [
    {
      shape: line(
        head,
        [
          [from, v],
          [(from + to) / 2, v * 1.05],
          [to, v * 0.9],
        ],
        half * head.b,
      ),
      tissue: TISSUE.fetalFluid,
    },
    {
      shape: line(
        head,
        [
          [from - 0.05, v - side * half],
          [to, v * 0.92 - side * half],
        ],
        0.3,
      ),
      tissue: TISSUE.membrane,
    },
    {
      shape: line(
        head,
        [
          [from - 0.05, v + side * half],
          [to, v * 0.92 + side * half],
        ],
        0.3,
      ),
      tissue: TISSUE.membrane,
    },
    {
      shape: oval(head, from + 0.16, v * 1.03, 0.17, half * plexus * 1.1, -0.15 * side),
      tissue: TISSUE.choroidPlexus,
    },
  ];
}

function anteriorHorns(head: Axes, random: Random): Layer[] {
  const spread = random.range(0.18, 0.28);
  return [1, -1].map((side) => ({
    shape: line(
      head,
      [
        [-0.42, side * 0.12],
        [-0.6, side * spread],
      ],
      0.06 * head.b,
    ),
    tissue: TISSUE.fetalFluid,
  }));
}

/** Two hemispheres, the bright vermis between them, the cisterna magna behind. */
function posteriorFossa(head: Axes, random: Random): Layer[] {
  const u = random.range(0.56, 0.62);
  const width = random.range(0.22, 0.27);
  const length = random.range(0.13, 0.17);
  const hemisphere = (side: number): Layer[] => {
    const shape = oval(head, u, side * width, length, width, 0.15 * side);
    return [
      { shape, tissue: TISSUE.cerebellum },
      { shape: rim(shape, 0.6), tissue: TISSUE.membrane },
    ];
  };
  return [
    { shape: oval(head, u + 0.1, 0, 0.2, 2 * width), tissue: TISSUE.fetalFluid },
    ...hemisphere(1),
    ...hemisphere(-1),
    { shape: oval(head, u, 0, length * 0.8, 0.07), tissue: TISSUE.vermis },
  ];
}

/** Sulci and the insula: short echogenic strokes, more of them as the cortex folds. */
function cortex(head: Axes, random: Random): Layer[] {
  const layers: Layer[] = [1, -1].map((side) => {
    const v = side * random.range(0.58, 0.68);
    const u = random.range(-0.2, 0);
    return {
      shape: line(
        head,
        [
          [u, v],
          [u + 0.15, v * 1.06],
          [u + 0.32, v],
        ],
        random.range(0.4, 0.9),
      ),
      tissue: TISSUE.basalGanglia,
    };
  });
  const folds = random.integer(2, Math.round(head.a / 4));
  for (let i = 0; i < folds; i++) {
    const angle = random.range(0, 2 * Math.PI);
    const depth = random.range(0.55, 0.92);
    const u = depth * Math.cos(angle);
    const v = depth * Math.sin(angle);
    const du = random.normal(0, 0.07);
    const dv = random.normal(0, 0.05);
    layers.push({
      shape: line(
        head,
        [
          [u, v],
          [u + du, v + dv],
        ],
        random.range(0.25, 0.6),
      ),
      tissue: random.chance(0.3) ? TISSUE.membrane : TISSUE.basalGanglia,
    });
  }
  return layers;
}

/** Slits between the bones: a beam's width without echo, not a change of the outline. */
function sutures(head: Axes, random: Random): Shape[] {
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

const CONTENTS: Record<HeadPlane, (head: Axes, random: Random) => Layer[]> = {
  transthalamic: (head, random) => [
    ...thalami(head, random),
    ...(random.chance(0.5) ? lateralVentricle(head, random, 1, false) : []),
    ...midline(head, random, random.range(0.3, 0.5)),
  ],
  transventricular: (head, random) => [
    ...lateralVentricle(head, random, 1, true),
    ...(random.chance(0.4) ? lateralVentricle(head, random, -1, true) : []),
    ...anteriorHorns(head, random),
    ...midline(head, random, random.range(-0.15, 0.05)),
  ],
  transcerebellar: (head, random) => [
    ...midline(head, random, random.range(0.28, 0.36)),
    ...thalami(head, random),
    ...posteriorFossa(head, random),
  ],
};

/** Axial section of a fetal head. The outline of truth is the outer border of the skull ring. */
export function buildHead(plane: HeadPlane, sizes: FetalSizes, pose: Pose, random: Random): Head {
  const a = sizes.ofdMm / 2;
  const b = sizes.bpdMm / 2;
  const head: Axes = { pose, a, b };
  const outer = ellipse(pose, { u: 0, v: 0, a, b });
  const scalp = random.range(1.2, 2 + a / 25);
  const bone = random.range(1.2, 1.6) + a / 60;
  const uneven = createNoise(random.fork('bone'), random.range(6, 14));
  const boneAt = (x: number, y: number) => bone * (1 + 0.3 * uneven(x, y));
  const inside = grown(outer, -0.7 * bone);
  const haze = random.range(0, 9);
  const surface = grown(outer, scalp);
  const contents = CONTENTS[plane](head, random.fork(plane));
  const brain: Layer = {
    shape: inside,
    tissue: TISSUE.brain,
    rigid: true,
    // The near hemisphere is veiled by reverberation from the skull above it.
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
        shape: within(layer.shape, inside),
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
