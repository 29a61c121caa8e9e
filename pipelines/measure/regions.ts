import type { GrayImage } from '../contract/image.ts';

interface Run {
  value: number;
  /** Index of the first pixel, and index after the last pixel. */
  start: number;
  end: number;
}

/** Connected pixels of one value. */
export interface Region {
  value: number;
  size: number;
  /** Runs in pixel order. */
  runs: readonly Run[];
  /** True if the region reaches the border of the image. */
  open: boolean;
}

function runsOfRow(values: Uint8Array, from: number, to: number): Run[] {
  const runs: Run[] = [];
  for (let start = from; start < to; ) {
    const value = values[start] ?? 0;
    let end = start + 1;
    while (end < to && values[end] === value) end += 1;
    if (value !== 0) runs.push({ value, start, end });
    start = end;
  }
  return runs;
}

/** Returns the root of the tree that contains a run, and shortens the path to the root. */
function rootOf(parents: number[], run: number): number {
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
 * Connects touching runs in two neighbouring rows. `above` and `below` are the indices of the first
 * run in the upper row and in the lower row.
 */
function joinRows(
  runs: readonly Run[],
  parents: number[],
  above: number,
  below: number,
  { width, reach }: { width: number; reach: number },
): void {
  let first = above;
  for (let lower = below; lower < runs.length; lower += 1) {
    const { start, end, value } = runs[lower] as Run;
    while (first < below && (runs[first] as Run).end + width + reach <= start) first += 1;
    for (let upper = first; upper < below; upper += 1) {
      const one = runs[upper] as Run;
      if (one.start + width >= end + reach) break;
      if (one.value !== value) continue;
      const [a, b] = [rootOf(parents, upper), rootOf(parents, lower)];
      parents[Math.max(a, b)] = Math.min(a, b);
    }
  }
}

/**
 * Returns the connected regions of every value except 0, in the order of their first pixels. The
 * runs of each row are joined with the runs in the row above (Rosenfeld and Pfaltz 1966), so the
 * time taken depends on the number of runs and not on the size of a region.
 *
 * @param values row by row, `width` values per row.
 *
 * @param neighbours the neighbours to which a pixel is connected: 8 includes the diagonal ones.
 */
export function regionsOf(values: Uint8Array, width: number, neighbours: 4 | 8 = 4): Region[] {
  const runs: Run[] = [];
  const parents: number[] = [];
  let above = 0;
  for (let row = 0; row < values.length; row += width) {
    const below = runs.length;
    for (const run of runsOfRow(values, row, row + width)) parents.push(runs.push(run) - 1);
    joinRows(runs, parents, above, below, { width, reach: neighbours === 8 ? 1 : 0 });
    above = below;
  }
  const regions = new Map<number, Run[]>();
  for (const [number, run] of runs.entries()) {
    const root = rootOf(parents, number);
    const own = regions.get(root);
    if (own) own.push(run);
    else regions.set(root, [run]);
  }
  const lastRow = values.length - width;
  return Array.from(regions.values(), (own) => ({
    value: own[0]?.value ?? 0,
    size: own.reduce((sum, { start, end }) => sum + end - start, 0),
    runs: own,
    open: own.some(
      ({ start, end }) =>
        start < width || start >= lastRow || start % width === 0 || end % width === 0,
    ),
  }));
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

/** Returns the indices of the pixels of a region, row by row. */
export function pixelsOf({ runs, size }: Region): number[] {
  const pixels = new Array<number>(size);
  let count = 0;
  for (const { start, end } of runs) {
    for (let at = start; at < end; at += 1) pixels[count++] = at;
  }
  return pixels;
}

export function paint(values: Uint8Array, { runs }: Region, value: number): void {
  for (const { start, end } of runs) values.fill(value, start, end);
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
