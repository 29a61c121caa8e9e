import type { Acquisition } from '../image-formation.ts';
import { drawText } from '../overlay.ts';
import type { Random } from '../random.ts';
import { electrocardiogram } from '../views/display-marks.ts';

/** Marks that the machine draws over an echo image: ECG trace, depth marks and text. */
interface Marks {
  /**
   * `from`: phase of the beat at the left end of the trace. `beats`: number of beats on the trace.
   * `now`: position of the current frame, as a share of the trace. If absent, no trace is drawn.
   */
  trace?: { from: number; beats: number; now: number };
  ruler: boolean;
  text: readonly string[];
}

export function drawMarks(
  random: Random,
  beats: { from: number; beats: number; now: number },
): Marks {
  return {
    ...(random.chance(0.6) ? { trace: beats } : {}),
    ruler: random.chance(0.6),
    text: random.chance(0.6)
      ? [
          'PHANTOM',
          `FR ${random.integer(30, 80)}HZ`,
          `MI ${random.range(0.6, 1.5).toFixed(1)}`,
        ].slice(0, random.integer(1, 3))
      : [],
  };
}

/** Draws the marks on the screen. As on real screens, some may cover part of the image. */
export function overlayMarks(
  gray: Uint8Array,
  { window, sector }: Acquisition,
  marks: Marks,
): void {
  const { columns, rows, origin, mmPerPixel } = window;
  const plot = (column: number, row: number, level: number) => {
    if (column < 0 || row < 0 || column >= columns || row >= rows) return;
    gray[row * columns + column] = level;
  };
  if (marks.ruler) {
    for (let centimetre = 0; centimetre * 10 <= sector.depthMm; centimetre++) {
      const row = Math.round(origin.y + (centimetre * 10) / mmPerPixel);
      const length = centimetre % 5 === 0 ? 6 : 3;
      for (let i = 0; i < length; i++) plot(columns - 4 - i, row, 200);
    }
  }
  for (const [line, text] of marks.text.entries()) {
    drawText(text, (x, y) => plot(4 + x, 4 + line * 10 + y, 190));
  }
  const { trace } = marks;
  if (trace === undefined) return;
  const left = Math.round(0.05 * columns);
  const width = Math.round(0.9 * columns);
  const bottom = rows - 5;
  const height = Math.round(0.07 * rows);
  let before = bottom;
  for (let i = 0; i < width; i++) {
    const phase = trace.from + (trace.beats * i) / width;
    const level = electrocardiogram(phase - Math.floor(phase));
    const row = Math.round(bottom - height * (0.25 + 0.7 * level));
    const [low, high] = row < before ? [row, before] : [before, row];
    for (let y = i === 0 ? row : low; y <= high; y++) plot(left + i, y, 215);
    before = row;
  }
  const now = left + Math.round(trace.now * width);
  for (let y = bottom - height; y <= bottom; y++) plot(now, y, 160);
}
