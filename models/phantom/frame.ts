import { buildAbdomen } from './abdomen.ts';
import {
  drawAcquisition,
  drawVisibleView,
  type Extent,
  type Screen,
  type View,
} from './acquisition.ts';
import { buildFemur } from './femur.ts';
import {
  type Ellipse,
  ellipseInPixels,
  type Point,
  type Pose,
  place,
  toPixel,
} from './geometry.ts';
import { buildHead } from './head.ts';
import { type Acquisition, createImager } from './image-formation.ts';
import type { AbdomenTruth, FrameTruth, HeadTruth, OutlineTruth, Plane } from './labels.ts';
import { drawOverlay } from './overlay.ts';
import { createRandom, type Random } from './random.ts';
import type { Shape } from './shapes.ts';
import { ellipseCircumference, type FetalSizes } from './sizes.ts';
import type { Layer, Scene } from './tissue.ts';
import { buildUterus } from './uterus.ts';

/** One simulated screen. `gray` contains rows x columns values from 0 to 255. */
export interface PhantomFrame {
  columns: number;
  rows: number;
  gray: Uint8Array;
  /**
   * The same screen with its colour box, rows x columns x 3. Absent if there is no colour Doppler.
   */
  rgb?: Uint8Array;
  acquisition: Acquisition;
  truth: FrameTruth;
}

interface FrameRequest {
  plane: Plane;
  sizes: FetalSizes;
  /** The only input that determines anatomy, pose, machine and speckle. */
  seed: number;
  screen?: Screen;
}

interface Anatomy {
  layers: Layer[];
  surface: Shape;
  truth: (acquisition: Acquisition) => FrameTruth;
}

/** Half lengths along the structure's own axes u and v, mm. */
function halfAxes(plane: Plane, sizes: FetalSizes): { u: number; v: number } {
  if (plane === 'femur') return { u: sizes.flMm / 2, v: sizes.flMm / 16 };
  if (plane === 'abdominal') return { u: sizes.apadMm / 2, v: sizes.tadMm / 2 };
  return { u: sizes.ofdMm / 2, v: sizes.bpdMm / 2 };
}

/**
 * Randomly picks the rotation of the structure. The midline of a head and the axis of a thigh are
 * across the beam, as the guideline requires. The spine of an abdomen may be on any side, but the
 * beam must enter below the rib cage.
 */
function drawTurn(plane: Plane, random: Random): number {
  if (plane === 'femur') return random.normal(0, 0.3) + (random.chance(0.5) ? Math.PI : 0);
  if (plane === 'abdominal') return random.range(0, 2 * Math.PI);
  return random.normal(0, random.chance(0.8) ? 0.25 : 0.6) + (random.chance(0.5) ? Math.PI : 0);
}

function borderOf(axes: { u: number; v: number }, angle: number): Point[] {
  const pose: Pose = { centre: { x: 0, y: 0 }, angle, mirror: false };
  return Array.from({ length: 32 }, (_, i) => {
    const t = (i * Math.PI) / 16;
    return place(pose, axes.u * Math.cos(t), axes.v * Math.sin(t));
  });
}

export function outlineTruth(outline: Ellipse, acquisition: Acquisition): OutlineTruth {
  return {
    ellipse: ellipseInPixels(acquisition.window, outline),
    circumferenceMm: ellipseCircumference(2 * outline.a, 2 * outline.b),
    longAxisMm: 2 * outline.a,
    shortAxisMm: 2 * outline.b,
  };
}

/**
 * Returns the ends, in pixels, of a diameter along the axes of the pose; `u` and `v` are its half
 * lengths.
 */
function diameter(acquisition: Acquisition, pose: Pose, u: number, v: number): [Point, Point] {
  return [
    toPixel(acquisition.window, place(pose, -u, -v)),
    toPixel(acquisition.window, place(pose, u, v)),
  ];
}

export function headTruth(outline: OutlineTruth, acquisition: Acquisition, pose: Pose): HeadTruth {
  const { longAxisMm: ofdMm, shortAxisMm: bpdMm } = outline;
  return {
    ...outline,
    hcMm: outline.circumferenceMm,
    bpdMm,
    ofdMm,
    bpdEnds: diameter(acquisition, pose, 0, bpdMm / 2),
    ofdEnds: diameter(acquisition, pose, ofdMm / 2, 0),
  };
}

function abdomenTruth(
  outline: OutlineTruth,
  acquisition: Acquisition,
  pose: Pose,
  { tadMm, apadMm }: FetalSizes,
): AbdomenTruth {
  return {
    ...outline,
    acMm: outline.circumferenceMm,
    tadMm,
    apadMm,
    tadEnds: diameter(acquisition, pose, 0, tadMm / 2),
    apadEnds: diameter(acquisition, pose, apadMm / 2, 0),
  };
}

function buildAnatomy(plane: Plane, sizes: FetalSizes, pose: Pose, random: Random): Anatomy {
  const common = (acquisition: Acquisition) => ({
    plane,
    mmPerPixel: acquisition.window.mmPerPixel,
  });
  if (plane === 'femur') {
    const femur = buildFemur(sizes, pose, random);
    return {
      ...femur,
      truth: (acquisition) => ({
        ...common(acquisition),
        femur: {
          ends: [
            toPixel(acquisition.window, femur.ends[0]),
            toPixel(acquisition.window, femur.ends[1]),
          ],
          flMm: sizes.flMm,
        },
      }),
    };
  }
  if (plane === 'abdominal') {
    const abdomen = buildAbdomen(sizes, pose, random);
    return {
      ...abdomen,
      truth: (acquisition) => ({
        ...common(acquisition),
        abdomen: abdomenTruth(outlineTruth(abdomen.outline, acquisition), acquisition, pose, sizes),
      }),
    };
  }
  const head = buildHead(plane, sizes, pose, random);
  return {
    ...head,
    truth: (acquisition) => ({
      ...common(acquisition),
      head: headTruth(outlineTruth(head.outline, acquisition), acquisition, pose),
    }),
  };
}

/**
 * Simulates frames from a still probe: the same anatomy and machine, a slow drift, and new speckle
 * in each frame.
 */
export function simulateCine(request: FrameRequest, count: number): PhantomFrame[] {
  const { plane, sizes, seed, screen } = request;
  const random = createRandom(seed);
  const turn = drawTurn(plane, random.fork('turn'));
  const axes = halfAxes(plane, sizes);
  const border = borderOf(axes, turn);
  const extent: Extent = {
    across: Math.max(...border.map((p) => p.x)),
    down: Math.max(...border.map((p) => p.y), plane === 'femur' ? sizes.flMm / 5 : 0),
  };
  const view: View = drawVisibleView(extent, border, random.fork('view'), screen);
  const acquisition = drawAcquisition(view, random.fork('acquisition'));
  const motion = random.fork('motion');
  const drift = {
    x: motion.normal(0, 0.25),
    y: motion.normal(0, 0.25),
    turn: motion.normal(0, 0.006),
  };
  const mirror = random.fork('mirror').chance(0.5);
  const image = createImager(acquisition, random.fork('texture'));
  return Array.from({ length: count }, (_, index) => {
    const pose: Pose = {
      centre: { x: view.centre.x + drift.x * index, y: view.centre.y + drift.y * index },
      angle: turn + drift.turn * index,
      mirror,
    };
    const anatomy = buildAnatomy(plane, sizes, pose, random.fork('anatomy'));
    const around = buildUterus(view.sector, anatomy.surface, view.wallMm, random.fork('uterus'));
    const scene: Scene = [...around, ...anatomy.layers];
    const gray = image(scene, seed + 7919 * (index + 1));
    drawOverlay(gray, view.window, view.sector, random.fork('overlay'));
    return {
      columns: view.window.columns,
      rows: view.window.rows,
      gray,
      acquisition,
      truth: anatomy.truth(acquisition),
    };
  });
}

/** Simulates one still of a plane. The same request always produces the same bytes. */
export function simulateFrame(request: FrameRequest): PhantomFrame {
  return simulateCine(request, 1)[0] as PhantomFrame;
}
