import type { ImageWindow, Sector } from './geometry.ts';
import type { Random } from './random.ts';

/** A 5 x 7 dot font for the machine's text: five bits per row, most significant on the left. */
const GLYPHS: Record<string, readonly number[]> = {
  '0': [14, 17, 19, 21, 25, 17, 14],
  '1': [4, 12, 4, 4, 4, 4, 14],
  '2': [14, 17, 1, 2, 4, 8, 31],
  '3': [31, 2, 4, 2, 1, 17, 14],
  '4': [2, 6, 10, 18, 31, 2, 2],
  '5': [31, 16, 30, 1, 1, 17, 14],
  '6': [6, 8, 16, 30, 17, 17, 14],
  '7': [31, 1, 2, 4, 8, 8, 8],
  '8': [14, 17, 17, 14, 17, 17, 14],
  '9': [14, 17, 17, 15, 1, 2, 12],
  A: [14, 17, 17, 31, 17, 17, 17],
  B: [30, 17, 17, 30, 17, 17, 30],
  C: [14, 17, 16, 16, 16, 17, 14],
  D: [28, 18, 17, 17, 17, 18, 28],
  E: [31, 16, 16, 30, 16, 16, 31],
  F: [31, 16, 16, 30, 16, 16, 16],
  G: [14, 17, 16, 23, 17, 17, 15],
  H: [17, 17, 17, 31, 17, 17, 17],
  I: [14, 4, 4, 4, 4, 4, 14],
  L: [16, 16, 16, 16, 16, 16, 31],
  M: [17, 27, 21, 21, 17, 17, 17],
  N: [17, 25, 21, 19, 17, 17, 17],
  O: [14, 17, 17, 17, 17, 17, 14],
  P: [30, 17, 17, 30, 16, 16, 16],
  R: [30, 17, 17, 30, 20, 18, 17],
  S: [15, 16, 16, 14, 1, 1, 30],
  T: [31, 4, 4, 4, 4, 4, 4],
  U: [17, 17, 17, 17, 17, 17, 14],
  Z: [31, 1, 2, 4, 8, 16, 31],
  '/': [1, 1, 2, 4, 8, 16, 16],
  '-': [0, 0, 0, 31, 0, 0, 0],
  '.': [0, 0, 0, 0, 0, 12, 12],
  '%': [25, 26, 2, 4, 8, 11, 19],
};

export const GLYPH = { width: 5, height: 7, advance: 6, lineHeight: 10 } as const;

/** Calls `dot(column, row)` for every lit dot in a line of text. Unknown characters are blank. */
export function drawText(text: string, dot: (column: number, row: number) => void): void {
  for (let i = 0; i < text.length; i++) {
    const rows = GLYPHS[text.charAt(i)];
    if (rows === undefined) continue;
    for (let row = 0; row < GLYPH.height; row++) {
      for (let column = 0; column < GLYPH.width; column++) {
        const lit = ((rows[row] ?? 0) >> (GLYPH.width - 1 - column)) & 1;
        if (lit === 1) dot(i * GLYPH.advance + column, row);
      }
    }
  }
}

/** Sets one pixel. Positions outside the screen are ignored. */
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

/** Draws a tick for each centimetre below the probe face, and a longer one for every fifth. */
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

/** Draws the machine's marks around the image: name, settings, depth ruler and grey bar. */
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
