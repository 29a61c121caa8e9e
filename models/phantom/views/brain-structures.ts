import { drawVisibleView } from '../acquisition.ts';
import { type HeadAxes, line, midline, oval, thalami } from '../brain.ts';
import { headTruth, outlineTruth, type PhantomFrame } from '../frame.ts';
import { type Point, type Pose, place } from '../geometry.ts';
import { buildHead } from '../head.ts';
import { createRandom, type Random } from '../random.ts';
import { ellipse, rim, type Shape, stroke } from '../shapes.ts';
import { TISSUE } from '../tissue.ts';
import { buildUterus } from '../uterus.ts';
import type { PhantomView, ViewRequest } from '../view.ts';
import { createSceneSimulator, type Piece } from './scene.ts';

/** Contents of the skull, with the end points of the measurements in mm. */
interface BrainContents {
  pieces: Piece[];
  points: Readonly<Record<string, readonly [Point, Point]>>;
}

/**
 * Returns half the extent of an ellipse rotated by `turn`, perpendicular to its original long axis.
 */
const halfAcross = (along: number, across: number, turn: number) =>
  Math.hypot(along * Math.sin(turn), across * Math.cos(turn));

/**
 * Builds the folds of the cerebellar hemispheres: fine bright lines across them. Their number
 * increases with age.
 */
function folia(head: HeadAxes, u: number, v: number, size: number, random: Random): Piece[] {
  const count = random.integer(0, Math.round(head.a / 10));
  return Array.from({ length: count }, () => {
    const at = u + random.range(-0.6, 0.6) * size;
    const from = v + random.range(-0.6, 0) * size;
    return {
      shape: stroke(
        head.pose,
        [
          [at, from],
          [at + random.normal(0, 0.1) * size, from + random.range(0.3, 0.7) * size],
        ],
        0.3,
      ),
      tissue: TISSUE.basalGanglia,
      structure: 'cerebellum',
    };
  });
}

/** Builds the cerebral peduncles: two dark lobes in front of the cerebellum. */
function peduncles(head: HeadAxes, u: number, random: Random): Piece[] {
  const size = random.range(0.1, 0.15) * head.a;
  return [1, -1].map((side) => ({
    shape: ellipse(head.pose, {
      u,
      v: side * 0.75 * size,
      a: size,
      b: 0.8 * size,
      turn: -0.4 * side,
    }),
    tissue: TISSUE.thalamus,
  }));
}

/**
 * Builds the contents of the transcerebellar plane. `tcdMm` is the width of both hemispheres, outer
 * to outer; `cisternaMm` is the distance on the midline from the posterior vermis to the inner
 * occipital bone (ISUOG CNS part 1, 2020).
 */
function posteriorFossa(
  head: HeadAxes,
  boneMm: number,
  { tcdMm, cisternaMm }: { tcdMm: number; cisternaMm: number },
  random: Random,
): BrainContents {
  const half = tcdMm / 2;
  const turn = random.range(0.05, 0.5);
  const length = half * random.range(0.5, 0.72);
  const broad = half * random.range(0.5, 0.58);
  // Places the rotated hemisphere so that its outer border is exactly half of `tcdMm` from the
  // midline.
  const v = half - halfAcross(length, broad, turn);
  const occiput = head.a - boneMm;
  const vermisEnd = occiput - cisternaMm;
  const vermis = length * random.range(0.5, 0.8);
  const u = vermisEnd - length * random.range(0.75, 1);
  const cerebellum = {
    ...TISSUE.cerebellum,
    echo: TISSUE.cerebellum.echo + random.range(-7, 6),
  };
  const seam = { ...TISSUE.membrane, echo: TISSUE.membrane.echo + random.range(-6, 4) };
  const border = random.range(0.4, 1);
  const lobes = [1, -1].flatMap((side): Piece[] => {
    const shape = ellipse(head.pose, { u, v: side * v, a: length, b: broad, turn: side * turn });
    return [
      { shape, tissue: cerebellum, structure: 'cerebellum' },
      { shape: rim(shape, border), tissue: seam, structure: 'cerebellum' },
      ...folia(head, u, side * v, Math.min(length, broad), random.fork(`folia ${side}`)),
    ];
  });
  const reach = halfAcross(broad, length, turn);
  const cistern = { from: u - 0.3 * length, to: occiput + 1 };
  const septum = (side: number): Piece => ({
    shape: line(
      head,
      [
        [(vermisEnd + 0.2) / head.a, (side * random.range(0.02, 0.07) * head.b) / head.b],
        [0.99, side * random.range(0.05, 0.14)],
      ],
      0.25,
    ),
    tissue: TISSUE.membrane,
  });
  const end = (at: number, across: number): Point => place(head.pose, at, across);
  // Position along the head at which the rotated hemisphere is widest.
  const widest =
    u + ((length ** 2 - broad ** 2) * Math.sin(turn) * Math.cos(turn)) / (half - v || 1);
  return {
    pieces: [
      ...midline(head, random, (u - reach) / head.a - random.range(0.02, 0.15)),
      ...(random.chance(0.6) ? thalami(head, random) : []),
      ...peduncles(head, u - reach - random.range(0, 0.1) * head.a, random.fork('peduncles')),
      {
        shape: ellipse(head.pose, {
          u: (cistern.from + cistern.to) / 2,
          v: 0,
          a: (cistern.to - cistern.from) / 2,
          b: half * random.range(0.9, 1.15),
        }),
        tissue: TISSUE.fetalFluid,
      },
      ...lobes,
      {
        shape: ellipse(head.pose, {
          u: vermisEnd - vermis,
          v: 0,
          a: vermis,
          b: half * random.range(0.08, 0.16),
        }),
        tissue: { ...TISSUE.vermis, echo: TISSUE.vermis.echo + random.range(-6, 1) },
        structure: 'cerebellum',
      },
      ...(random.chance(0.5) ? [septum(1), septum(-1)] : []),
    ],
    points: {
      cerebellum: [end(widest, half), end(widest, -half)],
      cisternaMagna: [end(vermisEnd, 0), end(occiput, 0)],
    },
  };
}

/**
 * Builds the contents of the transventricular plane: the far-side lateral ventricle with its
 * choroid plexus. `atrialMm` is the inner width at the glomus, perpendicular to the ventricle
 * (ISUOG CNS part 1, 2020).
 */
function lateralVentricles(head: HeadAxes, atrialMm: number, random: Random): BrainContents {
  const far = place(head.pose, 0, 1).y > place(head.pose, 0, -1).y ? 1 : -1;
  const axis = random.range(-0.12, 0.3);
  const at = {
    u: random.range(0.28, 0.42) * head.a,
    v: far * Math.max(random.range(0.34, 0.5) * head.b, 0.62 * atrialMm),
  };
  const along = { u: Math.cos(axis), v: far * Math.sin(axis) };
  const across = { u: -far * along.v, v: far * along.u };
  const on = (forward: number, side: number): [number, number] => [
    at.u + forward * along.u + side * across.u,
    at.v + forward * along.v + side * across.v,
  ];
  const half = atrialMm / 2;
  const front = -random.range(0.08, 0.2) * head.a;
  const back = random.range(0.14, 0.28) * head.a;
  const wall = random.range(0.25, 0.45);
  const lateral = (side: number): Shape =>
    stroke(head.pose, [on(front, side * (half + wall)), on(back, side * (half + wall))], wall);
  // The plexus fills a narrow ventricle, but lies on the lower wall of a wide one.
  const plexus = Math.min(half * random.range(0.7, 0.98), random.range(2.4, 4.2));
  const [plexusU, plexusV] = on(random.range(-0.02, 0.05) * head.a, half - plexus);
  const near = random.chance(0.35);
  const pieces: Piece[] = [
    ...midline(head, random, random.range(-0.15, 0.2)),
    ...[1, -1].map(
      (side): Piece => ({
        shape: oval(head, -0.5, side * random.range(0.16, 0.24), 0.11, 0.06, -0.5 * side),
        tissue: TISSUE.fetalFluid,
      }),
    ),
    ...(near
      ? [
          {
            shape: oval(head, 0.35, -far * random.range(0.36, 0.46), 0.16, 0.11),
            tissue: TISSUE.choroidPlexus,
          },
        ]
      : []),
    {
      shape: stroke(head.pose, [on(front, 0), on(back, 0)], half),
      tissue: TISSUE.fetalFluid,
      structure: 'ventricle',
    },
    {
      shape: ellipse(head.pose, {
        u: plexusU,
        v: plexusV,
        a: random.range(0.1, 0.17) * head.a,
        b: plexus,
        turn: far * axis,
      }),
      tissue: { ...TISSUE.choroidPlexus, echo: TISSUE.choroidPlexus.echo + random.range(-5, 2) },
      structure: 'ventricle',
    },
    { shape: lateral(1), tissue: TISSUE.membrane },
    { shape: lateral(-1), tissue: TISSUE.membrane },
  ];
  return {
    pieces,
    points: { atrium: [place(head.pose, ...on(0, half)), place(head.pose, ...on(0, -half))] },
  };
}

interface BrainView {
  id: string;
  plane: 'transcerebellar' | 'transventricular';
  /**
   * Returns the dimensions in mm under their names in `anatomy`. Any that the caller does not
   * request are sampled at random.
   */
  draw(request: ViewRequest, random: Random): Record<string, number>;
  build(
    head: HeadAxes,
    boneMm: number,
    values: Readonly<Record<string, number>>,
    random: Random,
  ): BrainContents;
}

function brainView({ id, plane, draw, build }: BrainView): PhantomView {
  const simulate = (request: ViewRequest): PhantomFrame[] => {
    const { sizes, seed, frames, screen } = request;
    const random = createRandom(seed);
    const values = draw(request, random.fork('sizes'));
    // The midline is perpendicular to the beam, as the guideline requires.
    const turn = random.normal(0, random.chance(0.8) ? 0.25 : 0.5);
    const angle = turn + (random.chance(0.5) ? Math.PI : 0);
    const mirror = random.chance(0.5);
    const loose: Pose = { centre: { x: 0, y: 0 }, angle, mirror };
    const a = sizes.ofdMm / 2;
    const b = sizes.bpdMm / 2;
    const border: Point[] = Array.from({ length: 32 }, (_, i) => {
      const t = (i * Math.PI) / 16;
      return place(loose, a * Math.cos(t), b * Math.sin(t));
    });
    const extent = {
      across: Math.max(...border.map(({ x }) => x)),
      down: Math.max(...border.map(({ y }) => y)),
    };
    const view = drawVisibleView(extent, border, random.fork('view'), screen);
    const pose: Pose = { centre: view.centre, angle, mirror };
    let points: BrainContents['points'] = {};
    const head = buildHead(plane, sizes, pose, random.fork('head'), (axes, chance, boneMm) => {
      const contents = build(axes, boneMm, values, chance);
      points = contents.points;
      return contents.pieces;
    });
    const around = buildUterus(view.sector, head.surface, view.wallMm, random.fork('uterus'));
    const simulateFrame = createSceneSimulator({
      plane,
      view,
      random: random.fork('scene'),
      masks: request.masks ?? true,
    });
    return Array.from({ length: frames }, (_, frame) => {
      const shown = simulateFrame({
        pieces: [...around, ...head.layers],
        points,
        values,
        speckleSeed: seed + 7919 * (frame + 1),
      });
      const outline = outlineTruth(head.outline, shown.acquisition);
      return {
        ...shown,
        truth: { ...shown.truth, head: headTruth(outline, shown.acquisition, pose) },
      };
    });
  };
  return { id, ages: { youngest: 112, oldest: 259 }, simulate };
}

/** Values that can be requested in `anatomy`: `tcdMm`, `cisternaMm`. */
export const cerebellum = brainView({
  id: 'cerebellum',
  plane: 'transcerebellar',
  draw: ({ sizes, anatomy = {} }, random) => ({
    tcdMm: anatomy.tcdMm ?? sizes.bpdMm * random.range(0.36, 0.58),
    cisternaMm: anatomy.cisternaMm ?? random.range(1.5, random.chance(0.2) ? 13 : 8),
  }),
  build: (head, boneMm, { tcdMm = 0, cisternaMm = 0 }, random) =>
    posteriorFossa(head, boneMm, { tcdMm, cisternaMm }, random),
});

/** Value that can be requested in `anatomy`: `atrialMm`. */
export const lateralVentricle = brainView({
  id: 'lateral-ventricle',
  plane: 'transventricular',
  draw: ({ sizes, anatomy = {} }, random) => ({
    atrialMm:
      anatomy.atrialMm ?? Math.min(sizes.bpdMm / 4, random.range(4, random.chance(0.3) ? 18 : 9.5)),
  }),
  build: (head, _, { atrialMm = 0 }, random) => lateralVentricles(head, atrialMm, random),
});
