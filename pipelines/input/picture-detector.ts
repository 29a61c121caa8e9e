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
  return { most, range: most.map((value, i) => value - (least[i] ?? 0)) };
}

/** Cells of which a good part is above `LIT`. */
function gridOf(values: Uint8Array, width: number, cell: number): Grid {
  const height = values.length / width;
  const grid = { width: Math.ceil(width / cell), height: Math.ceil(height / cell) };
  const counts = new Float32Array(grid.width * grid.height);
  const sizes = new Float32Array(counts.length);
  for (let y = 0, i = 0; y < height; y += 1) {
    const row = Math.floor(y / cell) * grid.width;
    for (let x = 0; x < width; x += 1, i += 1) {
      const at = row + Math.floor(x / cell);
      sizes[at] = (sizes[at] ?? 0) + 1;
      if ((values[i] ?? 0) > LIT) counts[at] = (counts[at] ?? 0) + 1;
    }
  }
  const cells = Uint8Array.from(counts, (n, i) => (n >= LIT_SHARE * (sizes[i] ?? 1) ? 1 : 0));
  return { ...grid, cells };
}

/** The least (or greatest) cell within `radius` along one axis; beyond the edge nothing is lit. */
function sweep(grid: Grid, radius: number, step: 1 | 'row', grow: boolean): Grid {
  const { width, height, cells } = grid;
  const out = new Uint8Array(cells.length);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      let lit = 0;
      for (let d = -radius; d <= radius; d += 1) {
        const [column, row] = step === 1 ? [x + d, y] : [x, y + d];
        const inside = column >= 0 && column < width && row >= 0 && row < height;
        lit += inside ? (cells[row * width + column] ?? 0) : 0;
      }
      out[y * width + x] = (grow ? lit > 0 : lit === 2 * radius + 1) ? 1 : 0;
    }
  }
  return { width, height, cells: out };
}

const dilate = (grid: Grid, radius: number) =>
  sweep(sweep(grid, radius, 1, true), radius, 'row', true);
const erode = (grid: Grid, radius: number) =>
  sweep(sweep(grid, radius, 1, false), radius, 'row', false);

/** Connected parts, each as the indices of its cells. */
function partsOf({ width, height, cells }: Grid): number[][] {
  const seen = Uint8Array.from(cells, (lit) => 1 - lit);
  const parts: number[][] = [];
  for (let start = 0; start < cells.length; start += 1) {
    if (seen[start]) continue;
    const part = [start];
    seen[start] = 1;
    for (const at of part) {
      const x = at % width;
      const around = [
        x > 0 ? at - 1 : -1,
        x < width - 1 ? at + 1 : -1,
        at >= width ? at - width : -1,
        at < width * (height - 1) ? at + width : -1,
      ];
      for (const next of around) {
        if (next < 0 || seen[next]) continue;
        seen[next] = 1;
        part.push(next);
      }
    }
    parts.push(part);
  }
  return parts;
}

/** Whether the pixels of a row or column are one shade, as behind the letters of a title bar. */
function isFlat(values: Uint8Array): boolean {
  const median = values.toSorted()[values.length >> 1] ?? 0;
  const near = values.reduce((sum, v) => sum + (Math.abs(v - median) <= BAR_SHADE ? 1 : 0), 0);
  return median > LIT && near >= BAR_FLATNESS * values.length;
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
  const rows = Array.from({ length: height }, (_, y) =>
    isFlat(values.subarray(y * width, (y + 1) * width)),
  );
  const columns = Array.from({ length: width }, (_, x) =>
    isFlat(Uint8Array.from({ length: height }, (_, y) => values[y * width + x] ?? 0)),
  );
  return {
    minX: barLines(columns),
    minY: barLines(rows),
    maxX: width - 1 - barLines(columns.toReversed()),
    maxY: height - 1 - barLines(rows.toReversed()),
  };
}

function blackenOutside(values: Uint8Array, width: number, area: Rectangle): Uint8Array {
  return values.map((value, i) => {
    const [x, y] = [i % width, Math.floor(i / width)];
    return x < area.minX || x > area.maxX || y < area.minY || y > area.maxY ? 0 : value;
  });
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
