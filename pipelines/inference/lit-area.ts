import type { GrayImage } from '../contract/image.ts';
import type { Rectangle } from '../contract/study.ts';
import { cropped } from './cropped.ts';
import { type Letterboxed, letterbox } from './letterbox.ts';

/** Above this a pixel is lit: what a JPEG leaves in black is not. */
const LIT = 12;
/** Share of a row or column that is lit at least where the picture is: a speck or a letter is none. */
const LEAST_LIT = 0.01;
/** By so much the picture must grow without its surrounding to be shown without it. */
const WORTH = 1.2;

/**
 * As `letterbox`, of the lit part of the image alone where a black surrounding would make it notably
 * smaller: on the screen of a cart the sector often takes half, and at the size of a stamp borders
 * blur (heads measured 2 % too large, femora lost). No image of the training sets has such a margin.
 */
export function letterboxLit(image: GrayImage, width: number, height: number): Letterboxed {
  const part = litPart(image);
  const { minX, minY, maxX, maxY } = part.area;
  const scaleOf = (w: number, h: number) => Math.min(width / w, height / h);
  const grown = scaleOf(maxX - minX + 1, maxY - minY + 1);
  if (grown < WORTH * scaleOf(image.width, image.height)) return letterbox(image, width, height);
  part.lit ??= cropped(image, part.area);
  const { pixels, placement } = letterbox(part.lit, width, height);
  const { scaleX, scaleY } = placement;
  const offsetX = placement.offsetX - scaleX * minX;
  const offsetY = placement.offsetY - scaleY * minY;
  return { pixels, placement: { scaleX, scaleY, offsetX, offsetY } };
}

interface LitPart {
  area: Rectangle;
  /** Cut out once it is shown: most images have no such surrounding. */
  lit: GrayImage | null;
}

/** Several models look at the same image, and `letterbox` knows an image again. Nobody writes into it. */
const partOf = new WeakMap<GrayImage, LitPart>();

function litPart(image: GrayImage): LitPart {
  const known = partOf.get(image);
  if (known) return known;
  const part = { area: litArea(image), lit: null };
  partOf.set(image, part);
  return part;
}

/** The rectangle that holds every row and column with something lit; the whole image where none has. */
export function litArea({ width, height, data }: GrayImage): Rectangle {
  const rows = new Uint32Array(height);
  const columns = new Uint32Array(width);
  for (let y = 0; y < height; y++) {
    const start = y * width;
    for (let x = 0; x < width; x++) {
      if ((data[start + x] ?? 0) <= LIT) continue;
      rows[y] = (rows[y] ?? 0) + 1;
      columns[x] = (columns[x] ?? 0) + 1;
    }
  }
  const [minX, maxX] = span(columns, LEAST_LIT * height);
  const [minY, maxY] = span(rows, LEAST_LIT * width);
  return { minX, minY, maxX, maxY };
}

/** First and last index that counts more than `least`. */
function span(counts: Uint32Array, least: number): [number, number] {
  const first = counts.findIndex((count) => count > least);
  const last = counts.findLastIndex((count) => count > least);
  return first < 0 ? [0, counts.length - 1] : [first, last];
}
