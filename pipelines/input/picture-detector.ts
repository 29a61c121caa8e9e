import type { GrayImage, Point } from '../contract/image.ts';
import type { Rectangle } from '../contract/study.ts';
import { clipToRectangle, convexHull, spanOfRow } from './polygon.ts';

/** Brightness above which a pixel shows something; the black of lossy compression stays below. */
const LIT = 10;
/** Pixels along the longer side that are looked at, at most twice as many. */
const LONGEST_SAMPLED = 384;
/** Cells along the longer side of the image; a cell is small beside a letter of the screen. */
const CELLS = 256;
/** Share of a cell's pixels that are lit in tissue; in letters and lines it is less. */
const LIT_SHARE = 0.5;
/** Half width, of the image height, of what is taken for text and graphics rather than a picture. */
const TEXT_HALF_HEIGHT = 0.022;
/** Parts of a picture, such as the far side of a fluid, are no smaller than this of the largest. */
const LEAST_PART = 0.04;
/** A part of which less changes from frame to frame is a panel of the screen. */
const LEAST_MOTION = 0.02;
/** Share of the frame that a picture fills at least, and that is lit outside of it at most. */
const LEAST_PICTURE = 0.08;
const MOST_CUT = 0.08;
/** A bar of the screen: how thick at most and how near to an edge, as shares of the screen. */
const BAR_THICKNESS = 0.14;
const BAR_INSET = 0.03;
/** Grey levels around its shade, and the share of a line that has it; speckle has less. */
const BAR_SHADE = 4;
const BAR_FLATNESS = 0.6;
/** Smaller images are no screens. */
const LEAST_SIDE = 64;

/** A grid of cells, 1 or 0 each. */
interface Grid {
  width: number;
  height: number;
  cells: Uint8Array;
}

/** Every `stride`th pixel of every `stride`th row. */
function thin({ width, height, data }: GrayImage, stride: number): Uint8Array {
  if (stride === 1) return data;
  const [columns, rows] = [Math.ceil(width / stride), Math.ceil(height / stride)];
  const out = new Uint8Array(columns * rows);
  for (let y = 0, i = 0; y < rows; y += 1) {
    for (let x = 0; x < columns; x += 1, i += 1) {
      out[i] = data[y * stride * width + x * stride] ?? 0;
    }
  }
  return out;
}

/** The greatest value of each pixel over the frames, and how far it goes up and down. */
function extremes(frames: readonly Uint8Array[]) {
  const most = Uint8Array.from(frames[0] ?? []);
  const least = Uint8Array.from(most);
  for (const data of frames.slice(1)) {
    for (let i = 0; i < most.length; i += 1) {
      const value = data[i] ?? 0;
      if (value > (most[i] ?? 0)) most[i] = value;
      if (value < (least[i] ?? 0)) least[i] = value;
    }
  }
  const range = new Uint8Array(most.length);
  for (let i = 0; i < range.length; i += 1) range[i] = (most[i] ?? 0) - (least[i] ?? 0);
  return { most, range };
}

/** Cells of which a good part is above `LIT`. */
function gridOf(values: Uint8Array, width: number, cell: number): Grid {
  const height = values.length / width;
  const grid = { width: Math.ceil(width / cell), height: Math.ceil(height / cell) };
  const counts = new Uint32Array(grid.width * grid.height);
  for (let y = 0; y < height; y += 1) {
    const row = Math.floor(y / cell) * grid.width;
    for (let column = 0; column < grid.width; column += 1) {
      const end = y * width + Math.min(width, (column + 1) * cell);
      let lit = 0;
      for (let i = y * width + column * cell; i < end; i += 1) {
        if ((values[i] ?? 0) > LIT) lit += 1;
      }
      counts[row + column] = (counts[row + column] ?? 0) + lit;
    }
  }
  // The last cells of a row and the last row of cells may be narrower.
  const cells = Uint8Array.from(counts, (lit, at) => {
    const [x, y] = [at % grid.width, Math.floor(at / grid.width)];
    const pixels = Math.min(cell, width - x * cell) * Math.min(cell, height - y * cell);
    return lit >= LIT_SHARE * pixels ? 1 : 0;
  });
  return { ...grid, cells };
}

/** The least (or greatest) cell within `radius` along one axis; beyond the edge nothing is lit. */
function sweep(grid: Grid, radius: number, axis: 'row' | 'column', grow: boolean): Grid {
  const { width, height, cells } = grid;
  const [length, step] = axis === 'row' ? [width, 1] : [height, width];
  const out = new Uint8Array(cells.length);
  const least = grow ? 1 : 2 * radius + 1;
  for (let line = 0; line < cells.length / length; line += 1) {
    const start = axis === 'row' ? line * width : line;
    let lit = 0;
    for (let n = 0; n < Math.min(radius, length); n += 1) lit += cells[start + n * step] ?? 0;
    for (let n = 0; n < length; n += 1) {
      if (n + radius < length) lit += cells[start + (n + radius) * step] ?? 0;
      if (n > radius) lit -= cells[start + (n - radius - 1) * step] ?? 0;
      out[start + n * step] = lit >= least ? 1 : 0;
    }
  }
  return { width, height, cells: out };
}

const dilate = (grid: Grid, radius: number) =>
  sweep(sweep(grid, radius, 'row', true), radius, 'column', true);
const erode = (grid: Grid, radius: number) =>
  sweep(sweep(grid, radius, 'row', false), radius, 'column', false);

/** Connected parts, each as the indices of its cells. */
function partsOf({ width, cells }: Grid): number[][] {
  const seen = Uint8Array.from(cells, (lit) => 1 - lit);
  const parts: number[][] = [];
  for (let start = 0; start < cells.length; start += 1) {
    if (seen[start]) continue;
    const part: number[] = [];
    const take = (at: number) => {
      if (seen[at] !== 0) return;
      seen[at] = 1;
      part.push(at);
    };
    take(start);
    for (const at of part) {
      const x = at % width;
      if (x > 0) take(at - 1);
      if (x < width - 1) take(at + 1);
      // Above the first and below the last row there is no cell that was not seen.
      take(at - width);
      take(at + width);
    }
    parts.push(part);
  }
  return parts;
}

/**
 * Whether the pixels of a row or column are one shade, as behind the letters of a title bar.
 * @param start the first of them, `step` apart from the next.
 */
function isFlat(values: Uint8Array, start: number, step: number, length: number): boolean {
  const counts = new Uint16Array(256);
  for (let n = 0, at = start; n < length; n += 1, at += step) {
    const value = values[at] ?? 0;
    counts[value] = (counts[value] ?? 0) + 1;
  }
  let median = 0;
  for (let below = counts[0] ?? 0; below <= length >> 1; below += counts[median] ?? 0) median += 1;
  const shades = counts.subarray(Math.max(0, median - BAR_SHADE), median + BAR_SHADE + 1);
  return median > LIT && shades.reduce((sum, n) => sum + n, 0) >= BAR_FLATNESS * length;
}

/** How many lines from an edge inwards are a bar of the screen; 0: none is. */
function barLines(flat: readonly boolean[]): number {
  const inset = Math.ceil(BAR_INSET * flat.length);
  const start = flat.indexOf(true);
  if (start < 0 || start > inset) return 0;
  const end = flat.indexOf(false, start);
  // What does not end soon is no bar.
  return end < 0 || end - start > BAR_THICKNESS * flat.length ? 0 : end;
}

/** What lies between the bars along the edges of a screen: a title, a menu, a column of settings. */
function insideBars(values: Uint8Array, width: number): Rectangle {
  const height = values.length / width;
  const rows = Array.from({ length: height }, (_, y) => isFlat(values, y * width, 1, width));
  const columns = Array.from({ length: width }, (_, x) => isFlat(values, x, width, height));
  return {
    minX: barLines(columns),
    minY: barLines(rows),
    maxX: width - 1 - barLines(columns.toReversed()),
    maxY: height - 1 - barLines(rows.toReversed()),
  };
}

function blackenOutside(values: Uint8Array, width: number, area: Rectangle): Uint8Array {
  const kept = new Uint8Array(values.length);
  for (let y = area.minY; y <= area.maxY; y += 1) {
    const row = y * width;
    kept.set(values.subarray(row + area.minX, row + area.maxX + 1), row + area.minX);
  }
  return kept;
}

function pictureParts(grid: Grid, moving: Grid | null): number[][] {
  const parts = partsOf(grid);
  const largest = parts.reduce((most, part) => Math.max(most, part.length), 0);
  const large = parts.filter((part) => part.length >= LEAST_PART * largest);
  const motion = (part: readonly number[]) =>
    part.filter((at) => moving?.cells[at]).length / part.length;
  const alive = moving ? large.filter((part) => motion(part) >= LEAST_MOTION) : large;
  // A frozen cine moves nowhere: then motion tells nothing.
  return alive.length > 0 ? alive : large;
}

/** Of the whole grid: what share a hull covers, and what share is lit and lies outside of it. */
function judge(hull: readonly Point[], { width, height, cells }: Grid) {
  let [inside, litInside] = [0, 0];
  for (let y = 0; y < height; y += 1) {
    const span = spanOfRow(hull, y + 0.5, width);
    if (!span) continue;
    for (let x = span[0]; x <= span[1]; x += 1) {
      inside += 1;
      litInside += cells[y * width + x] ?? 0;
    }
  }
  const lit = cells.reduce((sum, value) => sum + value, 0);
  return { share: inside / cells.length, cut: (lit - litInside) / cells.length };
}

/** The hull of cells with a margin; the tip of a sector, narrower than text, was not found. */
function hullOf(cells: readonly number[], width: number, margin: number): Point[] {
  const rows = new Map<number, [left: number, right: number]>();
  for (const at of cells) {
    const [x, y] = [at % width, Math.floor(at / width)];
    const [left, right] = rows.get(y) ?? [x, x];
    rows.set(y, [Math.min(left, x), Math.max(right, x)]);
  }
  const corners = [...rows].flatMap(([y, [left, right]]) => {
    const [top, bottom] = [y - margin, y + 1 + margin];
    return [left - margin, right + 1 + margin].flatMap((x) => [
      { x, y: top },
      { x, y: bottom },
    ]);
  });
  return convexHull(corners);
}

/**
 * The part of a screen that shows the ultrasound picture, as a convex polygon of pixel coordinates:
 * the large lit areas that are no text, no lines and, in a cine, no panels that stand still.
 * @param frames some frames of one size; more than one where there are several.
 * @param margin taken in around what was found, as a share of the height of the frame.
 * @returns null where no picture stands out from black surroundings: nothing may be cut away then.
 */
export function detectPicture(frames: readonly GrayImage[], margin: number): Point[] | null {
  const [first] = frames;
  if (!first || Math.min(first.width, first.height) < LEAST_SIDE) return null;
  const longer = Math.max(first.width, first.height);
  const stride = Math.max(1, Math.floor(longer / LONGEST_SAMPLED));
  const thinned = frames.map((frame) => thin(frame, stride));
  const cell = Math.max(1, Math.round(longer / stride / CELLS));
  const { most, range } = extremes(thinned);
  const width = Math.ceil(first.width / stride);
  const screen = insideBars(most, width);
  const lit = gridOf(blackenOutside(most, width, screen), width, cell);
  const moving = frames.length > 1 ? gridOf(range, width, cell) : null;
  const radius = Math.max(1, Math.round(TEXT_HALF_HEIGHT * lit.height));
  const closed = erode(dilate(lit, 1), 1);
  const parts = pictureParts(dilate(erode(closed, radius), radius), moving);
  const hull = hullOf(parts.flat(), lit.width, Math.round(margin * lit.height));
  const { share, cut } = judge(hull, lit);
  if (share < LEAST_PICTURE || cut > MOST_CUT) return null;
  // A bar is no picture, however near: the margin ends where it begins.
  const sampled = hull.map(({ x, y }) => ({ x: x * cell - 0.5, y: y * cell - 0.5 }));
  return clipToRectangle(sampled, screen).map(({ x, y }) => ({
    x: (x + 0.5) * stride - 0.5,
    y: (y + 0.5) * stride - 0.5,
  }));
}
