import type { View } from '../acquisition.ts';
import type { PhantomFrame } from '../frame.ts';
import type { Pose } from '../geometry.ts';
import { momentAt } from '../heart/motion.ts';
import type { HeartSizes } from '../heart/sizes.ts';
import { createRandom, type Random } from '../random.ts';
import { ellipse, everywhere, grown, rim, type Shape, stroke } from '../shapes.ts';
import { TISSUE } from '../tissue.ts';
import { createSceneSimulator, type Piece } from '../views/scene.ts';
import { overlayMarks } from './overlay.ts';
import { DEFAULT_SCREEN, type EchoRequest, type EchoViewId, FRAME_TIME_MS } from './view.ts';

const BLOOD = { echo: -58, loss: -0.02, texture: 2 } as const;

/** Breaths per minute of a quiet patient. The patient is asked to sniff once per clip. */
const BREATHS_PER_MINUTE = 18;

function viewOf(depthMm: number, halfAngle: number, request: EchoRequest): View {
  const { columns, rows } = request.screen ?? DEFAULT_SCREEN;
  const radiusMm = 3;
  const width = 2 * (depthMm + radiusMm) * Math.sin(halfAngle);
  const mmPerPixel = Math.max(width / columns, depthMm / rows) / 0.96;
  return {
    sector: { radiusMm, halfAngle, depthMm },
    window: { columns, rows, mmPerPixel, origin: { x: columns / 2, y: 0.02 * rows } },
    centre: { x: 0, y: depthMm / 2 },
    wallMm: 12,
  };
}

const upright: Pose = { centre: { x: 0, y: 0 }, angle: 0, mirror: false };

function vessel(lumen: Shape, structure: string): Piece[] {
  return [
    { shape: grown(lumen, 1.4), tissue: TISSUE.vesselWall },
    { shape: lumen, tissue: BLOOD, structure },
  ];
}

/** Returns the diameter of the inferior vena cava at a time. The vein narrows on inspiration. */
export function cavaDiameterMm({ cava }: HeartSizes, seconds: number): number {
  const breath = 0.5 - 0.5 * Math.cos((2 * Math.PI * seconds * BREATHS_PER_MINUTE) / 60);
  return cava.diameterMm * (1 - cava.collapse * breath ** 1.5);
}

function cavaPieces(sizes: HeartSizes, seconds: number, random: Random): Piece[] {
  const middle = 42 + random.range(-4, 6);
  const radius = cavaDiameterMm(sizes, seconds) / 2;
  const wide = sizes.cava.diameterMm / 2;
  // The vein is fixed at the diaphragm and narrows most two to three centimetres from the atrium.
  const lumen: Shape = {
    ...everywhere,
    distance: (x, y) => {
      const away = Math.min(1, Math.max(0, (28 - x) / 14));
      const half = wide + (radius - wide) * away * away;
      const axis = middle + 0.12 * x;
      return Math.max(Math.abs(y - axis) - half, x - 34);
    },
  };
  const vein = stroke(
    upright,
    [
      [-6, middle - 3],
      [-30, middle - 26],
    ],
    3.2,
  );
  const atrium = ellipse(upright, { u: 52, v: middle + 14, a: 24, b: 21 });
  return [
    { shape: everywhere, tissue: { ...TISSUE.liver, texture: 3 } },
    {
      shape: stroke(
        upright,
        [
          [-90, 6],
          [90, 6],
        ],
        5,
      ),
      tissue: TISSUE.muscle,
    },
    ...vessel(vein, 'hepaticVein'),
    ...vessel(atrium, 'rightAtrium'),
    ...vessel(lumen, 'inferiorVenaCava'),
  ];
}

function archPieces({ aorta }: HeartSizes, swell: number): Piece[] {
  const radius = 0.5 * aorta.ascendingMm * (1 + 0.05 * swell);
  const around = 27;
  const arch = Array.from({ length: 13 }, (_, i) => {
    const turn = Math.PI - (i * Math.PI) / 12;
    return [around * Math.cos(turn) - 6, 58 - around * Math.sin(turn)] as const;
  });
  const course = [[-36, 110], ...arch, [24, 120]] as const;
  const branches = [-16, -3, 9].map((x) =>
    stroke(
      upright,
      [
        [x, 36],
        [x + 3, 8],
      ],
      4,
    ),
  );
  const pulmonary = ellipse(upright, { u: -5, v: 74, a: 9, b: 8 });
  return [
    { shape: everywhere, tissue: TISSUE.farTissue },
    {
      shape: stroke(
        upright,
        [
          [-90, 4],
          [90, 4],
        ],
        4,
      ),
      tissue: TISSUE.muscle,
    },
    ...branches.flatMap((shape) => vessel(shape, 'branches')),
    ...vessel(pulmonary, 'pulmonaryArtery'),
    ...vessel(stroke(upright, course, radius), 'aorta'),
    { shape: rim(pulmonary, 0.8), tissue: TISSUE.vesselWall },
  ];
}

function cine(
  plane: EchoViewId,
  depthMm: number,
  request: EchoRequest,
  at: (seconds: number, random: Random) => { pieces: Piece[]; values: Record<string, number> },
): PhantomFrame[] {
  const { seed, frames, startS = 0, frameTimeMs = FRAME_TIME_MS } = request;
  const random = createRandom(seed);
  const view = viewOf(depthMm, 0.72, request);
  const simulateFrame = createSceneSimulator({
    plane,
    view,
    random: random.fork('scene'),
    masks: request.masks ?? true,
    mark: (gray, acquisition) =>
      overlayMarks(gray, acquisition, { ruler: true, text: ['PHANTOM'] }),
  });
  return Array.from({ length: frames }, (_, index) => {
    const seconds = startS + (index * frameTimeMs) / 1000;
    const { pieces, values } = at(seconds, random.fork('anatomy'));
    return simulateFrame({
      pieces,
      points: {},
      values: { secondsAfterStart: seconds, ...values },
      speckleSeed: seed + 7919 * (index + 1),
    });
  });
}

/**
 * Simulates the inferior vena cava along its course into the right atrium, while the patient
 * breathes.
 */
export const simulateCava = (request: EchoRequest): PhantomFrame[] =>
  cine('SUBCOSTAL-IVC', 130, request, (seconds, random) => {
    const { sizes } = request.heart;
    return {
      pieces: cavaPieces(sizes, seconds, random),
      values: {
        cavaMm: cavaDiameterMm(sizes, seconds),
        cavaLargestMm: sizes.cava.diameterMm,
        cavaCollapsePercent: 100 * sizes.cava.collapse,
      },
    };
  });

/** Simulates the aortic arch as seen from the jugular notch. */
export const simulateArch = (request: EchoRequest): PhantomFrame[] =>
  cine('SUPRASTERNAL', 120, request, (seconds) => {
    const { beat, sizes } = request.heart;
    return {
      pieces: archPieces(sizes, momentAt(beat, seconds).squeeze),
      values: { ascendingMm: sizes.aorta.ascendingMm },
    };
  });
