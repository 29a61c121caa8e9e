import type { Extent, Screen, View } from './acquisition.ts';
import type { PhantomFrame } from './frame.ts';
import {
  type ImageWindow,
  type Point,
  type Pose,
  toMillimetres,
  toPixel,
  toPolar,
} from './geometry.ts';
import { type Acquisition, createImager } from './image-formation.ts';
import type { FrameTruth } from './labels.ts';
import { drawOverlay } from './overlay.ts';
import type { Random } from './random.ts';
import type { Shape } from './shapes.ts';
import type { Scene } from './tissue.ts';

/** Content of one frame of a view, and the values that a perfect reader would measure on it. */
interface Exposure {
  scene: Scene;
  truth: FrameTruth;
  /** Seed of this frame's speckle. Tissue and machine depend on `random` instead. */
  speckleSeed: number;
}

/**
 * Returns a function that renders the scenes of one still or cine as screens and draws the
 * machine's marks on them.
 */
export function createExposer(
  acquisition: Acquisition,
  random: Random,
): (exposure: Exposure) => PhantomFrame {
  const { window, sector } = acquisition;
  const image = createImager(acquisition, random.fork('texture'));
  return ({ scene, truth, speckleSeed }) => {
    const gray = image(scene, speckleSeed);
    drawOverlay(gray, window, sector, random.fork('overlay'));
    return { columns: window.columns, rows: window.rows, gray, acquisition, truth };
  };
}

export function extentOf(border: readonly Point[]): Extent {
  return {
    across: Math.max(...border.map(({ x }) => Math.abs(x))),
    down: Math.max(...border.map(({ y }) => Math.abs(y))),
  };
}

/**
 * Converts a point of the body (x, y in mm) to the axes of the anatomy. It is the inverse of
 * `place`.
 */
export function locate(pose: Pose, x: number, y: number): { u: number; v: number } {
  const dx = x - pose.centre.x;
  const dy = y - pose.centre.y;
  const cos = Math.cos(pose.angle);
  const sin = Math.sin(pose.angle);
  const side = dy * cos - dx * sin;
  return { u: dx * cos + dy * sin, v: pose.mirror ? -side : side };
}

/** Returns a mask of the visible pixels of a shape, 1 inside. */
export function maskOf({ window, sector }: Acquisition, shape: Shape): Uint8Array {
  const mask = new Uint8Array(window.columns * window.rows);
  const low = toPixel(window, { x: shape.centre.x - shape.reach, y: shape.centre.y - shape.reach });
  const high = toPixel(window, {
    x: shape.centre.x + shape.reach,
    y: shape.centre.y + shape.reach,
  });
  const clip = (value: number, limit: number) =>
    Math.max(0, Math.min(limit - 1, Math.round(value)));
  for (let row = clip(low.y, window.rows); row <= clip(high.y, window.rows); row++) {
    for (
      let column = clip(low.x, window.columns);
      column <= clip(high.x, window.columns);
      column++
    ) {
      const { x, y } = toMillimetres(window, { x: column, y: row });
      const { range, angle } = toPolar(sector, x, y);
      const seen = range > 0 && range < sector.depthMm && Math.abs(angle) < sector.halfAngle;
      if (seen && shape.distance(x, y) < 0) mask[row * window.columns + column] = 1;
    }
  }
  return mask;
}

/** Returns the upper left and lower right corners of the points' bounding box, in pixels. */
export function boxOf(window: ImageWindow, points: readonly Point[]): [Point, Point] {
  const pixels = points.map((point) => toPixel(window, point));
  const xs = pixels.map(({ x }) => x);
  const ys = pixels.map(({ y }) => y);
  return [
    { x: Math.min(...xs), y: Math.min(...ys) },
    { x: Math.max(...xs), y: Math.max(...ys) },
  ];
}

const ENDOCAVITY_SCREENS = [
  { columns: 640, rows: 480 },
  { columns: 800, rows: 600 },
  { columns: 1024, rows: 768 },
] as const;

/**
 * Randomly picks a transvaginal view with a small array and a wide opening angle. The anatomy is a
 * few centimetres from the array. `extent` is half the anatomy's width and height in mm.
 */
export function drawEndocavityView(extent: Extent, random: Random, screen?: Screen): View {
  const { columns, rows } = screen ?? random.pick(ENDOCAVITY_SCREENS);
  const wallMm = random.range(4, 10);
  const radiusMm = random.range(9, 13);
  const halfAngle = random.range(1.05, 1.3);
  const depthMm = wallMm + 2 * extent.down + random.range(5, 20);
  const faceRiseMm = radiusMm * (1 - Math.cos(halfAngle));
  const mmPerPixel = Math.max(0.08, (depthMm + faceRiseMm) / (rows * random.range(0.9, 1)));
  const origin = {
    x: columns * random.range(0.47, 0.53),
    y: rows * random.range(0.01, 0.04) + faceRiseMm / mmPerPixel,
  };
  const centre = { x: random.normal(0, extent.across / 12), y: wallMm + extent.down };
  return {
    sector: { radiusMm, halfAngle, depthMm },
    window: { columns, rows, mmPerPixel, origin },
    centre,
    wallMm,
  };
}
