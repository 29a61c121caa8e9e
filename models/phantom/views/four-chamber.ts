import { drawVisibleView } from '../acquisition.ts';
import type { PhantomFrame } from '../frame.ts';
import { type Point, type Pose, place } from '../geometry.ts';
import { createRandom, type Random } from '../random.ts';
import { buildUterus } from '../uterus.ts';
import type { PhantomView, ViewRequest } from '../view.ts';
import { buildChest, type ChestSizes } from './four-chamber-anatomy.ts';
import { simulateScene } from './scene.ts';

/** Pace of the cine, ms a frame: 30 a second. */
const FRAME_TIME_MS = 33.3;

/**
 * `anatomy`: `areaRatio` of heart to thorax (normal 0.25 to 0.35), `axisDegrees` (45, negative: to
 * the right), `beatsPerMinute` (0: the heart stands still), `effusionMm`, `ventricleRatio`: right to
 * left ventricle across (near 1 before the third trimester).
 */
function drawSizes({ sizes, anatomy = {} }: ViewRequest, random: Random): ChestSizes {
  // The chest is a little narrower than the abdomen of the same fetus.
  const v = (sizes.tadMm / 2) * random.range(0.84, 0.94);
  const u = v * random.range(0.86, 1);
  const areaRatio = anatomy.areaRatio ?? random.range(0.22, 0.38);
  const slenderness = random.range(1.15, 1.35);
  const b = Math.sqrt((areaRatio * u * v) / slenderness);
  return {
    thorax: { u, v },
    heart: {
      a: slenderness * b,
      b,
      ventricleRatio: anatomy.ventricleRatio ?? random.range(0.8, 1.25),
    },
    axisDegrees: anatomy.axisDegrees ?? random.range(28, 62),
    effusionMm: anatomy.effusionMm ?? 0,
  };
}

function borderOf(pose: Pose, { u, v }: ChestSizes['thorax']): Point[] {
  return Array.from({ length: 32 }, (_, i) => {
    const t = (i * Math.PI) / 16;
    return place(pose, 1.1 * u * Math.cos(t), 1.1 * v * Math.sin(t));
  });
}

function simulate(request: ViewRequest): PhantomFrame[] {
  const random = createRandom(request.seed);
  const sizes = drawSizes(request, random.fork('sizes'));
  // A spine below the heart would lie in no shadow; above it the ribs hide all.
  const turn = Math.PI / 2 + random.range(-1.9, 1.9);
  const mirror = random.fork('mirror').chance(0.5);
  const loose: Pose = { centre: { x: 0, y: 0 }, angle: turn, mirror };
  const border = borderOf(loose, sizes.thorax);
  const extent = {
    across: Math.max(...border.map(({ x }) => Math.abs(x))),
    down: Math.max(...border.map(({ y }) => Math.abs(y))),
  };
  const view = drawVisibleView(extent, border, random.fork('view'), request.screen);
  const beatsPerMinute = request.anatomy?.beatsPerMinute ?? random.range(115, 165);
  const start = random.unit();
  const drift = random.fork('drift');
  const speed = { x: drift.normal(0, 0.03), y: drift.normal(0, 0.03) };
  const { thorax, heart, axisDegrees } = sizes;
  return Array.from({ length: request.frames }, (_, frame) => {
    const centre = { x: view.centre.x + speed.x * frame, y: view.centre.y + speed.y * frame };
    const pose: Pose = { centre, angle: turn, mirror };
    const phase = start + (frame * FRAME_TIME_MS * beatsPerMinute) / 60_000;
    const chest = buildChest(pose, sizes, phase, random.fork('chest'));
    const around = buildUterus(view.sector, chest.surface, view.wallMm, random.fork('uterus'));
    return simulateScene({
      plane: 'four-chamber',
      view,
      pieces: [...around, ...chest.pieces],
      points: chest.points,
      values: {
        beatsPerMinute,
        axisDegrees,
        phaseOfBeat: phase - Math.floor(phase),
        areaRatio: (heart.a * heart.b) / (thorax.u * thorax.v),
        thoraxHalfDepth: thorax.u,
        thoraxHalfWidth: thorax.v,
        heartHalfLength: heart.a,
        heartHalfWidth: heart.b,
        ventricleRatio: heart.ventricleRatio,
      },
      random: random.fork('scene'),
      speckleSeed: request.seed + 7919 * (frame + 1),
    });
  });
}

/** The beating heart of a fetus on a transverse section of its chest. */
export const fourChamber: PhantomView = {
  id: 'four-chamber',
  ages: { youngest: 126, oldest: 266 },
  simulate,
  header: () => ({ frameTimeMs: FRAME_TIME_MS, attributes: { ViewName: '4CH' } }),
};
