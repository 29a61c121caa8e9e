import { fieldOfView } from '../acquisition.ts';
import type { PhantomFrame } from '../frame.ts';
import { toMillimetres, toPolar } from '../geometry.ts';
import { type Acquisition, createReceiver } from '../image-formation.ts';
import type { Random } from '../random.ts';
import { createHeartMapper } from './echoes.ts';
import { emptySample, type HeartMoment, STRUCTURE, type Structure } from './heart.ts';
import type { Look } from './look.ts';
import { fromImage, type ImagePlane } from './space.ts';

/** One view of a beating heart. Plane, machine and grid stay the same while the moment changes. */
export interface HeartShot {
  plane: ImagePlane;
  acquisition: Acquisition;
  look: Look;
  /** Number of scan lines, and of samples along each. */
  lines: number;
  samples: number;
}

/**
 * Returns a function that gives the grey levels of the frames of a shot, rows x columns. `texture`
 * is the random source for clutter and display, which are the same in all frames; `speckleSeed`
 * determines the speckle.
 */
export function createHeartImager(
  { plane, acquisition, look, lines, samples }: HeartShot,
  texture: Random,
): (heart: HeartMoment, speckleSeed: number) => PhantomFrame['gray'] {
  const grid = { sector: acquisition.sector, lines, samples };
  const echoesOf = createHeartMapper(plane, grid, look);
  const receive = createReceiver(grid, acquisition, texture);
  return (heart, speckleSeed) => receive(echoesOf(heart), speckleSeed);
}

/** Returns the structure at each pixel of the field of view, a value of `STRUCTURE`. */
export function labelHeart(
  heart: HeartMoment,
  { plane, acquisition: { window, sector } }: Pick<HeartShot, 'plane' | 'acquisition'>,
): Uint8Array {
  const { columns, rows } = window;
  const labels = new Uint8Array(columns * rows);
  const sample = emptySample();
  const { minX, minY, maxX, maxY } = fieldOfView(sector, window);
  for (let row = minY; row <= maxY; row++) {
    for (let column = minX; column <= maxX; column++) {
      const { x, y } = toMillimetres(window, { x: column, y: row });
      const { range, angle } = toPolar(sector, x, y);
      if (range < 0 || range > sector.depthMm || Math.abs(angle) > sector.halfAngle) continue;
      const at = fromImage(plane, x, y);
      heart.probe(at.x, at.y, at.z, sample);
      labels[row * columns + column] = sample.structure;
    }
  }
  return labels;
}

/** Returns a mask for each structure that the frame shows, 1 inside. */
export function masksOf(labels: Uint8Array): Record<string, Uint8Array> {
  const masks: Record<string, Uint8Array> = {};
  for (const [name, value] of Object.entries<Structure>(STRUCTURE)) {
    if (value === STRUCTURE.outside || !labels.includes(value)) continue;
    masks[name] = labels.map((label) => (label === value ? 1 : 0));
  }
  return masks;
}
