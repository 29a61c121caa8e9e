import type { GrayImage } from '../../contract/image.ts';
import type { SweepRegion } from '../../contract/study.ts';
import { continuousColumns } from '../beats.ts';

/**
 * A spectral display cropped from its frame, with thin marks such as lines and letters removed.
 * `levels` contains rows x columns of grey levels. `zeroRow` is the row of the baseline, which may
 * be between two rows or outside the display.
 */
export interface Spectrum {
  /** Column and row of the frame at which `levels` begins. */
  left: number;
  top: number;
  columns: number;
  rows: number;
  levels: Float32Array;
  zeroRow: number;
  secondsPerColumn: number;
  /** Velocity per row, in cm/s. */
  velocityPerRow: number;
  /**
   * Number of rows next to the baseline that show its line and the edge of the wall filter instead
   * of flow.
   */
  baselineRows: number;
  noise: { mean: number; deviation: number };
}

/**
 * Limits for a valve click, which shows all velocities at once and lasts less than `seconds`
 * (echo 17). In its columns, at least the share `full` of the rows is brighter than the noise by
 * `bright` grey levels. This share falls by `drop` within `beside` seconds on both sides. At the
 * start and end of a wave, it changes more slowly.
 */
const CLICK = { full: 0.85, bright: 12, seconds: 0.04, drop: 0.15, beside: 0.008 } as const;

/** Minimum size of a display on which flow can be traced. */
const SMALLEST = { columns: 60, rows: 24 } as const;
/**
 * Reach of the median window in pixels. Lines, dots, letters, carets and the ECG are thinner than
 * half the window. Flow is thicker, except at the tip of a narrow wave.
 */
const MEDIAN_REACH = { x: 3, y: 2 } as const;
/**
 * Minimum difference in grey levels between a thin vertical mark and its darker surroundings. The
 * tip of a narrow wave differs less and is therefore kept.
 */
const MARK = 80;
/**
 * Limits for a grey map bar: at least `width` columns of one grey level between `levels`, in
 * `height` rows. A spectrum is never this uniform from left to right.
 */
const BAR = { width: 8, height: 16, levels: [30, 250] } as const;
/** Parts of a side in which noise is measured: the outer rows and the darker columns, as shares. */
const OUTER = { rows: 0.2, columns: 0.5 } as const;
/**
 * If even the brightest pixel of a column is not above this grey level, the column has not been
 * written yet.
 */
const BLACK = 4;

type Plane = Float32Array;

/** A row or column of a plane: the index of its first level, and the distance to the next one. */
interface PlaneLine {
  start: number;
  step: number;
  length: number;
}

/**
 * Returns the median of the `window.length` levels around a position `at` of a line of the plane.
 * At the ends of the line, the last level is repeated.
 *
 * @param window memory for the levels.
 */
function medianOf(
  plane: Plane,
  { start, step, length }: PlaneLine,
  at: number,
  window: Float32Array,
): number {
  const reach = window.length >> 1;
  for (let k = -reach; k <= reach; k++) {
    const inside = Math.max(0, Math.min(length - 1, at + k));
    window[k + reach] = plane[start + inside * step] as number;
  }
  sortFew(window);
  return window[reach] as number;
}

function medianOverRows(plane: Plane, columns: number, rows: number): Plane {
  const result = new Float32Array(plane.length);
  const window = new Float32Array(2 * MEDIAN_REACH.y + 1);
  for (let column = 0; column < columns; column++) {
    medianAlong(plane, { start: column, step: columns, length: rows }, window, result);
  }
  return result;
}

function medianAlong(plane: Plane, line: PlaneLine, window: Float32Array, into: Plane): void {
  for (let at = 0; at < line.length; at++) {
    into[line.start + at * line.step] = medianOf(plane, line, at, window);
  }
}

function withoutThinMarks(plane: Plane, columns: number, rows: number): Plane {
  const result = plane.slice();
  const window = new Float32Array(2 * MEDIAN_REACH.x + 1);
  for (let row = 0; row < rows; row++) {
    replaceMarks(plane, { start: row * columns, step: 1, length: columns }, window, result);
  }
  return result;
}

function replaceMarks(plane: Plane, row: PlaneLine, window: Float32Array, into: Plane): void {
  for (let column = 0; column < row.length; column++) {
    const level = plane[row.start + column] as number;
    // A darker level cannot differ by that much, because no level is below 0.
    if (level <= MARK) continue;
    const around = medianOf(plane, row, column, window);
    if (level - around > MARK) into[row.start + column] = around;
  }
}

/** Blackens grey map bars that are drawn over the display. */
function withoutBars(plane: Plane, columns: number, rows: number): Plane {
  const even = new Uint8Array(plane.length);
  const [darkest, brightest] = BAR.levels;
  for (let row = 0; row < rows; row++) {
    for (let from = 0, to = 1; from < columns; from = to) {
      const level = plane[row * columns + from] as number;
      for (to = from + 1; to < columns && plane[row * columns + to] === level; ) to++;
      if (to - from >= BAR.width && level >= darkest && level <= brightest) {
        even.fill(1, row * columns + from, row * columns + to);
      }
    }
  }
  const result = plane.slice();
  for (let column = 0; column < columns; column++) {
    let count = 0;
    for (let row = 0; row < rows; row++) count += even[row * columns + column] as number;
    if (count < BAR.height) continue;
    for (let row = 0; row < rows; row++) {
      if (even[row * columns + column] === 1) result[row * columns + column] = 0;
    }
  }
  return result;
}

/** Returns the first and last column of each click. */
function clicksOf(plane: Plane, columns: number, noise: number, secondsPerColumn: number) {
  const rows = plane.length / columns;
  const lit = new Float32Array(columns);
  for (let i = 0; i < plane.length; i++) {
    if ((plane[i] as number) > noise + CLICK.bright)
      lit[i % columns] = 1 / rows + (lit[i % columns] as number);
  }
  const beside = Math.max(2, Math.round(CLICK.beside / secondsPerColumn));
  const clicks: [number, number][] = [];
  for (let from = 0; from < columns; from++) {
    if ((lit[from] as number) < CLICK.full) continue;
    let to = from;
    while ((lit[to + 1] ?? 0) >= CLICK.full) to++;
    const around = [lit[from - beside], lit[to + beside]];
    const sudden = around.every((share) => share !== undefined && share < CLICK.full - CLICK.drop);
    if (sudden && (to - from + 1) * secondsPerColumn < CLICK.seconds) {
      clicks.push([from - beside + 1, to + beside - 1]);
    }
    from = to;
  }
  return clicks;
}

function withoutClicks(plane: Plane, columns: number, clicks: readonly [number, number][]): Plane {
  const result = plane.slice();
  for (let row = 0; row < plane.length; row += columns) {
    for (const [from, to] of clicks) {
      const before = plane[row + Math.max(0, from - 1)] as number;
      const after = plane[row + Math.min(columns - 1, to + 1)] as number;
      for (let column = Math.max(0, from); column <= Math.min(columns - 1, to); column++) {
        const share = (column - from + 1) / (to - from + 2);
        result[row + column] = before + share * (after - before);
      }
    }
  }
  return result;
}

/** Sorts in place by insertion. For seven values, this is much faster than the built-in sort. */
function sortFew(values: Float32Array): void {
  for (let i = 1; i < values.length; i++) {
    const value = values[i] as number;
    let at = i;
    for (; at > 0 && (values[at - 1] as number) > value; at--)
      values[at] = values[at - 1] as number;
    values[at] = value;
  }
}

function smoothAlong(plane: Plane, columns: number, rows: number, along: 'x' | 'y'): Plane {
  const step = along === 'x' ? 1 : columns;
  const length = along === 'x' ? columns : rows;
  const smooth = new Float32Array(plane.length);
  for (let i = 0; i < plane.length; i++) {
    const at = along === 'x' ? i % columns : Math.floor(i / columns);
    const value = plane[i] as number;
    const before = at > 0 ? (plane[i - step] as number) : value;
    const after = at < length - 1 ? (plane[i + step] as number) : value;
    smooth[i] = (before + 2 * value + after) / 4;
  }
  return smooth;
}

function writtenColumns(plane: Plane, columns: number): boolean[] {
  const written = new Array<boolean>(columns).fill(false);
  for (let i = 0; i < plane.length; i++) {
    if ((plane[i] as number) > BLACK) written[i % columns] = true;
  }
  return written;
}

/**
 * Returns the mean and standard deviation of the levels at the outer end of a side, in its darker
 * columns.
 */
function noiseOfRows(spectrum: Omit<Spectrum, 'noise'>, from: number, to: number) {
  const { columns, levels } = spectrum;
  const means = Array.from({ length: columns }, (_, column) => {
    let sum = 0;
    for (let row = from; row < to; row++) sum += levels[row * columns + column] as number;
    return { column, mean: sum / (to - from) };
  });
  const darker = means
    .toSorted((a, b) => a.mean - b.mean)
    .slice(0, Math.ceil(OUTER.columns * columns));
  const mean = darker.reduce((sum, next) => sum + next.mean, 0) / darker.length;
  let squares = 0;
  for (const { column } of darker) {
    for (let row = from; row < to; row++) {
      squares += ((levels[row * columns + column] as number) - mean) ** 2;
    }
  }
  return { mean, deviation: Math.sqrt(squares / (darker.length * (to - from))) };
}

/** Returns the noise of the quieter side, because fast or aliased flow may fill the other side. */
function noiseOf(spectrum: Omit<Spectrum, 'noise'>): Spectrum['noise'] {
  const { rows, zeroRow } = spectrum;
  const above = Math.floor(OUTER.rows * Math.max(0, Math.min(rows, zeroRow)));
  const below = Math.floor(OUTER.rows * Math.max(0, Math.min(rows, rows - zeroRow)));
  const sides = [
    ...(above >= 3 ? [noiseOfRows(spectrum, 0, above)] : []),
    ...(below >= 3 ? [noiseOfRows(spectrum, rows - below, rows)] : []),
  ];
  return sides.toSorted((a, b) => a.mean - b.mean)[0] ?? { mean: 0, deviation: 0 };
}

/**
 * Crops a spectral display from a frame. Of a display with an erase bar, only the longer part is
 * returned. Null if the display is not Doppler in cm/s over seconds, if its baseline (the header's
 * reference pixel) is unknown, or if it is too small to trace.
 */
export function readSpectrum(image: GrayImage, sweep: SweepRegion): Spectrum | null {
  const { area, secondsPerPixel, valuePerPixel, zeroRow, unit } = sweep;
  if (unit !== 'cm/s' || secondsPerPixel === null || valuePerPixel === null) return null;
  if (zeroRow === null) return null;
  const width = area.maxX - area.minX + 1;
  const rows = area.maxY - area.minY + 1;
  if (width < SMALLEST.columns || rows < SMALLEST.rows) return null;
  const whole = new Float32Array(width * rows);
  for (let row = 0; row < rows; row++) {
    const start = (area.minY + row) * image.width + area.minX;
    whole.set(image.data.subarray(start, start + width), row * width);
  }
  const part = continuousColumns(writtenColumns(whole, width));
  if (!part) return null;
  const [first, last] = part;
  const columns = last - first + 1;
  if (columns < SMALLEST.columns) return null;
  const cut = new Float32Array(columns * rows);
  for (let row = 0; row < rows; row++) {
    const start = row * width + first;
    cut.set(whole.subarray(start, start + columns), row * columns);
  }
  const plain = withoutBars(cut, columns, rows);
  const thinless = medianOverRows(withoutThinMarks(plain, columns, rows), columns, rows);
  const place = {
    left: area.minX + first,
    top: area.minY,
    columns,
    rows,
    zeroRow: zeroRow - area.minY,
    secondsPerColumn: secondsPerPixel,
    velocityPerRow: valuePerPixel,
    baselineRows: Math.max(4, Math.round(rows / 80)),
  };
  const { mean } = noiseOf({ ...place, levels: thinless });
  const clicks = clicksOf(thinless, columns, mean, secondsPerPixel);
  const steady = withoutClicks(thinless, columns, clicks);
  const once = smoothAlong(smoothAlong(steady, columns, rows, 'x'), columns, rows, 'y');
  const spectrum = { ...place, levels: smoothAlong(once, columns, rows, 'x') };
  return { ...spectrum, noise: noiseOf(spectrum) };
}
