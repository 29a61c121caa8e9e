import type { Pose } from './geometry.ts';
import type { Random } from './random.ts';
import { ellipse, rim, type Shape, stroke } from './shapes.ts';
import { type Layer, TISSUE } from './tissue.ts';

export type HeadPlane = 'transthalamic' | 'transventricular' | 'transcerebellar';

/**
 * Axes of the head, in units of half an axis: u from the forehead (-1) to the occiput (+1), v
 * across the head.
 */
export interface HeadAxes {
  pose: Pose;
  a: number;
  b: number;
}

export type UV = readonly [number, number];

export function line(head: HeadAxes, points: readonly UV[], radiusMm: number): Shape {
  return stroke(
    head.pose,
    points.map(([u, v]) => [u * head.a, v * head.b] as const),
    radiusMm,
  );
}

export function oval(head: HeadAxes, u: number, v: number, a: number, b: number, turn = 0): Shape {
  return ellipse(head.pose, { u: u * head.a, v: v * head.b, a: a * head.a, b: b * head.b, turn });
}

/**
 * Builds the falx, interrupted in front by the cavum septi pellucidi (ISUOG 2019, transthalamic
 * plane).
 */
export function midline(head: HeadAxes, random: Random, brokenBehind: number): Layer[] {
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

export function thalami(head: HeadAxes, random: Random): Layer[] {
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

/**
 * Builds the atrium of the lateral ventricle: its walls as bright lines, and its choroid plexus.
 */
function lateralVentricle(head: HeadAxes, random: Random, side: number, wide: boolean): Layer[] {
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

function anteriorHorns(head: HeadAxes, random: Random): Layer[] {
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

/**
 * Builds the two cerebellar hemispheres, the bright vermis between them, and the cisterna magna
 * behind them.
 */
function posteriorFossa(head: HeadAxes, random: Random): Layer[] {
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

/**
 * Builds sulci and the insula as short echogenic strokes. Their number increases as the cortex
 * folds.
 */
export function cortex(head: HeadAxes, random: Random): Layer[] {
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

/** Structures that each axial plane shows inside the skull (ISUOG 2019). */
export const INTRACRANIAL: Record<HeadPlane, (head: HeadAxes, random: Random) => Layer[]> = {
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
