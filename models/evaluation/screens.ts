import type { GrayImage } from '../../pipelines/contract/image.ts';
import { drawText, GLYPH } from '../phantom/overlay.ts';
import { createRandom, type Random } from '../phantom/random.ts';

/**
 * Layout of a whole screen, as exported by carts and viewers: a picture surrounded and partly
 * covered by a header bar, settings, rulers, a grey bar, calipers and a results box. The layouts
 * imitate several makers, but contain no pixel from a real screen.
 */
interface Layout {
  name: string;
  width: number;
  height: number;
  /** Largest area for the picture, as shares of the screen: left, top, right, bottom. */
  picture: readonly [number, number, number, number];
  /** Grey level of the background. */
  ground: number;
  /** Uniform grey bars: left, top, right and bottom as shares of the screen, and the grey level. */
  bars: readonly (readonly [number, number, number, number, number])[];
  /** Blocks of text: left and top as shares of the screen, number of lines, and maximum length. */
  texts: readonly (readonly [number, number, number, number])[];
  ruler: 'left' | 'right' | 'none';
  /** Number of thumbnails in a column on the left, as in viewers. */
  thumbnails: number;
}

export const LAYOUTS: readonly Layout[] = [
  {
    name: 'header bar, settings left',
    width: 1024,
    height: 768,
    picture: [0.17, 0.13, 0.93, 0.95],
    ground: 0,
    bars: [[0, 0, 1, 0.09, 92]],
    texts: [
      [0.02, 0.015, 2, 20],
      [0.55, 0.015, 2, 24],
      [0.01, 0.14, 11, 11],
    ],
    ruler: 'right',
    thumbnails: 0,
  },
  {
    name: 'dark header, settings right',
    width: 800,
    height: 600,
    picture: [0.05, 0.14, 0.8, 0.96],
    ground: 0,
    bars: [],
    texts: [
      [0.03, 0.01, 3, 22],
      [0.5, 0.01, 2, 26],
      [0.83, 0.15, 14, 10],
    ],
    ruler: 'left',
    thumbnails: 0,
  },
  {
    name: 'title and status bar',
    width: 640,
    height: 480,
    picture: [0.12, 0.1, 0.78, 0.92],
    ground: 0,
    bars: [
      [0, 0, 1, 0.06, 120],
      [0, 0.94, 1, 1, 70],
    ],
    texts: [
      [0.02, 0.012, 1, 30],
      [0.8, 0.12, 9, 11],
      [0.05, 0.95, 1, 50],
    ],
    ruler: 'right',
    thumbnails: 0,
  },
  {
    name: 'menu column and results',
    width: 1280,
    height: 960,
    picture: [0.2, 0.12, 0.8, 0.9],
    ground: 14,
    bars: [
      [0, 0, 1, 0.07, 60],
      [0.88, 0.07, 1, 1, 48],
      [0, 0.93, 0.88, 1, 38],
    ],
    texts: [
      [0.01, 0.012, 2, 34],
      [0.89, 0.1, 18, 11],
      [0.02, 0.5, 7, 15],
    ],
    ruler: 'left',
    thumbnails: 0,
  },
  {
    name: 'viewer with thumbnails',
    width: 1600,
    height: 900,
    picture: [0.25, 0.12, 0.88, 0.94],
    ground: 0,
    bars: [
      [0, 0, 1, 0.055, 44],
      [0, 0.055, 0.1, 1, 30],
    ],
    texts: [
      [0.12, 0.07, 4, 22],
      [0.86, 0.07, 4, 14],
      [0.12, 0.88, 3, 18],
      [0.86, 0.9, 3, 14],
    ],
    ruler: 'none',
    thumbnails: 4,
  },
  {
    name: 'small picture on black',
    width: 1024,
    height: 768,
    picture: [0.25, 0.22, 0.75, 0.8],
    ground: 0,
    bars: [],
    texts: [
      [0.02, 0.02, 4, 20],
      [0.75, 0.02, 5, 24],
      [0.02, 0.88, 4, 30],
    ],
    ruler: 'right',
    thumbnails: 0,
  },
];

const WORDS = ['OB', '2 TRIM', 'GN 5', 'C6', 'M7', '22HZ', '15.3CM', 'TIS 0.4', 'HAR', 'SRI II 3'];

/**
 * Renders the screen. Also returns the scale of the picture on it, in screen pixels per picture
 * pixel.
 */
export function onScreen(
  picture: GrayImage,
  layout: Layout,
  seed: number,
): { screen: GrayImage; scale: number } {
  const random = createRandom(seed);
  const { width, height } = layout;
  const data = new Uint8Array(width * height).fill(layout.ground);
  const screen = { width, height, data };
  for (const [x0, y0, x1, y1, level] of layout.bars) fill(screen, [x0, y0, x1, y1], level);
  const [left, top, right, bottom] = layout.picture;
  const scale = Math.min(
    ((right - left) * width) / picture.width,
    ((bottom - top) * height) / picture.height,
  );
  const at = {
    x: Math.round((left + right) * 0.5 * width - (scale * picture.width) / 2),
    y: Math.round((top + bottom) * 0.5 * height - (scale * picture.height) / 2),
  };
  place(screen, picture, at, scale);
  for (let n = 0; n < layout.thumbnails; n++) {
    place(
      screen,
      picture,
      { x: 12, y: Math.round((0.08 + 0.22 * n) * height) },
      0.085 * scale * 1.6,
    );
  }
  const size = width >= 1000 ? 2 : 1;
  for (const [x, y, lines, length] of layout.texts) {
    text(screen, random, { x: x * width, y: y * height }, size, lines, length);
  }
  const box = { ...at, width: scale * picture.width, height: scale * picture.height };
  if (layout.ruler !== 'none') ruler(screen, box, layout.ruler);
  calipers(screen, random, box);
  return { screen, scale };
}

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

function plot({ width, height, data }: GrayImage, x: number, y: number, level: number): void {
  const [column, row] = [Math.round(x), Math.round(y)];
  if (column < 0 || row < 0 || column >= width || row >= height) return;
  data[row * width + column] = level;
}

function fill(
  { width, height, data }: GrayImage,
  [x0, y0, x1, y1]: readonly [number, number, number, number],
  level: number,
): void {
  for (let y = Math.round(y0 * height); y < Math.round(y1 * height); y++) {
    data.fill(level, y * width + Math.round(x0 * width), y * width + Math.round(x1 * width));
  }
}

/**
 * Draws the picture at a scale. A screen pixel is the mean of the picture pixels that it covers, or
 * is interpolated between them.
 */
function place(screen: GrayImage, picture: GrayImage, at: { x: number; y: number }, scale: number) {
  const samples = Math.max(1, Math.ceil(1 / scale));
  const value = (x: number, y: number) => {
    const [cx, cy] = [
      Math.min(Math.max(x, 0), picture.width - 1),
      Math.min(Math.max(y, 0), picture.height - 1),
    ];
    const [x0, y0] = [Math.floor(cx), Math.floor(cy)];
    const of = (column: number, row: number) =>
      picture.data[
        Math.min(row, picture.height - 1) * picture.width + Math.min(column, picture.width - 1)
      ] ?? 0;
    const [fx, fy] = [cx - x0, cy - y0];
    return (
      (1 - fy) * ((1 - fx) * of(x0, y0) + fx * of(x0 + 1, y0)) +
      fy * ((1 - fx) * of(x0, y0 + 1) + fx * of(x0 + 1, y0 + 1))
    );
  };
  for (let y = 0; y < Math.round(scale * picture.height); y++) {
    for (let x = 0; x < Math.round(scale * picture.width); x++) {
      let sum = 0;
      for (let n = 0; n < samples * samples; n++) {
        const dx = ((n % samples) + 0.5) / samples;
        const dy = (Math.floor(n / samples) + 0.5) / samples;
        sum += value((x + dx) / scale - 0.5, (y + dy) / scale - 0.5);
      }
      plot(screen, at.x + x, at.y + y, Math.round(sum / (samples * samples)));
    }
  }
}

function text(
  screen: GrayImage,
  random: Random,
  at: { x: number; y: number },
  size: number,
  lines: number,
  length: number,
): void {
  const level = random.integer(170, 250);
  for (let line = 0; line < lines; line++) {
    let said = '';
    while (said.length < length - 4 && !random.chance(0.12)) said += `${random.pick(WORDS)} `;
    const top = at.y + line * GLYPH.lineHeight * size * 1.2;
    drawText(said.slice(0, length), (column, row) => {
      for (let dot = 0; dot < size * size; dot++) {
        const [dx, dy] = [dot % size, Math.floor(dot / size)];
        plot(screen, at.x + column * size + dx, top + row * size + dy, level);
      }
    });
  }
}

function ruler(screen: GrayImage, box: Box, side: 'left' | 'right'): void {
  const x = side === 'left' ? box.x - 14 : box.x + box.width + 8;
  const step = box.height / 15;
  for (let tick = 0; tick <= 15; tick++) {
    const long = tick % 5 === 0 ? 8 : 4;
    for (let dx = 0; dx < long; dx++) plot(screen, x + dx, box.y + tick * step, 220);
  }
  // The grey bar is on the side opposite the ruler.
  const bar = side === 'left' ? box.x + box.width + 6 : box.x - 14;
  for (let y = 0; y < box.height / 4; y++) {
    for (let dx = 0; dx < 7; dx++) {
      plot(screen, bar + dx, box.y + y, Math.round(255 * (1 - (4 * y) / box.height)));
    }
  }
}

/**
 * Draws two crosses joined by a dotted line on the picture, and a box next to it with the distance
 * between them.
 */
function calipers(screen: GrayImage, random: Random, box: Box): void {
  const ends = [0, 1].map((n) => ({
    x: box.x + box.width * (n === 0 ? random.range(0.2, 0.4) : random.range(0.6, 0.8)),
    y: box.y + box.height * random.range(0.3, 0.7),
  }));
  const [from, to] = ends;
  if (!from || !to) return;
  for (const { x, y } of ends) {
    for (let n = -6; n <= 6; n++) {
      plot(screen, x + n, y, 240);
      plot(screen, x, y + n, 240);
    }
  }
  for (let n = 0; n <= 40; n++) {
    plot(screen, from.x + ((to.x - from.x) * n) / 40, from.y + ((to.y - from.y) * n) / 40, 220);
  }
  const size = screen.width >= 1000 ? 2 : 1;
  drawText(`1 D ${random.range(2, 9).toFixed(2)}CM`, (column, row) => {
    for (let dot = 0; dot < size * size; dot++) {
      const [dx, dy] = [dot % size, Math.floor(dot / size)];
      plot(
        screen,
        0.02 * screen.width + column * size + dx,
        0.84 * screen.height + row * size + dy,
        240,
      );
    }
  });
}
