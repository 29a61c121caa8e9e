import type { Placement } from '../../inference/letterbox.ts';
import { blobs } from '../../measure/blobs.ts';

/** Class of each pixel, row by row; 0 is the ground. */
export interface LabelMap {
  width: number;
  height: number;
  labels: Uint8Array;
  /** Mean probability of each class over the pixels that carry it; 0 where none does. */
  confidence: readonly number[];
}

/**
 * The most likely class of each pixel of a source of `width` × `height`, from probabilities on the
 * network's grid (channel after channel) that are interpolated between its pixels.
 */
export function labelsOf(
  shares: Float32Array,
  grid: { width: number; height: number; classes: number },
  placement: Placement,
  width: number,
  height: number,
): LabelMap {
  const size = grid.width * grid.height;
  const labels = new Uint8Array(width * height);
  const sums = new Float64Array(grid.classes);
  const counts = new Float64Array(grid.classes);
  const xs = positions(width, placement.scaleX, placement.offsetX, grid.width);
  const ys = positions(height, placement.scaleY, placement.offsetY, grid.height);
  for (let y = 0; y < height; y++) {
    const [top, fy] = ys[y] ?? [0, 0];
    for (let x = 0; x < width; x++) {
      const [left, fx] = xs[x] ?? [0, 0];
      const at = top * grid.width + left;
      let best = 0;
      let highest = -1;
      for (let c = 0; c < grid.classes; c++) {
        const i = c * size + at;
        const upper = (1 - fx) * (shares[i] ?? 0) + fx * (shares[i + 1] ?? 0);
        const below = i + grid.width;
        const lower = (1 - fx) * (shares[below] ?? 0) + fx * (shares[below + 1] ?? 0);
        const share = (1 - fy) * upper + fy * lower;
        if (share > highest) {
          highest = share;
          best = c;
        }
      }
      labels[y * width + x] = best;
      sums[best] = (sums[best] ?? 0) + highest;
      counts[best] = (counts[best] ?? 0) + 1;
    }
  }
  const confidence = Array.from(sums, (sum, c) => (counts[c] ? sum / (counts[c] ?? 1) : 0));
  return { width, height, labels, confidence };
}

/** For each source pixel the grid cell to its left (or above) and the fraction beyond it. */
function positions(length: number, scale: number, offset: number, cells: number) {
  return Array.from({ length }, (_, source): [number, number] => {
    const position = Math.min(Math.max((source + 0.5) * scale - 0.5 + offset, 0), cells - 1);
    const before = Math.min(Math.floor(position), cells - 2);
    return [before, position - before];
  });
}

/** Of the largest part of a class; a second part this large is anatomy and no speck. */
const SECOND_PART = 0.2;

/**
 * Every class but the ground reduced to its largest connected part, without holes. The classes of
 * `twofold` may have two, such as a wall that the picture shows on both sides of a cavity.
 */
export function withoutSpecks(
  { width, height, labels, confidence }: LabelMap,
  twofold: readonly number[] = [],
): LabelMap {
  const kept = new Uint8Array(labels.length);
  for (let value = 1; value < confidence.length; value++) {
    const [first = [], second = []] = blobs({ width, height }, (at) => labels[at] === value, 1)
      .map(({ pixels }) => pixels)
      .toSorted((a, b) => b.length - a.length);
    for (const pixel of first) kept[pixel] = value;
    if (!twofold.includes(value) || second.length < SECOND_PART * first.length) continue;
    for (const pixel of second) kept[pixel] = value;
  }
  fillHoles(kept, width, height);
  return { width, height, labels: kept, confidence };
}

/** Ground that one class alone encloses takes its label. */
function fillHoles(labels: Uint8Array, width: number, height: number): void {
  for (const { pixels, open } of blobs({ width, height }, (pixel) => labels[pixel] === 0, 1)) {
    if (open) continue;
    const around = new Set(
      pixels.flatMap((pixel) =>
        [pixel - 1, pixel + 1, pixel - width, pixel + width].map((one) => labels[one] ?? 0),
      ),
    );
    around.delete(0);
    const [only] = around;
    if (around.size !== 1 || only === undefined) continue;
    for (const pixel of pixels) labels[pixel] = only;
  }
}
