import type { GrayImage, Point } from '../contract/image.ts';
import type { Rectangle } from '../contract/study.ts';
import { clipToRectangle, convexHull, spanOfRow } from './polygon.ts';
import { largestOf, pixelsOf, type Region, regionsOf } from './regions.ts';

/** Margins around the detected picture, as shares of the frame's height. */
export const MEASURED_MARGIN = 0.12;
export const SHOWN_MARGIN = 0.022;

/** Brightness above which a pixel counts as lit. Black stays below it after lossy compression. */
const LIT = 10;
/** Number of pixels sampled along the longer side. The actual number can be up to twice this. */
const LONGEST_SAMPLED = 384;
/**
 * Number of cells along the longer side of the image. A cell is small compared with a letter on the
 * screen.
 */
const CELLS = 256;
/** Minimum share of lit pixels in a cell of tissue. Letters and lines light a smaller share. */
const LIT_SHARE = 0.5;
/**
 * A lit area whose half height is below this share of the image height is text or graphics and not
 * a picture.
 */
const TEXT_HALF_HEIGHT = 0.022;
/**
 * Minimum size of a further part of a picture, such as tissue beyond fluid, as a share of the
 * largest part.
 */
const LEAST_PART = 0.04;
/**
 * Minimum share of changing cells in a part of a picture. If fewer change, it is a panel of the
 * screen.
 */
const LEAST_MOTION = 0.02;
/** Minimum share of the frame that a picture must fill, and maximum lit share outside it. */
const LEAST_PICTURE = 0.08;
const MOST_CUT = 0.08;
/**
 * Maximum thickness of a bar on the screen, and its maximum distance from an edge, as shares of the
 * screen.
 */
export const BAR_THICKNESS = 0.14;
const BAR_INSET = 0.03;
/**
 * Range of grey levels on either side of a bar's shade, and the minimum share of a line within this
 * range. In speckle, the share is lower.
 */
const BAR_SHADE = 4;
const BAR_FLATNESS = 0.6;
/** Change in grey levels that compression causes in a bar's background around its letters. */
const LETTER_SHADE = 8;
/** Maximum share of pixels in a line of letters that are neither background nor letter. */
const MOST_UNLIKE_LETTERS = 0.03;
/** Minimum side of a screen in pixels. Smaller images are not screens. */
const LEAST_SIDE = 64;

interface Grid {
  width: number;
  height: number;
  cells: Uint8Array;
}

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

/**
 * Returns each pixel's maximum over the frames, and the difference between its maximum and minimum
 * (`range`), which is null for a single frame.
 */
function extremes([first = new Uint8Array(), ...others]: readonly Uint8Array[]) {
  if (others.length === 0) return { most: first, range: null };
  // This copies the memory at once, whereas `Uint8Array.from` would iterate over the pixels.
  const most = new Uint8Array(first);
  const least = new Uint8Array(first);
  for (const data of others) {
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

/** A cell is 1 if at least `LIT_SHARE` of its pixels are brighter than `LIT`. */
function gridOf(values: Uint8Array, width: number, cell: number): Grid {
  const height = values.length / width;
  const grid = { width: Math.ceil(width / cell), height: Math.ceil(height / cell) };
  const counts = new Uint32Array(grid.width * grid.height);
  for (let y = 0; y < height; y += 1) {
    const row = Math.floor(y / cell) * grid.width;
    for (let column = 0; column < grid.width; column += 1) {
      const end = y * width + Math.min(width, (column + 1) * cell);
      let lit = 0;
      for (let i = y * width + column * cell; i < end; i += 1) if ((values[i] ?? 0) > LIT) lit += 1;
      counts[row + column] = (counts[row + column] ?? 0) + lit;
    }
  }
  const cells = new Uint8Array(counts.length);
  for (let y = 0, at = 0; y < grid.height; y += 1) {
    for (let x = 0; x < grid.width; x += 1, at += 1) {
      // The last cells of a row, and the cells of the last row, can contain fewer pixels.
      const pixels = Math.min(cell, width - x * cell) * Math.min(cell, height - y * cell);
      if ((counts[at] ?? 0) >= LIT_SHARE * pixels) cells[at] = 1;
    }
  }
  return { ...grid, cells };
}

/** A grid with 32 cells of a row in each word, so that one operation handles 32 cells. */
interface Bits {
  width: number;
  /** Words per row. The bits after the last cell of a row are 0. */
  words: number;
  rows: Uint32Array;
}

function bitsOf({ width, height, cells }: Grid): Bits {
  const words = Math.ceil(width / 32);
  const rows = new Uint32Array(words * height);
  for (let y = 0, at = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1, at += 1) {
      const word = y * words + (x >>> 5);
      rows[word] = (rows[word] ?? 0) | ((cells[at] ?? 0) << (x & 31));
    }
  }
  return { width, words, rows };
}

function gridOfBits({ width, words, rows }: Bits): Grid {
  const height = rows.length / words;
  const cells = new Uint8Array(width * height);
  for (let y = 0, at = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1, at += 1) {
      cells[at] = ((rows[y * words + (x >>> 5)] ?? 0) >>> (x & 31)) & 1;
    }
  }
  return { width, height, cells };
}

/**
 * Combines each cell with the cells in the square that extends `radius` cells from it in each
 * direction. Cells beyond the edge are dark.
 */
function combined(
  { width, words, rows }: Bits,
  radius: number,
  combine: (a: number, b: number) => number,
): Bits {
  const across = new Uint32Array(rows.length);
  for (let at = 0; at < rows.length; at += 1) {
    const own = rows[at] ?? 0;
    const isLast = (at + 1) % words === 0;
    const before = at % words === 0 ? 0 : (rows[at - 1] ?? 0);
    const after = isLast ? 0 : (rows[at + 1] ?? 0);
    let all = own;
    for (let k = 1; k <= radius; k += 1) {
      all = combine(all, (own << k) | (before >>> (32 - k)));
      all = combine(all, (own >>> k) | (after << (32 - k)));
    }
    across[at] = isLast && width % 32 > 0 ? all & ((1 << (width % 32)) - 1) : all;
  }
  const square = new Uint32Array(rows.length);
  for (let at = 0; at < rows.length; at += 1) {
    let all = across[at] ?? 0;
    for (let k = words; k <= radius * words; k += words) {
      all = combine(all, at < k ? 0 : (across[at - k] ?? 0));
      all = combine(all, at + k < across.length ? (across[at + k] ?? 0) : 0);
    }
    square[at] = all;
  }
  return { width, words, rows: square };
}

/**
 * Set a cell to 1 if any cell (`dilate`) or every cell (`erode`) of the square around it is 1.
 */
const dilate = (bits: Bits, radius: number) => combined(bits, radius, (a, b) => a | b);
const erode = (bits: Bits, radius: number) => combined(bits, radius, (a, b) => a & b);

/** The rows or columns of an image, counted from one of its edges. */
interface Lines {
  count: number;
  /** Number of pixels in a line, and the distance between neighbouring pixels in the data. */
  length: number;
  step: number;
  /** Returns the index of the first pixel of a line. */
  startOf: (line: number) => number;
}

function histogramOf(values: Uint8Array, { length, step, startOf }: Lines, line: number) {
  const counts = new Uint16Array(256);
  for (let n = 0, at = startOf(line); n < length; n += 1, at += step) {
    const value = values[at] ?? 0;
    counts[value] = (counts[value] ?? 0) + 1;
  }
  return counts;
}

const sumOf = (counts: Uint16Array) => counts.reduce((sum, n) => sum + n, 0);

/**
 * Returns the shade of a line that has a single shade, like the background of a title bar. Null if
 * it has several.
 */
function shadeOf(counts: Uint16Array, length: number): number | null {
  let median = 0;
  for (let below = counts[0] ?? 0; below <= length >> 1; below += counts[median] ?? 0) median += 1;
  const shades = counts.subarray(Math.max(0, median - BAR_SHADE), median + BAR_SHADE + 1);
  return median > LIT && sumOf(shades) >= BAR_FLATNESS * length ? median : null;
}

/**
 * Returns true if a line may show letters on the background of a bar. A line of bright letters has
 * no black, and a line of dark letters has nothing brighter than the background. A line with both
 * shows that the bar has ended and a picture has begun.
 */
function isLettered(counts: Uint16Array, shade: number, length: number): boolean {
  const black = sumOf(counts.subarray(0, LIT + 1));
  const brighter = sumOf(counts.subarray(shade + LETTER_SHADE + 1));
  return Math.min(black, brighter) <= MOST_UNLIKE_LETTERS * length;
}

/**
 * Returns the number of lines, from an edge inwards, that belong to a bar on the screen; 0 if there
 * is no bar. A bar starts and ends with a line of one shade. In between, there may be lines of
 * letters.
 */
function barLines(values: Uint8Array, lines: Lines): number {
  const inset = Math.ceil(BAR_INSET * lines.count);
  let shade: number | null = null;
  let end = 0;
  let start = 0;
  for (let line = 0; line < lines.count; line += 1) {
    const counts = histogramOf(values, lines, line);
    const own = shadeOf(counts, lines.length);
    if (shade === null) {
      if (line > inset) return 0;
      shade = own;
      start = line;
    }
    if (shade === null) continue;
    if (own !== null && Math.abs(own - shade) <= LETTER_SHADE) end = line + 1;
    else if (own !== null || !isLettered(counts, shade, lines.length)) break;
  }
  return end - start > BAR_THICKNESS * lines.count ? 0 : end;
}

/**
 * Returns the area between the bars along the edges of a screen, such as a title, a menu or a
 * column of settings.
 */
function insideBars(values: Uint8Array, width: number): Rectangle {
  const height = values.length / width;
  const rows = { count: height, length: width, step: 1 };
  const columns = { count: width, length: height, step: width };
  return {
    minX: barLines(values, { ...columns, startOf: (x) => x }),
    minY: barLines(values, { ...rows, startOf: (y) => y * width }),
    maxX: width - 1 - barLines(values, { ...columns, startOf: (x) => width - 1 - x }),
    maxY: height - 1 - barLines(values, { ...rows, startOf: (y) => (height - 1 - y) * width }),
  };
}

function blackenOutside(values: Uint8Array, width: number, area: Rectangle): Uint8Array {
  const size = (area.maxX - area.minX + 1) * (area.maxY - area.minY + 1);
  if (size === values.length) return values;
  const kept = new Uint8Array(values.length);
  for (let y = area.minY; y <= area.maxY; y += 1) {
    const row = y * width;
    kept.set(values.subarray(row + area.minX, row + area.maxX + 1), row + area.minX);
  }
  return kept;
}

function pictureParts({ cells, width }: Grid, moving: Grid | null): Region[] {
  const parts = regionsOf(cells, width);
  const largest = largestOf(parts)?.size ?? 0;
  const large = parts.filter(({ size }) => size >= LEAST_PART * largest);
  if (!moving) return large;
  const alive = large.filter((part) => {
    const changing = pixelsOf(part).filter((at) => moving.cells[at]).length;
    return changing / part.size >= LEAST_MOTION;
  });
  // In a frozen cine nothing moves, so motion cannot distinguish the picture from a panel.
  return alive.length > 0 ? alive : large;
}

/** Returns the area of a hull and the lit area outside it, both as shares of the whole grid. */
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

/**
 * Returns the hull of parts with a margin. The margin also covers the tip of a sector, which is
 * narrower than text and was therefore not found.
 */
function hullOf(parts: readonly Region[], { width, height }: Grid, margin: number): Point[] {
  const left = new Int32Array(height).fill(width);
  const right = new Int32Array(height).fill(-1);
  for (const { runs } of parts) {
    for (let run = 0; run < runs.length; run += 2) {
      const start = runs[run] ?? 0;
      const y = Math.floor(start / width);
      left[y] = Math.min(left[y] ?? 0, start - y * width);
      right[y] = Math.max(right[y] ?? 0, (runs[run + 1] ?? 0) - 1 - y * width);
    }
  }
  const corners: Point[] = [];
  for (let y = 0; y < height; y += 1) {
    if ((right[y] ?? -1) < 0) continue;
    for (const x of [(left[y] ?? 0) - margin, (right[y] ?? 0) + 1 + margin]) {
      corners.push({ x, y: y - margin }, { x, y: y + 1 + margin });
    }
  }
  return convexHull(corners);
}

/**
 * Finds the part of a screen that shows the ultrasound picture, as a convex polygon in pixel
 * coordinates. It consists of the large lit areas that are not text or lines. In a cine, panels
 * that do not move are left out.
 *
 * @param frames some frames of the same size; more than one if the clip has several.
 *
 * @param margin the margin added around the picture, as a share of the frame's height.
 *
 * @returns null if the picture cannot be distinguished from its surroundings. Nothing may then be
 * cut off.
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
  const moving = range && gridOf(range, width, cell);
  const radius = Math.max(1, Math.round(TEXT_HALF_HEIGHT * lit.height));
  const closed = erode(dilate(bitsOf(lit), 1), 1);
  const parts = pictureParts(gridOfBits(dilate(erode(closed, radius), radius)), moving);
  const hull = hullOf(parts, lit, Math.round(margin * lit.height));
  const { share, cut } = judge(hull, lit);
  if (share < LEAST_PICTURE || cut > MOST_CUT) return null;
  // A bar is never part of the picture, so the margin ends where a bar begins.
  const sampled = hull.map(({ x, y }) => ({ x: x * cell - 0.5, y: y * cell - 0.5 }));
  return clipToRectangle(sampled, screen).map(({ x, y }) => ({
    x: (x + 0.5) * stride - 0.5,
    y: (y + 0.5) * stride - 0.5,
  }));
}

/**
 * Maximum brightness of a screen's background, and minimum share of pixels that have exactly this
 * shade.
 */
const BRIGHTEST_GROUND = 40;
const LEAST_GROUND = 0.2;
/** Increase in grey levels that lossy compression causes in parts of the background. */
const GROUND_NOISE = 3;
/** Minimum share of a screen filled by a panel: a menu, a title, or a column of small pictures. */
const LEAST_PANEL = 0.03;

function onBlack(image: GrayImage): GrayImage {
  const { width, data } = image;
  const counts = new Uint32Array(256);
  for (let i = 0; i < data.length; i += 1) {
    const value = data[i] ?? 0;
    counts[value] = (counts[value] ?? 0) + 1;
  }
  const common = (shade: number, share: number) => (counts[shade] ?? 0) >= share * data.length;
  const grounds = counts.subarray(0, BRIGHTEST_GROUND + 1);
  const most = grounds.reduce((best, n, shade) => (n > (counts[best] ?? 0) ? shade : best), 0);
  const lit = most > LIT - GROUND_NOISE && common(most, LEAST_GROUND);
  const ground = lit ? most + GROUND_NOISE : 0;
  const isPanel = Uint8Array.from(counts, (_, shade) =>
    shade > LIT && common(shade, LEAST_PANEL) ? 1 : 0,
  );
  if (ground === 0 && !isPanel.includes(1)) return image;
  const black = new Uint8Array(data.length);
  for (let i = 0; i < data.length; i += 1) {
    const value = data[i] ?? 0;
    // A panel has the same shade from pixel to pixel, but speckle does not.
    const inPanel = isPanel[value] && data[i - 1] === value && data[i - width] === value;
    if (!inPanel && value > ground) black[i] = value - ground;
  }
  return { ...image, data: black };
}

/**
 * Returns the smallest rectangle around the ultrasound picture on a screen. Null if the picture
 * cannot be distinguished from the background.
 */
export function pictureBox(image: GrayImage): Rectangle | null {
  const hull = detectPicture([onBlack(image)], SHOWN_MARGIN);
  if (!hull || hull.length === 0) return null;
  const bounded = (value: number, size: number) => Math.min(Math.max(Math.round(value), 0), size);
  return {
    minX: bounded(Math.min(...hull.map(({ x }) => x)) + 0.5, image.width - 1),
    minY: bounded(Math.min(...hull.map(({ y }) => y)) + 0.5, image.height - 1),
    maxX: bounded(Math.max(...hull.map(({ x }) => x)) - 0.5, image.width - 1),
    maxY: bounded(Math.max(...hull.map(({ y }) => y)) - 0.5, image.height - 1),
  };
}
