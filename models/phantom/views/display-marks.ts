import { drawText, GLYPH } from '../overlay.ts';
import type { Random } from '../random.ts';

/**
 * Returns the height of the electrocardiogram at a phase of the beat, −0.3 to 1: P wave, QRS
 * complex and T wave.
 */
export function electrocardiogram(phase: number): number {
  const bump = (at: number, width: number) => {
    const away = Math.abs(phase - at);
    return Math.exp(-((Math.min(away, 1 - away) / width) ** 2));
  };
  return (
    0.12 * bump(0.86, 0.025) + bump(0, 0.012) - 0.25 * bump(0.03, 0.012) + 0.25 * bump(0.32, 0.045)
  );
}

/** The rectangle that a display occupies on the screen, and its time axis. */
interface DisplayArea {
  left: number;
  top: number;
  width: number;
  height: number;
  secondsPerColumn: number;
}

/** Marks that a machine draws over a spectral or M-mode display, within its region. */
export interface DisplayMarks {
  /**
   * The electrocardiogram: the edge along which it runs, and its grey level. Carts draw it over the
   * display, or partly beside it.
   */
  ecg: { at: 'top' | 'bottom'; level: number; upward: boolean } | null;
  /** Lines of settings over the left part of the display. */
  text: readonly string[];
  /** A bar of the grey map at the right edge of the display. */
  bar: boolean;
  /** Grey level of the text, and pixels per dot of its letters. */
  level: number;
  dot: number;
  /** The operator's calipers, as shares of the width and height of the display. */
  calipers: readonly (readonly [number, number])[];
}

/** Samples marks that resemble those of several makers. */
export function drawDisplayMarks(random: Random): DisplayMarks {
  const level = random.pick([150, 190, 226, 255]);
  const settings = [
    'PW',
    `${random.integer(20, 90)}%`,
    `PRF ${random.range(2, 9).toFixed(1)}`,
    `SV ${random.range(2, 6).toFixed(1)}MM`,
    `${random.range(1.4, 3.5).toFixed(1)}MHZ`,
    `${random.range(5, 16).toFixed(1)}CM`,
  ];
  return {
    ecg: random.chance(0.8)
      ? { at: random.chance(0.7) ? 'top' : 'bottom', level, upward: random.chance(0.75) }
      : null,
    text: random.chance(0.6) ? settings.slice(0, random.integer(2, settings.length)) : [],
    bar: random.chance(0.2),
    level: random.integer(190, 255),
    dot: random.integer(1, 2),
    calipers: Array.from({ length: random.integer(0, 2) }, () => [
      random.range(0.1, 0.9),
      random.range(0.1, 0.9),
    ]),
  };
}

type Plot = (column: number, row: number, level: number) => void;

function drawEcg(
  plot: Plot,
  { left, top, width, height, secondsPerColumn }: DisplayArea,
  ecg: NonNullable<DisplayMarks['ecg']>,
  phaseAt: (seconds: number) => number,
): void {
  const swing = 0.17 * height * (ecg.upward ? -1 : 1);
  const zero = ecg.at === 'top' ? top + 0.02 * height : top + 0.93 * height;
  let before: number | null = null;
  for (let column = 0; column < width; column++) {
    const row = Math.round(
      zero + swing * 0.9 * electrocardiogram(phaseAt(column * secondsPerColumn)),
    );
    const [low, high] = before === null || row < before ? [row, before ?? row] : [before, row];
    for (let y = low; y <= high; y++) plot(left + column, y, ecg.level);
    before = row;
  }
}

function drawSettings(plot: Plot, { left, top, height }: DisplayArea, marks: DisplayMarks): void {
  const { text, dot, level } = marks;
  for (const [line, one] of text.entries()) {
    const row = top + Math.round(0.08 * height) + line * GLYPH.lineHeight * dot;
    drawText(one, (x, y) => {
      for (let i = 0; i < dot * dot; i++) {
        plot(left + 4 + x * dot + (i % dot), row + y * dot + Math.floor(i / dot), level);
      }
    });
  }
}

function drawBar(plot: Plot, { left, top, width, height }: DisplayArea): void {
  const length = Math.round(0.5 * height);
  for (let row = 0; row < length; row++) {
    for (let i = 0; i < 12; i++) {
      plot(left + width - 16 + i, top + 6 + row, Math.round(255 * (1 - row / length)));
    }
  }
}

/**
 * Draws the marks over a display.
 * @param phaseAt returns the elapsed share of the beat at a time in seconds; 0 at the R wave.
 */
export function paintDisplayMarks(
  gray: Uint8Array,
  screen: { columns: number; rows: number },
  area: DisplayArea,
  marks: DisplayMarks,
  phaseAt: (seconds: number) => number,
): void {
  const plot: Plot = (column, row, level) => {
    if (column < 0 || row < 0 || column >= screen.columns || row >= screen.rows) return;
    gray[row * screen.columns + column] = level;
  };
  if (marks.ecg) drawEcg(plot, area, marks.ecg, phaseAt);
  drawSettings(plot, area, marks);
  if (marks.bar) drawBar(plot, area);
  for (const [x, y] of marks.calipers) {
    const column = Math.round(area.left + x * area.width);
    const row = Math.round(area.top + y * area.height);
    for (let i = -6; i <= 6; i++) {
      if (Math.abs(i) < 2) continue;
      plot(column + i, row, 255);
      plot(column, row + i, 255);
    }
  }
}

/**
 * Maps from power to luminance. Grey maps differ in their curve over the displayed range; colour
 * maps also tint the picture.
 */
const MAPS = ['linear', 'soft', 'hard', 'sepia', 'blue', 'reject'] as const;
export type DisplayMap = (typeof MAPS)[number];

export const drawDisplayMap = (random: Random): DisplayMap => random.pick(MAPS);

/** Returns the luminance (0 to 255) of a map for a level from 0 to 255. */
export function mapLevel(map: DisplayMap, level: number): number {
  const share = level / 255;
  switch (map) {
    case 'linear':
      return level;
    case 'soft':
      return 255 * share ** 0.75;
    case 'hard':
      return 255 * share ** 1.35;
    // Colour maps: the darkest tones are tinted, the brightest nearly white.
    case 'sepia':
      return level * (0.299 + 0.587 * (0.75 + 0.2 * share) + 0.114 * (0.35 + 0.5 * share));
    case 'blue':
      return level * (0.299 * (0.3 + 0.6 * share) + 0.587 * (0.6 + 0.4 * share) + 0.114);
    case 'reject':
      return level < 26 ? 0 : (255 * (level - 26)) / 229;
  }
}
