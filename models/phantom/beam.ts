import type { EchoMap, PolarGrid } from './echo-map.ts';
import { sampleRange } from './echo-map.ts';
import { fillScatterers } from './random.ts';

/** Resolution of the imaging beam. Widths are Gaussian standard deviations in mm. */
export interface Beam {
  axialMm: number;
  lateralMm: number;
  focusMm: number;
  /** Distance from the focus at which the beam is wider by a factor of sqrt(2). */
  focalZoneMm: number;
  /** Angular resolution of a phased array at the focus, radians. Replaces `lateralMm`. */
  lateralRadians?: number;
}

/** Returns the weights of a Gaussian filter, which sum to 1. */
export function gaussianTaps(deviation: number): Float32Array {
  const radius = Math.max(1, Math.ceil(2.6 * deviation));
  const taps = new Float32Array(2 * radius + 1);
  let sum = 0;
  for (let i = -radius; i <= radius; i++) {
    const tap = Math.exp(-0.5 * (i / Math.max(deviation, 0.05)) ** 2);
    taps[i + radius] = tap;
    sum += tap;
  }
  return taps.map((tap) => tap / sum);
}

/** Blurs along the scan lines, with the same filter at every sample. Edge values are repeated. */
export function blurAxially(
  field: Float32Array,
  samples: number,
  lines: number,
  taps: Float32Array,
): Float32Array {
  const radius = (taps.length - 1) / 2;
  const out = new Float32Array(field.length);
  for (let sample = 0; sample < samples; sample++) {
    const target = sample * lines;
    for (let k = 0; k < taps.length; k++) {
      const source = Math.min(samples - 1, Math.max(0, sample + k - radius)) * lines;
      const tap = taps[k] as number;
      for (let line = 0; line < lines; line++) {
        out[target + line] =
          (out[target + line] as number) + tap * (field[source + line] as number);
      }
    }
  }
  return out;
}

/** Blurs across the scan lines, with a separate filter for each row. Edge values are repeated. */
export function blurLaterally(
  field: Float32Array,
  samples: number,
  lines: number,
  tapsOf: (sample: number) => Float32Array,
): Float32Array {
  const out = new Float32Array(field.length);
  let padded = new Float32Array(0);
  for (let sample = 0; sample < samples; sample++) {
    const taps = tapsOf(sample);
    const radius = (taps.length - 1) / 2;
    const row = sample * lines;
    if (padded.length !== lines + 2 * radius) padded = new Float32Array(lines + 2 * radius);
    padded.fill(field[row] as number, 0, radius);
    padded.set(field.subarray(row, row + lines), radius);
    padded.fill(field[row + lines - 1] as number, radius + lines);
    for (let k = 0; k < taps.length; k++) {
      const tap = taps[k] as number;
      for (let line = 0; line < lines; line++) {
        out[row + line] = (out[row + line] as number) + tap * (padded[line + k] as number);
      }
    }
  }
  return out;
}

/**
 * Returns the standard deviation of the lateral blur, in scan lines. It grows with the distance
 * from the focus.
 */
function lateralDeviation(beam: Beam, grid: PolarGrid, sample: number): number {
  const range = sampleRange(grid, sample);
  const spread = Math.hypot(1, (range - beam.focusMm) / beam.focalZoneMm);
  if (beam.lateralRadians !== undefined) {
    return (beam.lateralRadians * spread * (grid.lines - 1)) / (2 * grid.sector.halfAngle);
  }
  const widthMm = beam.lateralMm * spread;
  const spacingMm = ((grid.sector.radiusMm + range) * 2 * grid.sector.halfAngle) / (grid.lines - 1);
  return widthMm / spacingMm;
}

/**
 * Returns the sum of the squared filter weights. It is the share of white-noise variance that
 * remains after the blur.
 */
function energy(taps: Float32Array): number {
  return taps.reduce((sum, tap) => sum + tap * tap, 0);
}

/**
 * Calculates the envelope of the received echo. Diffuse backscatter is a sum of scatterers with
 * random phase (Rayleigh speckle, Wagner 1983). The specular part adds in phase before the envelope
 * is calculated.
 */
export function formEnvelope(echoes: EchoMap, beam: Beam, seed: number): Float32Array {
  const { grid, diffuse, specular } = echoes;
  const { samples, lines } = grid;
  const axial = gaussianTaps((beam.axialMm / grid.sector.depthMm) * (samples - 1));
  const lateral = Array.from({ length: samples }, (_, sample) =>
    gaussianTaps(lateralDeviation(beam, grid, sample)),
  );
  const tapsOf = (sample: number) => lateral[sample] as Float32Array;
  const axialGain = 1 / Math.sqrt(energy(axial));
  const gains = lateral.map((taps) => axialGain / Math.sqrt(2 * energy(taps)));
  const spread = (field: Float32Array) =>
    blurLaterally(blurAxially(field, samples, lines, axial), samples, lines, tapsOf);
  const scattered = (part: number) => {
    const field = new Float32Array(samples * lines);
    fillScatterers(field, seed + part);
    for (let i = 0; i < field.length; i++) {
      field[i] = (field[i] as number) * (diffuse[i] as number);
    }
    return spread(field);
  };
  const real = scattered(0);
  const imaginary = scattered(1);
  const inPhase = spread(specular);
  const envelope = new Float32Array(samples * lines);
  for (let sample = 0; sample < samples; sample++) {
    const gain = gains[sample] as number;
    for (let i = sample * lines; i < (sample + 1) * lines; i++) {
      const re = (real[i] as number) * gain + (inPhase[i] as number);
      const im = (imaginary[i] as number) * gain;
      envelope[i] = Math.sqrt(re * re + im * im);
    }
  }
  return envelope;
}
