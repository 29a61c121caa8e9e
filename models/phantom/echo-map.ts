import { fromPolar, type Sector } from './geometry.ts';
import { createNoise, type Random } from './random.ts';
import { type Layer, layerAt, type Scene } from './tissue.ts';

/** Sampling of the field of view: `samples` along each of `lines` scan lines. */
export interface PolarGrid {
  sector: Sector;
  samples: number;
  lines: number;
}

/** Echo strength before the beam blurs it, row = sample (range), column = line (angle). */
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

const amplitude = (decibel: number) => 10 ** (decibel / 20);

/** |cosine| of the angle between the beam and the surface normal, from the distance's gradient. */
function incidence(layer: Layer, x: number, y: number, beamX: number, beamY: number): number {
  const step = 0.1;
  const { distance } = layer.shape;
  const gx = distance(x + step, y) - distance(x - step, y);
  const gy = distance(x, y + step) - distance(x, y - step);
  const length = Math.hypot(gx, gy);
  return length === 0 ? 0 : Math.abs(gx * beamX + gy * beamY) / length;
}

/**
 * Specular fall-off: the echo of a smooth surface misses the aperture when it is tilted, which is
 * why the parietal bones show and the frontal and occipital poles drop out.
 */
const SPECULAR_EXPONENT = 3;

/** Path through bone grows as the beam turns tangential; bounded, since refraction takes over. */
const OBLIQUE_LOSS_FLOOR = 0.35;

/** Tissue to echo strength along each line, with shadow and enhancement carried downwards. */
export function mapEchoes(scene: Scene, grid: PolarGrid, random: Random): EchoMap {
  const { samples, lines, sector } = grid;
  const diffuse = new Float32Array(samples * lines);
  const specular = new Float32Array(samples * lines);
  const coarse = createNoise(random.fork('coarse texture'), random.range(5, 12));
  const fine = createNoise(random.fork('fine texture'), random.range(1.2, 3));
  const stepMm = sector.depthMm / (samples - 1);
  const lossSoFar = new Float32Array(lines);
  for (let sample = 0; sample < samples; sample++) {
    const range = sampleRange(grid, sample);
    for (let line = 0; line < lines; line++) {
      const angle = lineAngle(grid, line);
      const { x, y } = fromPolar(sector, range, angle);
      const layer = layerAt(scene, x, y);
      if (layer === undefined) continue;
      const { tissue } = layer;
      const index = sample * lines + line;
      const passed = lossSoFar[line] ?? 0;
      const variation = tissue.texture * (0.6 * coarse(x, y) + 0.6 * fine(x, y));
      const echo = tissue.echo + variation + (layer.modulation?.(x, y) ?? 0);
      diffuse[index] = amplitude(echo - passed);
      let loss = tissue.loss;
      if (tissue.mirror !== undefined) {
        const facing = incidence(layer, x, y, Math.sin(angle), Math.cos(angle));
        specular[index] =
          amplitude(tissue.mirror + variation - passed) * facing ** SPECULAR_EXPONENT;
        loss /= Math.max(OBLIQUE_LOSS_FLOOR, facing);
      }
      lossSoFar[line] = passed + loss * stepMm;
    }
  }
  return { grid, diffuse, specular };
}
