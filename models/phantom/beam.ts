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

/**
 * Writes `count` weighted sums to `out`, starting at `at`. The terms of a sum are `step` apart in
 * `source`; those of the first sum begin at `from`.
 *
 * A sum is rounded to single precision after each term, and the next term has to wait for the
 * rounding. Eight independent sums are calculated at a time, so that these waits overlap.
 */
function filterRow(
  out: Float32Array,
  at: number,
  count: number,
  source: Float64Array,
  from: number,
  step: number,
  taps: Float32Array,
): void {
  let i = 0;
  for (; i + 7 < count; i += 8) {
    let a = 0;
    let b = 0;
    let c = 0;
    let d = 0;
    let e = 0;
    let f = 0;
    let g = 0;
    let h = 0;
    for (let k = 0, j = from + i; k < taps.length; k++, j += step) {
      const tap = taps[k] as number;
      a = Math.fround(a + tap * (source[j] as number));
      b = Math.fround(b + tap * (source[j + 1] as number));
      c = Math.fround(c + tap * (source[j + 2] as number));
      d = Math.fround(d + tap * (source[j + 3] as number));
      e = Math.fround(e + tap * (source[j + 4] as number));
      f = Math.fround(f + tap * (source[j + 5] as number));
      g = Math.fround(g + tap * (source[j + 6] as number));
      h = Math.fround(h + tap * (source[j + 7] as number));
    }
    out[at + i] = a;
    out[at + i + 1] = b;
    out[at + i + 2] = c;
    out[at + i + 3] = d;
    out[at + i + 4] = e;
    out[at + i + 5] = f;
    out[at + i + 6] = g;
    out[at + i + 7] = h;
  }
  for (; i < count; i++) {
    let sum = 0;
    for (let k = 0, j = from + i; k < taps.length; k++, j += step) {
      sum = Math.fround(sum + (taps[k] as number) * (source[j] as number));
    }
    out[at + i] = sum;
  }
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
  const padded = new Float64Array((samples + 2 * radius) * lines);
  padded.set(field, radius * lines);
  for (let row = 0; row < radius; row++) {
    padded.set(field.subarray(0, lines), row * lines);
    padded.set(field.subarray(field.length - lines), (radius + samples + row) * lines);
  }
  for (let sample = 0; sample < samples; sample++) {
    filterRow(out, sample * lines, lines, padded, sample * lines, lines, taps);
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
  let padded = new Float64Array(0);
  for (let sample = 0; sample < samples; sample++) {
    const taps = tapsOf(sample);
    const radius = (taps.length - 1) / 2;
    const row = sample * lines;
    if (padded.length !== lines + 2 * radius) padded = new Float64Array(lines + 2 * radius);
    padded.fill(field[row] as number, 0, radius);
    padded.set(field.subarray(row, row + lines), radius);
    padded.fill(field[row + lines - 1] as number, radius + lines);
    filterRow(out, row, lines, padded, 0, 1, taps);
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
 * Returns a function that calculates the envelope of the received echo. Diffuse backscatter is a
 * sum of scatterers with random phase (Rayleigh speckle, Wagner 1983). The specular part adds in
 * phase before the envelope is calculated.
 */
export function createBeamformer(
  grid: PolarGrid,
  beam: Beam,
): (echoes: EchoMap, seed: number) => Float32Array {
  const { samples, lines, sector } = grid;
  const axial = gaussianTaps((beam.axialMm / sector.depthMm) * (samples - 1));
  const lateral = Array.from({ length: samples }, (_, sample) =>
    gaussianTaps(lateralDeviation(beam, grid, sample)),
  );
  const tapsOf = (sample: number) => lateral[sample] as Float32Array;
  const axialGain = 1 / Math.sqrt(energy(axial));
  const gains = lateral.map((taps) => axialGain / Math.sqrt(2 * energy(taps)));
  const spread = (field: Float32Array) =>
    blurLaterally(blurAxially(field, samples, lines, axial), samples, lines, tapsOf);
  const scattered = (diffuse: Float32Array, seed: number) => {
    const field = new Float32Array(samples * lines);
    fillScatterers(field, seed);
    for (let i = 0; i < field.length; i++) {
      field[i] = (field[i] as number) * (diffuse[i] as number);
    }
    return spread(field);
  };
  return ({ diffuse, specular }, seed) => {
    const real = scattered(diffuse, seed);
    const imaginary = scattered(diffuse, seed + 1);
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
  };
}
