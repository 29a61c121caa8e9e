import type { Screen, View } from '../acquisition.ts';
import type { PhantomFrame } from '../frame.ts';
import { type Point, type Pose, toPixel, toPolar } from '../geometry.ts';
import { createRandom, type Random } from '../random.ts';
import type { PhantomView, ViewRequest } from '../view.ts';
import {
  buildCervix,
  type Cervix,
  type CervixSizes,
  FUNNEL_SHAPES,
  type FunnelShape,
} from './cervix-anatomy.ts';
import { createSceneSimulator } from './scene.ts';

const SCREENS: readonly Screen[] = [
  { columns: 640, rows: 480 },
  { columns: 800, rows: 600 },
  { columns: 1024, rows: 768 },
];

/**
 * Randomly picks the view of a transvaginal probe: a small, strongly curved array, a wide opening
 * angle and a shallow depth.
 */
function drawTransvaginalView(random: Random, centre: Point, screen?: Screen): View {
  const { columns, rows } = screen ?? random.pick(SCREENS);
  const radiusMm = random.range(9, 14);
  const halfAngle = random.range(0.95, 1.25);
  const depthMm = centre.y + random.range(28, 55);
  const rise = radiusMm * (1 - Math.cos(halfAngle));
  const margin = random.range(0.01, 0.07) * rows;
  const mmPerPixel = Math.max(0.09, (depthMm + rise) / (rows * random.range(0.92, 1.05) - margin));
  const origin = { x: columns * random.range(0.45, 0.55), y: margin + rise / mmPerPixel };
  return {
    sector: { radiusMm, halfAngle, depthMm },
    window: { columns, rows, mmPerPixel, origin },
    centre,
    wallMm: random.range(2, 5),
  };
}

/**
 * Returns true if a point is in the field of view and on the screen, with a small margin to the
 * edges.
 */
function isInView({ sector, window }: View, point: Point): boolean {
  const { range, angle } = toPolar(sector, point.x, point.y);
  const { x, y } = toPixel(window, point);
  return (
    range > 1 &&
    range < sector.depthMm - 1 &&
    Math.abs(angle) < 0.96 * sector.halfAngle &&
    x > 4 &&
    y > 4 &&
    x < window.columns - 5 &&
    y < window.rows - 5
  );
}

/**
 * Bow of the canal in mm from which it counts as curved and is measured in two parts (obstetric
 * 10).
 */
const CURVED_MM = 5;

/** Ranges for the depth and width of each funnel shape, mm. */
const FUNNEL_MM: Readonly<
  Record<FunnelShape, { depth: [number, number]; width: [number, number] }>
> = {
  T: { depth: [0, 0], width: [0, 0] },
  Y: { depth: [6, 12], width: [5, 11] },
  V: { depth: [7, 22], width: [8, 24] },
  U: { depth: [8, 26], width: [10, 26] },
};

/**
 * Samples the dimensions. `anatomy`: `lengthMm` (10 to 50), `bowMm`, `funnel` (0 T, 1 Y, 2 V, 3 U),
 * `funnelDepthMm`, `funnelWidthMm`.
 */
function drawSizes({ anatomy = {} }: ViewRequest, random: Random): CervixSizes {
  const lengthMm = anatomy.lengthMm ?? random.range(10, 50);
  const chosen = anatomy.funnel ?? (random.chance(0.5) ? 0 : random.integer(1, 3));
  const funnel = FUNNEL_SHAPES[chosen] ?? 'T';
  const { depth, width } = FUNNEL_MM[funnel];
  const bow = random.chance(0.6) ? random.normal(0, 1.2) : random.range(-0.2, 0.2) * lengthMm;
  return {
    lengthMm,
    bowMm: anatomy.bowMm ?? Math.max(-9, Math.min(9, bow)),
    funnel,
    funnelDepthMm: funnel === 'T' ? 0 : (anatomy.funnelDepthMm ?? random.range(...depth)),
    funnelWidthMm: funnel === 'T' ? 0 : (anatomy.funnelWidthMm ?? random.range(...width)),
    placenta: null,
  };
}

/**
 * Randomly picks a position of the uterus below the probe. The cavity may be on either side of the
 * screen.
 */
function drawPose(sizes: CervixSizes, random: Random): Pose {
  const flipped = random.chance(0.5);
  const tilt = random.normal(0, 0.22);
  const half = sizes.lengthMm / 2;
  const across = random.range(-8, 8) + (flipped ? 1 : -1) * half * Math.cos(tilt);
  const depth = random.range(15, 30) - half * Math.sin(tilt);
  return {
    centre: { x: across, y: depth },
    angle: flipped ? Math.PI - tilt : tilt,
    mirror: flipped,
  };
}

const between = (a: Point, b: Point) => Math.hypot(a.x - b.x, a.y - b.y);

/**
 * Returns the length as a sonographer would measure it: straight, or in two parts if the canal is
 * curved.
 */
function measuredLength({ canal, sizes }: Cervix): number {
  const first = canal[0] as Point;
  const middle = canal[canal.length >> 1] as Point;
  const last = canal[canal.length - 1] as Point;
  return Math.abs(sizes.bowMm) > CURVED_MM
    ? between(first, middle) + between(middle, last)
    : between(first, last);
}

/**
 * Simulates transvaginal frames of a lower uterus with the dimensions that `draw` returns. Each
 * frame includes its true values.
 */
export function simulateLowerUterus(
  request: ViewRequest,
  draw: (request: ViewRequest, random: Random) => CervixSizes,
): PhantomFrame[] {
  const random = createRandom(request.seed);
  const sizes = draw(request, random.fork('sizes'));
  for (let attempt = 0; ; attempt++) {
    const hand = random.fork(`hand ${attempt}`);
    const pose = drawPose(sizes, hand);
    const view = drawTransvaginalView(hand, { x: 0, y: pose.centre.y + 8 }, request.screen);
    const cervix = buildCervix(sizes, pose, view.sector, random.fork('anatomy'));
    const { canal, shoulders, edge } = cervix;
    const mustBeSeen = [...canal, ...shoulders, ...(edge ? [edge.at] : [])];
    if (attempt < 80 && !mustBeSeen.every((point) => isInView(view, point))) continue;
    const simulateFrame = createSceneSimulator({
      plane: 'cervix',
      view,
      random,
      masks: request.masks ?? true,
    });
    return Array.from({ length: request.frames }, (_, index) =>
      simulateFrame({
        pieces: cervix.pieces,
        values: {
          cervicalLengthMm: measuredLength(cervix),
          canalBowMm: Math.abs(sizes.bowMm),
          funnel: FUNNEL_SHAPES.indexOf(sizes.funnel),
          funnelDepthMm: sizes.funnelDepthMm,
          funnelWidthMm: sizes.funnelWidthMm,
          ...(edge ? { placentaToOsMm: edge.toOsMm } : {}),
        },
        points: {
          canal,
          externalOs: canal.slice(0, 1),
          internalOs: canal.slice(-1),
          ...(sizes.funnelDepthMm > 0 ? { shoulders } : {}),
          ...(edge ? { placentaEdge: [edge.at] } : {}),
        },
        speckleSeed: request.seed + 7919 * (index + 1),
      }),
    );
  }
}

/** Transvaginal sagittal view of the cervix (ISUOG 2022), closed or funnelled. */
export const cervix: PhantomView = {
  id: 'cervix',
  ages: { youngest: 16 * 7, oldest: 35 * 7 + 6 },
  simulate: (request) => simulateLowerUterus(request, drawSizes),
};
