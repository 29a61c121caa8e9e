import { drawAcquisition, type View } from '../acquisition.ts';
import type { PhantomFrame } from '../frame.ts';
import { type Point, toMillimetres, toPixel, toPolar } from '../geometry.ts';
import { type Acquisition, createImager } from '../image-formation.ts';
import type { FrameTruth } from '../labels.ts';
import { drawOverlay } from '../overlay.ts';
import type { Random } from '../random.ts';
import type { Shape } from '../shapes.ts';
import { type Layer, layerAt, layersNear } from '../tissue.ts';

/** A layer of a view, with the structure to which its pixels belong in the ground truth. */
export interface Piece extends Layer {
  structure?: string;
}

/** What all frames of a view share. */
interface SceneView {
  plane: string;
  view: View;
  random: Random;
  /** True if the truth contains a mask of each structure. */
  masks: boolean;
  /**
   * Draws the machine's marks over the image. By default, the marks of an obstetric screen are
   * drawn.
   */
  mark?: (gray: Uint8Array, acquisition: Acquisition) => void;
}

/** The content of one frame. */
interface SceneFrame {
  /**
   * Pieces of the scene. Later pieces cover earlier ones. Pieces are never bent, because their
   * outlines are the ground truth.
   */
  pieces: readonly Piece[];
  values: Readonly<Record<string, number>>;
  /** Points of the truth by name, in mm. */
  points: Readonly<Record<string, readonly Point[]>>;
  /** Seed of the speckle, different for each frame of a cine. */
  speckleSeed: number;
}

/** Rows and columns of the tiles of a mask. */
const TILE = 16;

/** Returns a mask of each structure. A pixel belongs to the topmost piece at that position. */
function masksOf(pieces: readonly Piece[], { sector, window }: View): Record<string, Uint8Array> {
  const { columns, rows } = window;
  const masks: Record<string, Uint8Array> = {};
  for (const { structure } of pieces) {
    if (structure) masks[structure] ??= new Uint8Array(columns * rows);
  }
  const mark = (near: readonly Piece[], column: number, row: number) => {
    const { x, y } = toMillimetres(window, { x: column, y: row });
    const { range, angle } = toPolar(sector, x, y);
    if (range < 0 || range > sector.depthMm || Math.abs(angle) > sector.halfAngle) return;
    const top: Piece | undefined = layerAt(near, x, y, x, y);
    const mask = top?.structure ? masks[top.structure] : undefined;
    if (mask) mask[row * columns + column] = 1;
  };
  const extentMm = TILE * Math.SQRT1_2 * window.mmPerPixel;
  for (let top = 0; top < rows; top += TILE) {
    for (let left = 0; left < columns; left += TILE) {
      const centre = toMillimetres(window, { x: left + TILE / 2, y: top + TILE / 2 });
      const near = layersNear(pieces, centre, extentMm);
      if (!near.some(({ structure }) => structure)) continue;
      for (let row = top; row < Math.min(rows, top + TILE); row++) {
        for (let column = left; column < Math.min(columns, left + TILE); column++) {
          mark(near, column, row);
        }
      }
    }
  }
  return masks;
}

/**
 * Returns a function that simulates the frames of a view with their truth. The physics is the same
 * as for every other plane; only the anatomy differs.
 */
export function createSceneSimulator({
  plane,
  view,
  random,
  masks,
  mark,
}: SceneView): (frame: SceneFrame) => PhantomFrame {
  const { window, sector } = view;
  const acquisition = drawAcquisition(view, random.fork('acquisition'));
  const image = createImager(acquisition, random.fork('texture'));
  return ({ points, values, speckleSeed, ...frame }) => {
    const pieces = frame.pieces.map((piece): Piece => ({ ...piece, rigid: true }));
    const gray = image(pieces, speckleSeed);
    if (mark) mark(gray, acquisition);
    else drawOverlay(gray, window, sector, random.fork('overlay'));
    const truth: FrameTruth = {
      plane,
      mmPerPixel: window.mmPerPixel,
      values,
      points: Object.fromEntries(
        Object.entries(points).map(([name, list]) => [
          name,
          list.map((point) => toPixel(window, point)),
        ]),
      ),
      ...(masks && { masks: masksOf(pieces, view) }),
    };
    return { columns: window.columns, rows: window.rows, gray, acquisition, truth };
  };
}

/** Returns the shape with a wavy border, displaced by `noise` (-1..1) times `by` mm. */
export function wavering(shape: Shape, noise: (x: number, y: number) => number, by: number): Shape {
  return {
    ...shape,
    reach: shape.reach + by,
    distance: (x, y) => shape.distance(x, y) + by * noise(x, y),
  };
}
