import { blurAxially, blurLaterally, gaussianTaps } from '../beam.ts';
import type { Random } from '../random.ts';

/** How a spectral display was set; levels in dB below full scale. */
export interface SpectrumSettings {
  columns: number;
  rows: number;
  /** Row of the baseline within the display. */
  zeroRow: number;
  secondsPerColumn: number;
  /** cm/s per row. */
  velocityPerRow: number;
  /** Flow towards the probe is drawn upwards, or downwards where the machine inverts. */
  forward: 'up' | 'down';
  /** Velocities below it are filtered out, cm/s. */
  wallFilter: number;
  /** Slowest blood in the gate as a share of the fastest: plug flow has a high one. */
  slowestShare: number;
  /** Geometric broadening: spread of one velocity over the spectrum, share of it. */
  broadening: number;
  /** Velocity resolution of the transform, cm/s. */
  resolution: number;
  /** Level of the electronic noise. */
  noise: number;
  /** Level of the image of the flow on the other side of the baseline. */
  mirror: number;
  dynamicRange: number;
  gain: number;
  /** Even velocity of a neighbouring vein on the other side; 0 for none. */
  vein: number;
  /** Blurs of the picture, pixels. */
  blur: { time: number; velocity: number };
}

const power = (decibel: number) => 10 ** (decibel / 10);

/** Smooth step from 1 to 0 around `edge`, as wide as `width`. */
const below = (value: number, edge: number, width: number) =>
  1 / (1 + Math.exp((2.4 * (value - edge)) / width));

/** Power of blood between the slowest and the fastest velocity, after the wall filter. */
function flowPower(velocity: number, fastest: number, settings: SpectrumSettings): number {
  const { slowestShare, wallFilter } = settings;
  const sign = Math.sign(fastest) || 1;
  const v = velocity * sign;
  const peak = Math.abs(fastest);
  const broadening = settings.broadening * peak + settings.resolution;
  const slow = slowestShare * peak;
  const inside =
    below(v, peak, broadening) *
    (1 - below(v, 0, broadening)) *
    (1 - 0.95 * below(v, slow, 0.2 * peak + broadening));
  const passed = 1 - below(Math.abs(velocity), wallFilter, 0.25 * wallFilter + 0.2);
  return inside * passed * Math.min(1, peak / (3 * wallFilter));
}

/**
 * Grey levels 0 to 255 of a spectral display, `rows` x `columns`. `fastest` gives the signed
 * maximum velocity at a time. What lies beyond the Nyquist limit comes in again at the other edge.
 */
export function drawSpectrum(
  fastest: (seconds: number) => number,
  settings: SpectrumSettings,
  random: Random,
): Uint8Array {
  const { columns, rows, zeroRow, velocityPerRow, forward, vein } = settings;
  const span = rows * velocityPerRow;
  const up = forward === 'up' ? 1 : -1;
  const noise = power(settings.noise);
  const mirror = power(settings.mirror);
  const field = new Float32Array(rows * columns);
  for (let column = 0; column < columns; column++) {
    const peak = fastest(column * settings.secondsPerColumn);
    for (let row = 0; row < rows; row++) {
      const shown = (zeroRow - row) * velocityPerRow * up;
      let level = noise;
      for (const velocity of [shown - span, shown, shown + span]) {
        level += flowPower(velocity, peak, settings);
        level += mirror * flowPower(-velocity, peak, settings);
        if (vein > 0) level += 0.5 * flowPower(-velocity, vein, settings);
      }
      // The power of one cell of a periodogram is exponentially distributed.
      field[row * columns + column] = -level * Math.log(1 - random.unit());
    }
  }
  const smooth = blurLaterally(
    blurAxially(field, rows, columns, gaussianTaps(settings.blur.velocity)),
    rows,
    columns,
    () => gaussianTaps(settings.blur.time),
  );
  return Uint8Array.from(smooth, (value) => {
    const decibel = 10 * Math.log10(value + 1e-12) + settings.gain;
    return Math.max(0, Math.min(255, 255 * (1 + decibel / settings.dynamicRange)));
  });
}
