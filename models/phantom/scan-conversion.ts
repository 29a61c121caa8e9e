import type { PolarGrid } from './echo-map.ts';
import { type ImageWindow, toPolar } from './geometry.ts';

/** Polar brightness (0..1) to screen pixels (0..255) by bilinear interpolation. */
export function scanConvert(
  brightness: Float32Array,
  grid: PolarGrid,
  window: ImageWindow,
): Uint8Array {
  const { sector, samples, lines } = grid;
  const { columns, rows, mmPerPixel, origin } = window;
  const pixels = new Uint8Array(columns * rows);
  const samplesPerMm = (samples - 1) / sector.depthMm;
  const linesPerRadian = (lines - 1) / (2 * sector.halfAngle);
  for (let row = 0; row < rows; row++) {
    const y = (row - origin.y) * mmPerPixel;
    for (let column = 0; column < columns; column++) {
      const x = (column - origin.x) * mmPerPixel;
      const { range, angle } = toPolar(sector, x, y);
      const s = range * samplesPerMm;
      const l = (angle + sector.halfAngle) * linesPerRadian;
      if (s < 0 || l < 0 || s > samples - 1 || l > lines - 1) continue;
      const s0 = Math.min(samples - 2, Math.floor(s));
      const l0 = Math.min(lines - 2, Math.floor(l));
      const fs = s - s0;
      const fl = l - l0;
      const i = s0 * lines + l0;
      const upper = (brightness[i] as number) * (1 - fl) + (brightness[i + 1] as number) * fl;
      const lower =
        (brightness[i + lines] as number) * (1 - fl) + (brightness[i + lines + 1] as number) * fl;
      pixels[row * columns + column] = Math.round(255 * (upper * (1 - fs) + lower * fs));
    }
  }
  return pixels;
}
