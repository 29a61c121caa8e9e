import type { GrayImage, Point } from '../../contract/image.ts';
import type { Rectangle } from '../../contract/study.ts';
import { convexHull } from '../../measure/polygon.ts';
import { blobs } from '../../measure/regions.ts';

/**
 * Mean luminance above which a block of the screen counts as tissue or speckle. A darker block is
 * background.
 */
const LIT = 10;
/**
 * Number of blocks along the longer side of the picture. With this number, text and rulers are more
 * than one block away from the fan.
 */
const BLOCKS = 96;

/**
 * Conditions under which a lit part belongs to the fan in addition to the largest part, from which
 * a dark cavity may separate it. It must not be a line or tiny, and must be above or below the
 * largest part. `lit`: minimum lit share of its box. `side`: minimum length of its shorter side, in
 * blocks. `size`: minimum size, as a share of the largest part. `offMiddle`: maximum sideways
 * offset, as a share of the largest part's width.
 */
const FURTHER_PART = { lit: 0.35, side: 4, size: 0.02, offMiddle: 0.25 } as const;

/**
 * Returns the rectangle around the fan of the picture, in stored pixels. The fan is the largest
 * connected lit part of all `images` (frames of one clip) taken together, plus any parts that a
 * dark cavity separates from it. `within` limits the search, for example to the 2D region in the
 * header. If nothing is lit, the whole of `within` is returned.
 */
export function sectorOf(images: readonly GrayImage[], within?: Rectangle): Rectangle {
  const [first] = images;
  if (!first) throw new Error('a sector needs at least one image');
  const whole = { minX: 0, minY: 0, maxX: first.width - 1, maxY: first.height - 1 };
  const area = clamp(within ?? whole, whole);
  const width = area.maxX - area.minX + 1;
  const height = area.maxY - area.minY + 1;
  const size = Math.max(1, Math.ceil(Math.max(width, height) / BLOCKS));
  const columns = Math.ceil(width / size);
  const rows = Math.ceil(height / size);
  const lit = new Uint8Array(columns * rows);
  for (const image of images) {
    for (let block = 0; block < lit.length; block++) {
      if (lit[block]) continue;
      const left = area.minX + (block % columns) * size;
      const top = area.minY + Math.floor(block / columns) * size;
      if (blockMean(image, left, top, size) > LIT) lit[block] = 1;
    }
  }
  const box = fanOf(lit, columns, rows);
  if (!box) return area;
  return clamp(
    {
      minX: area.minX + box.minX * size,
      minY: area.minY + box.minY * size,
      maxX: area.minX + (box.maxX + 1) * size - 1,
      maxY: area.minY + (box.maxY + 1) * size - 1,
    },
    area,
  );
}

/**
 * Returns the outline of the picture: the convex hull, in stored pixels, of all lit pixels within
 * the fan's rectangle.
 */
export function litHull(images: readonly GrayImage[], area: Rectangle): Point[] {
  const ends: Point[] = [];
  for (let y = area.minY; y <= area.maxY; y++) {
    let left = area.minX;
    let right = area.maxX;
    while (left <= right && !isLit(images, left, y)) left++;
    while (right > left && !isLit(images, right, y)) right--;
    if (left <= right) ends.push({ x: left, y }, { x: right, y });
  }
  return convexHull(ends);
}

function isLit(images: readonly GrayImage[], x: number, y: number): boolean {
  for (const { width, data } of images) if ((data[y * width + x] ?? 0) > LIT) return true;
  return false;
}

/** Returns the image with left and right swapped. */
export function mirroredImage({ width, height, data }: GrayImage): GrayImage {
  const out = new Uint8Array(data.length);
  for (let row = 0; row < height; row++) {
    const line = data.slice(row * width, (row + 1) * width).reverse();
    out.set(line, row * width);
  }
  return { width, height, data: out };
}

function clamp(area: Rectangle, bounds: Rectangle): Rectangle {
  return {
    minX: Math.max(area.minX, bounds.minX),
    minY: Math.max(area.minY, bounds.minY),
    maxX: Math.min(area.maxX, bounds.maxX),
    maxY: Math.min(area.maxY, bounds.maxY),
  };
}

function blockMean(image: GrayImage, left: number, top: number, size: number): number {
  const right = Math.min(left + size, image.width);
  const bottom = Math.min(top + size, image.height);
  let sum = 0;
  for (let y = top; y < bottom; y++) {
    for (let x = left; x < right; x++) sum += image.data[y * image.width + x] ?? 0;
  }
  return sum / Math.max(1, (right - left) * (bottom - top));
}

/** Returns the rectangle around the fan, in blocks; null if nothing is lit. */
function fanOf(lit: Uint8Array, columns: number, rows: number): Rectangle | null {
  const parts = partsOf(lit, columns, rows).toSorted((a, b) => b.size - a.size);
  const [largest] = parts;
  if (!largest) return null;
  const { box, size } = largest;
  const middle = (box.minX + box.maxX) / 2;
  const reach = FURTHER_PART.offMiddle * (box.maxX - box.minX + 1);
  const fan = parts.filter(
    (part) =>
      part.size >= FURTHER_PART.size * size &&
      part.size >= FURTHER_PART.lit * boxSize(part.box) &&
      shorterSide(part.box) >= FURTHER_PART.side &&
      Math.abs((part.box.minX + part.box.maxX) / 2 - middle) <= reach,
  );
  return [largest, ...fan].reduce((whole, part) => joined(whole, part.box), box);
}

const boxSize = ({ minX, minY, maxX, maxY }: Rectangle) => (maxX - minX + 1) * (maxY - minY + 1);

const shorterSide = ({ minX, minY, maxX, maxY }: Rectangle) =>
  Math.min(maxX - minX + 1, maxY - minY + 1);

const joined = (a: Rectangle, b: Rectangle): Rectangle => ({
  minX: Math.min(a.minX, b.minX),
  minY: Math.min(a.minY, b.minY),
  maxX: Math.max(a.maxX, b.maxX),
  maxY: Math.max(a.maxY, b.maxY),
});

function partsOf(lit: Uint8Array, columns: number, rows: number) {
  const found = blobs({ width: columns, height: rows }, (block) => lit[block] === 1, 1);
  return found.map(({ pixels }) => {
    const boxes = pixels.map((block) => {
      const x = block % columns;
      const y = (block - x) / columns;
      return { minX: x, minY: y, maxX: x, maxY: y };
    });
    return { box: boxes.reduce(joined), size: pixels.length };
  });
}
