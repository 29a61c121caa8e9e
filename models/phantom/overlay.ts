import type { ImageWindow, Sector } from './geometry.ts';
import { drawText, GLYPH } from './glyphs.ts';
import type { Random } from './random.ts';

/** Sets one pixel; places outside the screen are ignored. */
type Plot = (column: number, row: number, level: number) => void;

function plotter(pixels: Uint8Array, window: ImageWindow): Plot {
  return (column, row, level) => {
    if (column < 0 || row < 0 || column >= window.columns || row >= window.rows) return;
    pixels[row * window.columns + column] = level;
  };
}

function write(
  plot: Plot,
  text: string,
  at: { column: number; row: number },
  size: number,
  level: number,
) {
  drawText(text, (dotColumn, dotRow) => {
    for (let dy = 0; dy < size; dy++) {
      for (let dx = 0; dx < size; dx++) {
        plot(at.column + dotColumn * size + dx, at.row + dotRow * size + dy, level);
      }
    }
  });
}

/** Ticks each centimetre below the probe face, longer each fifth. */
function depthRuler(plot: Plot, window: ImageWindow, sector: Sector, column: number): void {
  for (let centimetre = 0; centimetre * 10 <= sector.depthMm; centimetre++) {
    const row = Math.round(window.origin.y + (centimetre * 10) / window.mmPerPixel);
    const length = centimetre % 5 === 0 ? 7 : 3;
    for (let i = 0; i < length; i++) plot(column + i, row, 220);
  }
}

function greyBar(plot: Plot, window: ImageWindow, column: number): void {
  const height = Math.round(window.rows * 0.28);
  const top = Math.round(window.rows * 0.08);
  for (let row = 0; row < height; row++) {
    const level = Math.round(255 * (1 - row / height));
    for (let i = 0; i < 5; i++) plot(column + i, top + row, level);
  }
}

/** The machine's own marks around the image: name, settings, depth ruler, grey bar. */
export function drawOverlay(
  pixels: Uint8Array,
  window: ImageWindow,
  sector: Sector,
  random: Random,
): void {
  const plot = plotter(pixels, window);
  const size = window.columns >= 1000 ? 2 : 1;
  const level = random.integer(150, 235);
  if (random.chance(0.85)) greyBar(plot, window, random.integer(1, 8));
  if (random.chance(0.85)) {
    const column = random.chance(0.5) ? 12 : window.columns - 12;
    depthRuler(plot, window, sector, column);
  }
  if (random.chance(0.7)) write(plot, 'PHANTOM', { column: 26, row: 8 }, size, level);
  const settings = [
    `${Math.round((sector.halfAngle * 360) / Math.PI)} / ${random.integer(15, 60)}HZ`,
    `${(sector.depthMm / 10).toFixed(1)}CM`,
    random.pick(['2 TRIM.', '3 TRIM.', 'OB', 'FETAL']),
    `AO ${random.integer(60, 100)}%`,
    `GN ${random.integer(-10, 10)}`,
    `C${random.integer(4, 8)} / M${random.integer(4, 8)}`,
  ];
  if (random.chance(0.8)) {
    settings.slice(0, random.integer(2, settings.length)).forEach((text, line) => {
      const column = window.columns - 4 - text.length * GLYPH.advance * size;
      write(plot, text, { column, row: 6 + line * GLYPH.lineHeight * size }, size, level);
    });
  }
}
