import type { GrayImage, Point } from '../contract/image.ts';
import type { Rectangle } from '../contract/study.ts';
import { pictureBox } from '../measure/picture-detector.ts';

export function cropped(image: GrayImage, area: Rectangle): GrayImage {
  const width = area.maxX - area.minX + 1;
  const height = area.maxY - area.minY + 1;
  if (width === image.width && height === image.height) return image;
  const data = new Uint8Array(width * height);
  for (let row = 0; row < height; row++) {
    const start = (area.minY + row) * image.width + area.minX;
    data.set(image.data.subarray(start, start + width), row * width);
  }
  return { width, height, data };
}

/**
 * Crops an image to the area between two corners. Also returns the position of the first pixel of
 * the crop in the image.
 */
export function croppedBetween(image: GrayImage, [from, to]: readonly [Point, Point]) {
  const bounded = (value: number, size: number) =>
    Math.min(Math.max(Math.round(value), 0), size - 1);
  const area = {
    minX: bounded(from.x, image.width),
    minY: bounded(from.y, image.height),
    maxX: bounded(to.x, image.width),
    maxY: bounded(to.y, image.height),
  };
  return { image: cropped(image, area), corner: { x: area.minX, y: area.minY } };
}

/**
 * Position of the source image in the network's input: `net = scale * (source + 0.5) - 0.5 +
 * offset`.
 */
export interface Placement {
  scaleX: number;
  scaleY: number;
  offsetX: number;
  offsetY: number;
}

interface Letterboxed {
  /** Pixels of the network's input, `width * height`, row by row, from 0 to 1. */
  pixels: Float32Array;
  placement: Placement;
}

/**
 * Fits the whole image into `width` × `height`, centred on black, keeping the aspect ratio. The
 * image is reduced by area averaging or enlarged by bilinear interpolation. The grey levels are
 * rounded and divided by 255. Training does exactly the same (models/training/letterbox.py); a
 * difference would cause a systematic error in millimetres.
 */
export function letterbox(image: GrayImage, width: number, height: number): Letterboxed {
  const size = `${width} ${height}`;
  const before = lastOf.get(image);
  if (before?.size === size) return before.letterboxed;
  const letterboxed = scaleInto(image, width, height);
  lastOf.set(image, { size, letterboxed });
  return letterboxed;
}

/**
 * Caches the last letterboxed version of each image, because several models with the same input
 * size use the same image. The cached version must not be modified.
 */
const lastOf = new WeakMap<GrayImage, { size: string; letterboxed: Letterboxed }>();

function scaleInto(image: GrayImage, width: number, height: number): Letterboxed {
  const scale = Math.min(width / image.width, height / image.height);
  const w = Math.max(1, Math.floor(image.width * scale + 0.5));
  const h = Math.max(1, Math.floor(image.height * scale + 0.5));
  const columns = weightsFor(image.width, w, scale < 1);
  const rows = weightsFor(image.height, h, scale < 1);
  const offsetX = Math.floor((width - w) / 2);
  const offsetY = Math.floor((height - h) / 2);
  const pixels = new Float32Array(width * height);
  const line = new Float64Array(w);
  const scaled = new Float64Array(w);
  let scaledRow = -1;
  for (let y = 0; y < h; y++) {
    line.fill(0);
    const end = rows.first[y + 1] ?? 0;
    for (let n = rows.first[y] ?? 0; n < end; n++) {
      const row = rows.source[n] ?? 0;
      // The last source row of a target row is often the first source row of the next target row.
      // It then need not be scaled again.
      if (row !== scaledRow) {
        scaledRow = row;
        scaleRow(scaled, image, row, columns);
      }
      const weight = rows.weight[n] ?? 0;
      for (let x = 0; x < w; x++) line[x] = (line[x] ?? 0) + weight * (scaled[x] ?? 0);
    }
    const target = (y + offsetY) * width + offsetX;
    for (let x = 0; x < w; x++) pixels[target + x] = Math.round(line[x] ?? 0) / 255;
  }
  return {
    pixels,
    placement: { scaleX: w / image.width, scaleY: h / image.height, offsetX, offsetY },
  };
}

/** Converts a point on the network's grid to pixel coordinates of the source. */
export function toSource(placement: Placement, point: Point): Point {
  return {
    x: (point.x + 0.5 - placement.offsetX) / placement.scaleX - 0.5,
    y: (point.y + 0.5 - placement.offsetY) / placement.scaleY - 0.5,
  };
}

/**
 * Scales one source row along x. Most of the time is spent in this loop. It uses flat arrays,
 * because it takes three times as long with arrays of several types.
 */
function scaleRow(
  scaled: Float64Array,
  { width, data }: GrayImage,
  row: number,
  { first, source, weight }: FlatWeights,
): void {
  const start = row * width;
  let n = 0;
  for (let x = 0; x < scaled.length; x++) {
    const end = first[x + 1] ?? 0;
    let sum = 0;
    for (; n < end; n++) sum += (weight[n] ?? 0) * (data[start + (source[n] ?? 0)] ?? 0);
    scaled[x] = sum;
  }
}

/** Weights of all targets in one array. The weights of target `t` begin at `first[t]`. */
interface FlatWeights {
  first: Int32Array;
  source: Int32Array;
  weight: Float64Array;
}

/** Weights for recently used pairs of lengths. A cine needs the same weights for every frame. */
const known = new Map<string, FlatWeights>();
const MOST_KNOWN = 64;

function weightsFor(from: number, to: number, shrinks: boolean): FlatWeights {
  const key = `${from} ${to} ${shrinks}`;
  const found = known.get(key);
  if (found) return found;
  const made = flatten((shrinks ? areaWeights : linearWeights)(from, to));
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(key, made);
  return made;
}

function flatten(weights: Weights): FlatWeights {
  const all = weights.flat();
  const first = new Int32Array(weights.length + 1);
  for (const [target, own] of weights.entries()) {
    first[target + 1] = (first[target] ?? 0) + own.length;
  }
  return {
    first,
    source: Int32Array.from(all, ([index]) => index),
    weight: Float64Array.from(all, ([, weight]) => weight),
  };
}

/** Source indices and their weights for each target index. The weights for one target sum to 1. */
type Weights = [index: number, weight: number][][];

function areaWeights(from: number, to: number): Weights {
  const span = from / to;
  return Array.from({ length: to }, (_, target) => {
    const start = target * span;
    const end = Math.min(start + span, from);
    const weights: [number, number][] = [];
    for (let source = Math.floor(start); source < Math.ceil(end); source++) {
      const share = Math.min(source + 1, end) - Math.max(source, start);
      if (share > 1e-9) weights.push([source, share / (end - start)]);
    }
    return weights;
  });
}

function linearWeights(from: number, to: number): Weights {
  return Array.from({ length: to }, (_, target) => {
    const position = Math.min(Math.max(((target + 0.5) * from) / to - 0.5, 0), from - 1);
    const left = Math.floor(position);
    const right = Math.min(left + 1, from - 1);
    return [
      [left, 1 - (position - left)],
      [right, position - left],
    ];
  });
}

/** Grey level above which a pixel counts as lit. JPEG noise in black areas is darker. */
const LIT = 12;
/**
 * Minimum lit share of a row or column in the picture. A speck or a letter lights a smaller share.
 */
const LEAST_LIT = 0.01;
/**
 * Minimum factor by which cropping must enlarge the picture. Below it, the black surroundings are
 * kept.
 */
const WORTH = 1.2;

/**
 * Crops the image to the ultrasound picture before `letterbox` if the screen around the picture
 * would make it much smaller. The sector often fills only half of a cart's screen, and borders blur
 * in small images (heads were measured 2 % too large, and femora were missed). Images in the
 * training sets have no such surroundings.
 *
 * @param margin margin on each side of the picture, as a share of its size.
 */
export function letterboxLit(
  image: GrayImage,
  width: number,
  height: number,
  margin = 0,
): Letterboxed {
  const { minX, minY, maxX, maxY } = litPart(image).area;
  const scaleOf = (w: number, h: number) => Math.min(width / w, height / h);
  const grown = scaleOf(maxX - minX + 1, maxY - minY + 1);
  if (grown < WORTH * scaleOf(image.width, image.height)) return letterbox(image, width, height);
  return letterboxPart(image, width, height, margin);
}

function letterboxPart(image: GrayImage, width: number, height: number, margin: number) {
  const part = litPart(image);
  const { minX, minY } = withMargin(part.area, margin, image);
  const key = String(margin);
  const lit = part.lit.get(key) ?? cropped(image, withMargin(part.area, margin, image));
  part.lit.set(key, lit);
  const { pixels, placement } = letterbox(lit, width, height);
  const { scaleX, scaleY } = placement;
  const offsetX = placement.offsetX - scaleX * minX;
  const offsetY = placement.offsetY - scaleY * minY;
  return { pixels, placement: { scaleX, scaleY, offsetX, offsetY } };
}

function withMargin(
  { minX, minY, maxX, maxY }: Rectangle,
  margin: number,
  image: GrayImage,
): Rectangle {
  const x = Math.round(margin * (maxX - minX));
  const y = Math.round(margin * (maxY - minY));
  return {
    minX: Math.max(0, minX - x),
    minY: Math.max(0, minY - y),
    maxX: Math.min(image.width - 1, maxX + x),
    maxY: Math.min(image.height - 1, maxY + y),
  };
}

interface LitPart {
  area: Rectangle;
  /**
   * Cropped pictures by margin. They are created only when needed, because most images have no
   * surroundings.
   */
  lit: Map<string, GrayImage>;
}

/**
 * Caches the lit part of each image. Several models use the same image, and `letterbox` must
 * recognise the cropped image in its own cache. A cached part must not be modified.
 */
const partOf = new WeakMap<GrayImage, LitPart>();

function litPart(image: GrayImage): LitPart {
  const known = partOf.get(image);
  if (known) return known;
  const part = { area: litArea(image, pictureBox(image)), lit: new Map<string, GrayImage>() };
  partOf.set(image, part);
  return part;
}

/**
 * Returns the rectangle around all rows and columns with lit pixels, restricted to `within`. If
 * nothing is lit, `within` or the whole image is returned.
 */
export function litArea(
  { width, height, data }: GrayImage,
  within: Rectangle | null = null,
): Rectangle {
  const area = within ?? { minX: 0, minY: 0, maxX: width - 1, maxY: height - 1 };
  const rows = new Uint32Array(area.maxY - area.minY + 1);
  const columns = new Uint32Array(area.maxX - area.minX + 1);
  for (let y = 0; y < rows.length; y++) {
    const start = (area.minY + y) * width + area.minX;
    for (let x = 0; x < columns.length; x++) {
      if ((data[start + x] ?? 0) <= LIT) continue;
      rows[y] = (rows[y] ?? 0) + 1;
      columns[x] = (columns[x] ?? 0) + 1;
    }
  }
  const [minX, maxX] = span(columns, LEAST_LIT * rows.length);
  const [minY, maxY] = span(rows, LEAST_LIT * columns.length);
  return {
    minX: area.minX + minX,
    minY: area.minY + minY,
    maxX: area.minX + maxX,
    maxY: area.minY + maxY,
  };
}

function span(counts: Uint32Array, least: number): [number, number] {
  const first = counts.findIndex((count) => count > least);
  const last = counts.findLastIndex((count) => count > least);
  return first < 0 ? [0, counts.length - 1] : [first, last];
}
