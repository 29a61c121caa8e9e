import type { GrayImage, Point } from '../contract/image.ts';
import {
  type Clip,
  type Frame,
  type Rectangle,
  type RgbImage,
  UnreadableInput,
} from '../contract/study.ts';
import { burnedInText } from './burned-in-text.ts';

/**
 * Returns twice the area of the triangle, positive if the three points turn clockwise on the
 * screen.
 */
function turn(a: Point, b: Point, c: Point): number {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

/** Returns the convex hull, clockwise on the screen (Andrew 1979); empty for no points. */
export function convexHull(points: readonly Point[]): Point[] {
  const sorted = points.toSorted((a, b) => a.x - b.x || a.y - b.y);
  const half = (ordered: readonly Point[]) => {
    const chain: Point[] = [];
    for (const point of ordered) {
      while (chain.length > 1) {
        const [a, b] = chain.slice(-2);
        if (!a || !b || turn(a, b, point) > 0) break;
        chain.pop();
      }
      chain.push(point);
    }
    return chain.slice(0, -1);
  };
  return [...half(sorted), ...half(sorted.toReversed())];
}

/** Returns the corners of a rectangle of pixels, at the outer edges of its pixels. */
export function rectanglePolygon({ minX, minY, maxX, maxY }: Rectangle): Point[] {
  return [
    { x: minX - 0.5, y: minY - 0.5 },
    { x: maxX + 0.5, y: minY - 0.5 },
    { x: maxX + 0.5, y: maxY + 0.5 },
    { x: minX - 0.5, y: maxY + 0.5 },
  ];
}

/**
 * Returns the first and the last column of a row whose centres are in a convex polygon; null if
 * there are no such columns.
 */
export function spanOfRow(
  polygon: readonly Point[],
  y: number,
  width: number,
): [first: number, last: number] | null {
  let [left, right] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const [index, a] of polygon.entries()) {
    const b = polygon[(index + 1) % polygon.length] ?? a;
    if (Math.min(a.y, b.y) > y || Math.max(a.y, b.y) < y || a.y === b.y) continue;
    const x = a.x + ((y - a.y) / (b.y - a.y)) * (b.x - a.x);
    left = Math.min(left, x);
    right = Math.max(right, x);
  }
  const first = Math.max(0, Math.ceil(left));
  const last = Math.min(width - 1, Math.floor(right));
  return first <= last ? [first, last] : null;
}

/**
 * Returns the intersection of a convex polygon and a rectangle (Sutherland and Hodgman 1974); it
 * may be empty.
 */
function clipToRectangle(polygon: readonly Point[], area: Rectangle): Point[] {
  const [minX, minY, maxX, maxY] = [
    area.minX - 0.5,
    area.minY - 0.5,
    area.maxX + 0.5,
    area.maxY + 0.5,
  ];
  const sides: ((p: Point) => number)[] = [
    (p) => p.x - minX,
    (p) => maxX - p.x,
    (p) => p.y - minY,
    (p) => maxY - p.y,
  ];
  return sides.reduce<Point[]>(
    (kept, inside) => {
      return kept.flatMap((a, index) => {
        const b = kept[(index + 1) % kept.length] ?? a;
        const [da, db] = [inside(a), inside(b)];
        const crossing = {
          x: a.x + (da / (da - db)) * (b.x - a.x),
          y: a.y + (da / (da - db)) * (b.y - a.y),
        };
        const entry = da >= 0 ? [a] : [];
        return da >= 0 === db >= 0 ? entry : [...entry, crossing];
      });
    },
    [...polygon],
  );
}

/** Brightness above which a pixel is lit. Black after lossy compression is darker. */
const LIT = 10;
/** Number of pixels that are sampled along the longer side. The real number may be twice this. */
const LONGEST_SAMPLED = 384;
/**
 * Number of cells along the longer side of the image. A cell is small compared with a letter on the
 * screen.
 */
const CELLS = 256;
/** Minimum share of lit pixels in a cell of tissue. Letters and lines light a smaller share. */
const LIT_SHARE = 0.5;
/**
 * Half the height, as a share of the image height, below which a lit area is text or graphics and
 * not a picture.
 */
const TEXT_HALF_HEIGHT = 0.022;
/**
 * Minimum size of a further part of a picture, such as the tissue beyond a fluid, as a share of the
 * largest part.
 */
const LEAST_PART = 0.04;
/**
 * Minimum share of changing pixels in a part of a picture. A part with a smaller share is a panel
 * of the screen.
 */
const LEAST_MOTION = 0.02;
/** Minimum share of the frame that a picture fills, and maximum lit share outside it. */
const LEAST_PICTURE = 0.08;
const MOST_CUT = 0.08;
/**
 * Maximum thickness of a bar of the screen, and its maximum distance from an edge, as shares of the
 * screen.
 */
const BAR_THICKNESS = 0.14;
const BAR_INSET = 0.03;
/**
 * Grey levels around the shade of a bar, and the minimum share of a line within this range. Speckle
 * has a smaller share.
 */
const BAR_SHADE = 4;
const BAR_FLATNESS = 0.6;
/** Change in grey levels that compression causes in the background of a bar around its letters. */
const LETTER_SHADE = 8;
/** Maximum share of the pixels in a line of letters that are neither background nor letter. */
const MOST_UNLIKE_LETTERS = 0.03;
/** Minimum side of a screen in pixels. Smaller images are not screens. */
const LEAST_SIDE = 64;

/** A grid of cells, 1 or 0 each. */
interface Grid {
  width: number;
  height: number;
  cells: Uint8Array;
}

/** Samples every `stride`th pixel of every `stride`th row. */
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
 * Returns the maximum of each pixel over the frames, and the difference between its maximum and
 * minimum.
 */
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

/**
 * Returns a grid whose cells are 1 if at least `LIT_SHARE` of their pixels are brighter than `LIT`.
 */
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
  // The last cells of a row, and the cells of the last row, may contain fewer pixels.
  const cells = Uint8Array.from(counts, (lit, at) => {
    const [x, y] = [at % grid.width, Math.floor(at / grid.width)];
    const pixels = Math.min(cell, width - x * cell) * Math.min(cell, height - y * cell);
    return lit >= LIT_SHARE * pixels ? 1 : 0;
  });
  return { ...grid, cells };
}

/**
 * Replaces each cell by the lowest cell within `radius` along one axis, or by the highest if `grow`
 * is set. Cells beyond the edge are dark.
 */
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

/** Returns the connected parts, each as the indices of its cells. */
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
      // Cells above the first and below the last row do not exist.
      take(at - width);
      take(at + width);
    }
    parts.push(part);
  }
  return parts;
}

/** The rows or columns of an image, counted from one of its edges. */
interface Lines {
  count: number;
  /** Number of pixels of a line, and the distance between two of them in the data. */
  length: number;
  step: number;
  /** Returns the first pixel of a line. */
  startOf: (line: number) => number;
}

/** Counts the pixels of a line by brightness. */
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
 * Returns the shade of a line that has a single shade, as behind the letters of a title bar; null
 * if it has several.
 */
function shadeOf(counts: Uint16Array, length: number): number | null {
  let median = 0;
  for (let below = counts[0] ?? 0; below <= length >> 1; below += counts[median] ?? 0) median += 1;
  const shades = counts.subarray(Math.max(0, median - BAR_SHADE), median + BAR_SHADE + 1);
  return median > LIT && sumOf(shades) >= BAR_FLATNESS * length ? median : null;
}

/**
 * Returns true if a line may show letters on the background of a bar. A line with bright letters
 * has no black, and a line with dark letters has nothing brighter than the background. Black pixels
 * show that the bar has ended and the surroundings of a picture have begun.
 */
function isLettered(counts: Uint16Array, shade: number, length: number): boolean {
  const black = sumOf(counts.subarray(0, LIT + 1));
  const brighter = sumOf(counts.subarray(shade + LETTER_SHADE + 1));
  return Math.min(black, brighter) <= MOST_UNLIKE_LETTERS * length;
}

/**
 * Returns the number of lines, from an edge inwards, that belong to a bar of the screen; 0 if there
 * is no bar. A bar begins and ends with a line of one shade; between them it may contain lines of
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
  // A band that is too thick is not a bar.
  return end - start > BAR_THICKNESS * lines.count ? 0 : end;
}

/**
 * Returns the area between the bars along the edges of a screen: a title, a menu, a column of
 * settings.
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
  // In a frozen cine nothing moves, so motion cannot distinguish the picture from a panel.
  return alive.length > 0 ? alive : large;
}

/** Returns two shares of the whole grid: the area of a hull, and the lit area outside it. */
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
 * Returns the hull of cells with a margin. The margin also covers the tip of a sector, which is
 * narrower than text and therefore was not found.
 */
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
 * Finds the part of a screen that shows the ultrasound picture, as a convex polygon of pixel
 * coordinates. It consists of the large lit areas that are not text or lines; in a cine, panels
 * that do not move are left out.
 * @param frames some frames of the same size; more than one if the clip has several.
 * @param margin added around the picture, as a share of the height of the frame.
 * @returns null if no picture can be distinguished from black surroundings. Nothing may then be cut
 *   off.
 */
function detectPicture(frames: readonly GrayImage[], margin: number): Point[] | null {
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
  // A bar is never part of the picture, so the margin ends where a bar begins.
  const sampled = hull.map(({ x, y }) => ({ x: x * cell - 0.5, y: y * cell - 0.5 }));
  return clipToRectangle(sampled, screen).map(({ x, y }) => ({
    x: (x + 0.5) * stride - 0.5,
    y: (y + 0.5) * stride - 0.5,
  }));
}

/** Areas of a frame that show ultrasound, without names, menus and rulers. */
export interface Picture {
  /** Convex polygons of pixel coordinates. */
  areas: readonly (readonly Point[])[];
  /**
   * False if the picture could not be distinguished from its surroundings; `areas` is then the
   * whole frame.
   */
  known: boolean;
}

/** Areas of a frame that may be shown to others. */
export interface ShownPicture extends Picture {
  /** Rectangles of text inside the areas. They are blanked. */
  text: readonly Rectangle[];
}

/** Share of the frame from which regions cover the whole screen and do not bound the picture. */
const WHOLE_SCREEN = 0.9;

/** Margins around the detected picture, as shares of the height of the frame. */
const MEASURED_MARGIN = 0.12;
const SHOWN_MARGIN = 0.022;

/**
 * Number of frames that are analysed. They are spread over the first frames of the clip (about two
 * seconds).
 */
const SAMPLES = 5;
const SAMPLED_FRAMES = 60;

/** Returns the image; null for a damaged frame, which the measuring code refuses later. */
async function readable(frame: Frame | undefined): Promise<GrayImage | null> {
  try {
    return (await frame?.gray()) ?? null;
  } catch (error) {
    if (error instanceof UnreadableInput) return null;
    throw error;
  }
}

/** Maximum brightness of a screen's background, and minimum share of pixels with this one shade. */
const BRIGHTEST_GROUND = 40;
const LEAST_GROUND = 0.2;
/** Increase in grey levels that lossy compression causes in parts of the background. */
const GROUND_NOISE = 3;
/** Minimum share of a screen that a panel fills: a menu, a title, a column of small pictures. */
const LEAST_PANEL = 0.03;

/** Returns an image whose background and panels are black. */
function onBlack(image: GrayImage): GrayImage {
  const { width, data } = image;
  const counts = new Uint32Array(256);
  for (const value of data) counts[value] = (counts[value] ?? 0) + 1;
  const common = (shade: number, share: number) => (counts[shade] ?? 0) >= share * data.length;
  const grounds = counts.subarray(0, BRIGHTEST_GROUND + 1);
  const most = grounds.reduce((best, n, shade) => (n > (counts[best] ?? 0) ? shade : best), 0);
  const lit = most > LIT - GROUND_NOISE && common(most, LEAST_GROUND);
  const ground = lit ? most + GROUND_NOISE : 0;
  const isPanel = Uint8Array.from(counts, (_, shade) =>
    shade > LIT && common(shade, LEAST_PANEL) ? 1 : 0,
  );
  if (ground === 0 && !isPanel.includes(1)) return image;
  const black = data.map((value, i) =>
    // A panel has the same shade from pixel to pixel; speckle does not.
    isPanel[value] && data[i - 1] === value && data[i - width] === value
      ? 0
      : Math.max(0, value - ground),
  );
  return { ...image, data: black };
}

/**
 * Returns the smallest rectangle around the ultrasound picture of a screen; null if no picture can
 * be distinguished from the background of the screen.
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

/** Returns a copy with black rectangles. */
function blanked(image: GrayImage, areas: readonly Rectangle[]): GrayImage {
  const data = Uint8Array.from(image.data);
  for (const { minX, minY, maxX, maxY } of areas) {
    for (let y = minY; y <= maxY; y += 1) {
      data.fill(0, y * image.width + minX, y * image.width + maxX + 1);
    }
  }
  return { ...image, data };
}

/**
 * Finds the picture on a few frames of a clip.
 * @param text is blanked if the picture cannot be distinguished otherwise.
 */
async function detect(
  { frames }: Clip,
  margin: number,
  text: readonly Rectangle[] = [],
): Promise<Point[] | null> {
  const span = Math.min(frames.length, SAMPLED_FRAMES) - 1;
  const indices = new Set(
    Array.from({ length: SAMPLES }, (_, n) => Math.round((n * span) / (SAMPLES - 1))),
  );
  const images: GrayImage[] = [];
  for (const index of indices) {
    const image = await readable(frames[index]);
    if (image) images.push(image);
  }
  const found = detectPicture(images, margin);
  if (found || text.length === 0) return found;
  return detectPicture(
    images.map((image) => blanked(image, text)),
    margin,
  );
}

/**
 * Returns true if rectangles together cover the whole screen, so that they do not bound the
 * picture.
 */
export function coverScreen(
  areas: readonly Rectangle[],
  { width, height }: Pick<Clip, 'width' | 'height'>,
): boolean {
  const covered = new Uint8Array(width * height);
  for (const { minX, minY, maxX, maxY } of areas) {
    const [left, right] = [Math.max(0, minX), Math.min(width - 1, maxX)];
    for (let y = Math.max(0, minY); y <= Math.min(height - 1, maxY); y += 1) {
      covered.fill(1, y * width + left, y * width + right + 1);
    }
  }
  return covered.reduce((sum, one) => sum + one, 0) >= WHOLE_SCREEN * covered.length;
}

/** Returns true if a clip shows a trace: a spectrum, or an M-mode. */
const showsTrace = ({ sweeps, mode }: Clip) =>
  sweeps.length > 0 || mode === 'spectral' || mode === 'm-mode';

export function wholeFrame({ width, height }: Pick<Clip, 'width' | 'height'>): Rectangle {
  return { minX: 0, minY: 0, maxX: width - 1, maxY: height - 1 };
}

function within(detected: readonly Point[], regions: readonly Rectangle[]): Picture {
  const areas = regions.map((area) => clipToRectangle(detected, area));
  return { areas: areas.filter((area) => area.length > 2), known: true };
}

/**
 * Returns the picture of a clip for measuring, which is the ultrasound regions of the header. If
 * the header has no region, or they cover the whole screen, the picture is the area that is lit and
 * moves on a few frames. The margin is wide, because cutting off anatomy would be worse than
 * including a letter.
 */
async function pictureOf(clip: Clip): Promise<Picture> {
  const regions = clip.ultrasoundAreas;
  // An image and its trace fill the screen, and not all of them is lit and moves.
  const whole = showsTrace(clip)
    ? regions.some((area) => coverScreen([area], clip))
    : coverScreen(regions, clip);
  const bounded = regions.length > 0 && !whole;
  if (bounded) return { areas: regions.map(rectanglePolygon), known: true };
  const detected = await detect(clip, MEASURED_MARGIN);
  if (detected) return within(detected, [wholeFrame(clip)]);
  return { areas: [rectanglePolygon(wholeFrame(clip))], known: false };
}

/** Number of frames in which text is searched. Text rarely changes its place within a clip. */
const TEXT_SAMPLES = 3;

/**
 * Finds the text that is burned into the first, the middle and the last frame of a clip. In a cine
 * of more frames, the text must be at the same place in two of these, because tissue that resembles
 * letters moves.
 */
async function textOf({ frames }: Clip): Promise<Rectangle[]> {
  const last = frames.length - 1;
  const indices = Array.from({ length: TEXT_SAMPLES }, (_, n) =>
    Math.round((n * last) / (TEXT_SAMPLES - 1)),
  );
  const found: Rectangle[][] = [];
  for (const index of new Set(indices)) {
    try {
      const frame = await frames[index]?.rgb();
      if (frame) found.push(burnedInText(frame));
    } catch (error) {
      // The measuring code refuses a damaged frame later.
      if (!(error instanceof UnreadableInput)) throw error;
    }
  }
  if (found.length < 2 || frames.length <= TEXT_SAMPLES) return found.flat();
  return found.flatMap((texts, at) => {
    const others = found.filter((_, other) => other !== at).flat();
    return texts.filter((text) => others.some((other) => meet(text, other)));
  });
}

/** Returns true if two rectangles share at least half of the smaller rectangle. */
export function meet(a: Rectangle, b: Rectangle): boolean {
  const width = Math.min(a.maxX, b.maxX) - Math.max(a.minX, b.minX) + 1;
  const height = Math.min(a.maxY, b.maxY) - Math.max(a.minY, b.minY) + 1;
  const size = (one: Rectangle) => (one.maxX - one.minX + 1) * (one.maxY - one.minY + 1);
  return width > 0 && height > 0 && 2 * width * height >= Math.min(size(a), size(b));
}

/**
 * Extends a text near the upper or lower edge over the whole width, because a title bar spans the
 * screen. This is used if the picture could not be distinguished from its surroundings.
 */
function acrossBars(text: readonly Rectangle[], { width, height }: Clip): Rectangle[] {
  const bar = BAR_THICKNESS * height;
  return text.map((area) =>
    area.maxY < bar || area.minY > height - bar ? { ...area, minX: 0, maxX: width - 1 } : area,
  );
}

/**
 * Returns the parts of a clip that may be shown to others: the areas that show ultrasound, without
 * burned-in text. Burned In Annotation NO is ignored, because one of two real objects with NO shows
 * the name of the patient on the tissue.
 */
export async function shownPictureOf(clip: Clip): Promise<ShownPicture> {
  const text = await textOf(clip);
  const picture = await ultrasoundOf(clip, text);
  return { ...picture, text: picture.known ? text : acrossBars(text, clip) };
}

/**
 * Returns the areas of a clip that show ultrasound: its regions, and within them only what is lit
 * and moves, because names are also shown in the corners beside a sector. The list is empty if
 * Burned In Annotation is YES, the header has no regions, and the picture cannot be distinguished
 * from its surroundings.
 * @param text rectangles of burned-in text, if they are known.
 */
export async function ultrasoundOf(clip: Clip, text: readonly Rectangle[] = []): Promise<Picture> {
  const regions = clip.ultrasoundAreas;
  const bounds = regions.length > 0 ? regions : [wholeFrame(clip)];
  const bounded = { areas: bounds.map(rectanglePolygon), known: regions.length > 0 };
  // A trace fills its whole region, so the region has no corners with text.
  if (bounded.known && showsTrace(clip)) return bounded;
  const detected = await detect(clip, SHOWN_MARGIN, text);
  if (detected) return within(detected, bounds);
  return clip.burnedInAnnotation === true && !bounded.known ? { areas: [], known: false } : bounded;
}

/**
 * Returns a copy in which all pixels outside of the areas are black; `channels` are interleaved.
 */
function keepInside(
  image: { width: number; height: number; data: Uint8Array },
  areas: Picture['areas'],
  channels: number,
): Uint8Array {
  const { width, height, data } = image;
  const kept = new Uint8Array(data.length);
  for (const area of areas) {
    for (let y = 0; y < height; y += 1) {
      const span = spanOfRow(area, y, width);
      if (!span) continue;
      const from = (y * width + span[0]) * channels;
      const to = (y * width + span[1] + 1) * channels;
      kept.set(data.subarray(from, to), from);
    }
  }
  return kept;
}

function coversFrame(areas: Picture['areas'], { width, height }: Clip): boolean {
  return areas.some((area) => {
    const corners = [0, height - 1].map((y) => spanOfRow(area, y, width));
    // If a convex area contains all four corners, it contains the whole frame.
    return corners.every((span) => span?.[0] === 0 && span[1] === width - 1);
  });
}

/** Returns a frame that is black outside the areas and on text; `channels` are interleaved. */
export function maskOutside(
  image: RgbImage,
  { areas, text }: Pick<ShownPicture, 'areas' | 'text'>,
  channels: 1 | 3 = 3,
): RgbImage {
  const data = keepInside(image, areas, channels);
  for (const { minX, minY, maxX, maxY } of text) {
    for (let y = minY; y <= maxY; y += 1) {
      const row = y * image.width;
      data.fill(0, channels * (row + minX), channels * (row + maxX + 1));
    }
  }
  return { ...image, data };
}

/**
 * Returns the same clip with the luminance limited to the picture, so that text and graphics around
 * it do not affect a measurement. The picture is located when the first frame is requested.
 */
export function measuredInPicture(clip: Clip): Clip {
  let bounds: Promise<Picture['areas'] | null> | null = null;
  const find = async () => {
    const { areas, known } = await pictureOf(clip);
    return known && !coversFrame(areas, clip) ? areas : null;
  };
  const frames = clip.frames.map(
    (frame): Frame => ({
      ...frame,
      async gray() {
        bounds ??= find();
        const areas = await bounds;
        const image = await frame.gray();
        return areas ? { ...image, data: keepInside(image, areas, 1) } : image;
      },
    }),
  );
  return { ...clip, frames };
}
