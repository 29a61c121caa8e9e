import type { GrayImage } from '../contract/image.ts';

/** Connected pixels of one value. */
export interface Region {
  value: number;
  size: number;
  /**
   * Horizontal runs in pixel order. Each has two entries: the index of its first pixel, and the
   * index after its last. This array is flat, because an image of speckle has tens of thousands of
   * runs.
   */
  runs: readonly number[];
  /** True if the region reaches the border of the image. */
  open: boolean;
}

/** Returns the root of the tree that contains a run, and shortens the path to the root. */
function rootOf(parents: Int32Array, run: number): number {
  let root = run;
  while (parents[root] !== root) root = parents[root] ?? root;
  for (let at = run; at !== root; ) {
    const next = parents[at] ?? root;
    parents[at] = root;
    at = next;
  }
  return root;
}

/**
 * The runs of an image in pixel order. Connected runs form a tree: `parents` contains the index of
 * each run's parent; the parent of a root is the root itself.
 */
interface Runs {
  starts: Int32Array;
  ends: Int32Array;
  parents: Int32Array;
}

const runsFor = (most: number): Runs => ({
  starts: new Int32Array(most),
  ends: new Int32Array(most),
  parents: new Int32Array(most),
});

/** Memory for the runs of one image. It is reused, because every frame of a clip needs it. */
let memory = runsFor(0);

/** Makes room for `most` runs in `memory`, and keeps those already there. */
function makeRoom(most: number): void {
  if (most <= memory.starts.length) return;
  const { starts, ends, parents } = memory;
  memory = runsFor(2 * most);
  memory.starts.set(starts);
  memory.ends.set(ends);
  memory.parents.set(parents);
}

/**
 * Finds the runs of every value except 0, writes them to `memory` and returns their number. The
 * runs of each row are joined with the runs in the row above (Rosenfeld and Pfaltz 1966), so the
 * time taken depends on the number of runs and not on the size of a region.
 *
 * @param reach 1 if diagonal neighbours are connected, otherwise 0.
 */
function joinRuns(values: Uint8Array, width: number, reach: 0 | 1): number {
  let above = 0;
  let count = 0;
  for (let row = 0; row < values.length; row += width) {
    makeRoom(count + width);
    const below = count;
    count = joinRow(values, row, width, reach, memory, above, below);
    above = below;
  }
  return count;
}

/**
 * Adds the runs of the row that begins at `row` to `runs` and returns the new number of runs.
 *
 * @param above number of the first run in the row above.
 * @param below number of the first run in this row.
 */
function joinRow(
  values: Uint8Array,
  row: number,
  width: number,
  reach: 0 | 1,
  { starts, ends, parents }: Runs,
  above: number,
  below: number,
): number {
  let count = below;
  let first = above;
  for (let start = row, end = row; start < row + width; start = end) {
    const value = values[start] ?? 0;
    for (end = start + 1; end < row + width && values[end] === value; ) end += 1;
    if (value === 0) continue;
    const run = count++;
    parents[run] = run;
    starts[run] = start;
    ends[run] = end;
    while (first < below && (ends[first] ?? 0) + width + reach <= start) first += 1;
    for (let upper = first; upper < below; upper += 1) {
      const other = starts[upper] ?? 0;
      if (other + width >= end + reach) break;
      if (values[other] !== value) continue;
      const a = rootOf(parents, upper);
      const b = rootOf(parents, run);
      parents[Math.max(a, b)] = Math.min(a, b);
    }
  }
  return count;
}

/**
 * Returns the connected regions of every value except 0, in the order of their first pixels.
 *
 * @param values row by row, `width` values per row.
 *
 * @param neighbours the neighbours to which a pixel is connected: 8 includes the diagonal ones.
 */
export function regionsOf(values: Uint8Array, width: number, neighbours: 4 | 8 = 4): Region[] {
  const count = joinRuns(values, width, neighbours === 8 ? 1 : 0);
  const { starts, ends, parents } = memory;
  const lastRow = values.length - width;
  const regions: (Region & { runs: number[] })[] = [];
  /** For each run that is the root of its tree, the index of its region. */
  const numbers = new Int32Array(count);
  for (let run = 0; run < count; run += 1) {
    const start = starts[run] ?? 0;
    const end = ends[run] ?? 0;
    const root = rootOf(parents, run);
    // The root of a tree is its first run, so a region is created before its other runs are added.
    if (root === run) {
      numbers[run] = regions.length;
      regions.push({ value: values[start] ?? 0, size: 0, runs: [], open: false });
    }
    const region = regions[numbers[root] ?? 0];
    if (!region) continue;
    region.size += end - start;
    region.runs.push(start, end);
    region.open ||= start < width || start >= lastRow || start % width === 0 || end % width === 0;
  }
  return regions;
}

/**
 * Returns the largest region, or the first of several equally large ones. Null if there is no
 * region.
 */
export function largestOf(regions: readonly Region[]): Region | null {
  return regions.reduce<Region | null>(
    (best, region) => (region.size > (best?.size ?? 0) ? region : best),
    null,
  );
}

/** Returns the smallest rectangle that contains a region of an image of `width` columns. */
export function boundsOfRegion({ runs }: Region, width: number) {
  const rowOf = (at: number) => Math.floor(at / width);
  let minX = width;
  let maxX = 0;
  for (let run = 0; run < runs.length; run += 2) {
    minX = Math.min(minX, (runs[run] ?? 0) % width);
    maxX = Math.max(maxX, ((runs[run + 1] ?? 0) - 1) % width);
  }
  return { minX, minY: rowOf(runs[0] ?? 0), maxX, maxY: rowOf(runs.at(-2) ?? 0) };
}

/** Returns the indices of the pixels of a region, row by row. */
export function pixelsOf({ runs, size }: Region): number[] {
  const pixels = new Array<number>(size);
  let count = 0;
  for (let run = 0; run < runs.length; run += 2) {
    const end = runs[run + 1] ?? 0;
    for (let at = runs[run] ?? 0; at < end; at += 1) pixels[count++] = at;
  }
  return pixels;
}

export function paint(values: Uint8Array, { runs }: Region, value: number): void {
  for (let run = 0; run < runs.length; run += 2) values.fill(value, runs[run], runs[run + 1]);
}

/** Pixels connected by their edges, as indices into the image. */
interface Blob {
  pixels: readonly number[];
  /** True if the blob reaches the border of the image. */
  open: boolean;
}

/**
 * Returns the image averaged over squares of `factor` × `factor` pixels. Leftover pixels on the
 * right and at the bottom are dropped.
 */
export function reduced(image: GrayImage, factor: number): GrayImage {
  const width = Math.floor(image.width / factor);
  const height = Math.floor(image.height / factor);
  const data = new Uint8Array(width * height);
  const share = 1 / (factor * factor);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      let sum = 0;
      for (let dy = 0; dy < factor; dy++) {
        const row = (y * factor + dy) * image.width + x * factor;
        for (let dx = 0; dx < factor; dx++) sum += image.data[row + dx] ?? 0;
      }
      data[y * width + x] = sum * share;
    }
  }
  return { width, height, data };
}

/**
 * Returns the mean over a square with sides of 2 `radius` + 1 pixels, calculated with running sums.
 * Beyond the border, the border pixels are repeated.
 */
export function smoothed({ width, height, data }: GrayImage, radius: number): GrayImage {
  const span = 2 * radius + 1;
  const pass = (from: Uint8Array, lines: number, length: number, step: number, stride: number) => {
    const to = new Uint8Array(from.length);
    for (let line = 0; line < lines; line++) {
      const start = line * stride;
      const at = (i: number) => from[start + Math.max(0, Math.min(length - 1, i)) * step] ?? 0;
      let sum = 0;
      for (let i = -radius; i <= radius; i++) sum += at(i);
      for (let i = 0; i < length; i++) {
        to[start + i * step] = sum / span;
        sum += at(i + radius + 1) - at(i - radius);
      }
    }
    return to;
  };
  const across = pass(data, height, width, 1, width);
  return { width, height, data: pass(across, width, height, width, 1) };
}

/** Returns the connected regions of at least `smallest` pixels for which `inside` returns true. */
export function blobs(
  { width, height }: Pick<GrayImage, 'width' | 'height'>,
  inside: (index: number) => boolean,
  smallest: number,
): Blob[] {
  const mask = new Uint8Array(width * height);
  for (let at = 0; at < mask.length; at++) mask[at] = inside(at) ? 1 : 0;
  return regionsOf(mask, width)
    .filter(({ size }) => size >= smallest)
    .map((region) => ({ pixels: pixelsOf(region), open: region.open }));
}
