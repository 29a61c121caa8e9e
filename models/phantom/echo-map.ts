import { fromPolar, type Sector } from './geometry.ts';
import { createNoise, type Random } from './random.ts';
import { type Layer, layerAt, layersNear, type Scene } from './tissue.ts';

/** Sampling of the field of view: `samples` along each of `lines` scan lines. */
export interface PolarGrid {
  sector: Sector;
  samples: number;
  lines: number;
}

/**
 * Echo strength before blurring by the beam. A row is a sample (range), a column is a line (angle).
 */
export interface EchoMap {
  grid: PolarGrid;
  /** Amplitude of the diffuse backscatter. */
  diffuse: Float32Array;
  /** Amplitude of the specular echo, which adds in phase. */
  specular: Float32Array;
}

export function lineAngle(grid: PolarGrid, line: number): number {
  return grid.sector.halfAngle * ((2 * line) / (grid.lines - 1) - 1);
}

export function sampleRange(grid: PolarGrid, sample: number): number {
  return (grid.sector.depthMm * sample) / (grid.samples - 1);
}

/** Positions of the samples of a grid, in mm. */
export interface Places {
  x: Float64Array;
  y: Float64Array;
}

export function placesOf(grid: PolarGrid): Places {
  const { samples, lines, sector } = grid;
  const x = new Float64Array(samples * lines);
  const y = new Float64Array(samples * lines);
  for (let line = 0; line < lines; line++) {
    const angle = lineAngle(grid, line);
    for (let sample = 0; sample < samples; sample++) {
      const place = fromPolar(sector, sampleRange(grid, sample), angle);
      x[sample * lines + line] = place.x;
      y[sample * lines + line] = place.y;
    }
  }
  return { x, y };
}

/** Returns the values of a function of the position at all places. */
export function overPlaces({ x, y }: Places, value: (x: number, y: number) => number) {
  return x.map((at, i) => value(at, y[i] as number));
}

/** Converts a level in dB to a ratio of amplitudes. */
export const amplitude = (decibel: number) => Math.exp((Math.LN10 / 20) * decibel);

/**
 * Returns the |cosine| of the angle between the beam and the surface normal, which is the gradient
 * of the layer's distance function.
 */
function incidence(layer: Layer, x: number, y: number, beamX: number, beamY: number): number {
  const step = 0.1;
  const { distance } = layer.shape;
  const gx = distance(x + step, y) - distance(x - step, y);
  const gy = distance(x, y + step) - distance(x, y - step);
  const length = Math.hypot(gx, gy);
  return length === 0 ? 0 : Math.abs(gx * beamX + gy * beamY) / length;
}

/**
 * Exponent with which the specular echo weakens as the surface tilts, because the echo from a
 * tilted smooth surface misses the aperture. This makes the parietal bones visible and the frontal
 * and occipital poles invisible.
 */
const SPECULAR_EXPONENT = 3;

/**
 * Lower limit of the cosine in the bone loss. The path through bone becomes longer as the beam
 * becomes tangential, but refraction limits this.
 */
const OBLIQUE_LOSS_FLOOR = 0.5;

/**
 * Share by which the shadow of a line is blended into its neighbours, per mm of depth. The wide
 * aperture receives echoes from behind small bones.
 */
const PENUMBRA_PER_MM = 0.25;

/** Amplitudes in mm of the random bending of soft anatomy. */
const BEND = { coarse: 1, fine: 0.4 } as const;

/**
 * Samples the slow spatial variation of echogenicity, the roughness of surfaces, and the bending of
 * soft anatomy.
 */
function drawVariation(random: Random) {
  const noise = (name: string, cellMm: number) => createNoise(random.fork(name), cellMm);
  const coarse = noise('coarse texture', random.range(6, 14));
  const middle = noise('middle texture', random.range(2.5, 4.5));
  const fine = noise('fine texture', random.range(0.9, 1.6));
  const rough = noise('roughness', random.range(1.5, 4));
  const bendX = noise('bend across', 11);
  const bendY = noise('bend down', 11);
  const rippleX = noise('ripple across', 3);
  const rippleY = noise('ripple down', 3);
  return {
    texture: (x: number, y: number) => 0.8 * coarse(x, y) + 0.7 * middle(x, y) + 0.5 * fine(x, y),
    roughness: (x: number, y: number) => Math.max(0, 0.25 + 0.75 * rough(x, y)),
    bentX: (x: number, y: number) => x + BEND.coarse * bendX(x, y) + BEND.fine * rippleX(x, y),
    bentY: (x: number, y: number) => y + BEND.coarse * bendY(x, y) + BEND.fine * rippleY(x, y),
  };
}

/** Largest distance in mm by which soft anatomy is bent. */
const BENT_MM = Math.SQRT2 * (BEND.coarse + BEND.fine);

/** Number of samples and of lines in a block of the grid. */
const BLOCK = 8;

/**
 * Returns the layers that each block of lines can hit from sample `first` to the end of the block.
 * Most layers are small, and testing the reach of each at every sample would take longer than all
 * else.
 */
function layersInReach(scene: Scene, grid: PolarGrid, { x, y }: Places, first: number): Scene[] {
  const { samples, lines } = grid;
  const end = Math.min(samples, first + BLOCK);
  return Array.from({ length: Math.ceil(lines / BLOCK) }, (_, block) => {
    const from = block * BLOCK;
    const to = Math.min(lines, from + BLOCK);
    const middle = ((first + end) >> 1) * lines + ((from + to) >> 1);
    const centre = { x: x[middle] as number, y: y[middle] as number };
    const corners = [first, end - 1].flatMap((row) => [row * lines + from, row * lines + to - 1]);
    const extent = Math.max(
      ...corners.map((i) => Math.hypot((x[i] as number) - centre.x, (y[i] as number) - centre.y)),
    );
    return layersNear(scene, centre, extent + BENT_MM);
  });
}

/** Blends the shadow of each line into its neighbours by `share`. */
function softenShadows(loss: Float32Array, share: number): void {
  let before = loss[0] ?? 0;
  for (let line = 1; line < loss.length - 1; line++) {
    const here = loss[line] as number;
    loss[line] = here + share * (before + (loss[line + 1] as number) - 2 * here);
    before = here;
  }
}

/**
 * Returns a function that calculates the echo strength along each line of a scene. Shadowing and
 * enhancement accumulate with depth. The tissue varies in the same way in all frames of a cine.
 */
export function createEchoMapper(grid: PolarGrid, random: Random): (scene: Scene) => EchoMap {
  const { samples, lines, sector } = grid;
  const variation = drawVariation(random);
  const stepMm = sector.depthMm / (samples - 1);
  const places = placesOf(grid);
  const texture = overPlaces(places, variation.texture);
  let bent: Places | undefined;
  const bend = (): Places => ({
    x: overPlaces(places, variation.bentX),
    y: overPlaces(places, variation.bentY),
  });
  return (scene) => {
    const diffuse = new Float32Array(samples * lines);
    const specular = new Float32Array(samples * lines);
    const lossSoFar = new Float32Array(lines);
    if (scene.some(({ rigid }) => !rigid)) bent ??= bend();
    const soft = bent ?? places;
    let inReach: Scene[] = [];
    for (let sample = 0; sample < samples; sample++) {
      if (sample % BLOCK === 0) inReach = layersInReach(scene, grid, places, sample);
      softenShadows(lossSoFar, Math.min(0.3, PENUMBRA_PER_MM * stepMm));
      for (let line = 0; line < lines; line++) {
        const index = sample * lines + line;
        const x = places.x[index] as number;
        const y = places.y[index] as number;
        const bentX = soft.x[index] as number;
        const bentY = soft.y[index] as number;
        const near = inReach[Math.floor(line / BLOCK)] as Scene;
        const layer = layerAt(near, x, y, bentX, bentY);
        if (layer === undefined) continue;
        const { tissue } = layer;
        const passed = lossSoFar[line] as number;
        const change =
          tissue.texture * (texture[index] as number) + (layer.modulation?.(x, y) ?? 0) - passed;
        diffuse[index] = amplitude(tissue.echo + change);
        let loss = tissue.loss;
        if (tissue.mirror !== undefined) {
          const atX = layer.rigid ? x : bentX;
          const atY = layer.rigid ? y : bentY;
          const angle = lineAngle(grid, line);
          const facing = incidence(layer, atX, atY, Math.sin(angle), Math.cos(angle));
          const lost = (tissue.rough ?? 0) * variation.roughness(x, y);
          specular[index] = amplitude(tissue.mirror + change - lost) * facing ** SPECULAR_EXPONENT;
          loss /= Math.max(OBLIQUE_LOSS_FLOOR, facing);
        }
        lossSoFar[line] = passed + loss * stepMm;
      }
    }
    return { grid, diffuse, specular };
  };
}
