import type { Placement } from '../../inference/letterbox.ts';

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
    const [first = [], second = []] = partsOf(labels, width, value);
    for (const pixel of first) kept[pixel] = value;
    if (!twofold.includes(value) || second.length < SECOND_PART * first.length) continue;
    for (const pixel of second) kept[pixel] = value;
  }
  fillHoles(kept, width, height);
  return { width, height, labels: kept, confidence };
}

/** Connected parts of a class, the largest first. */
function partsOf(labels: Uint8Array, width: number, value: number): readonly number[][] {
  const seen = new Uint8Array(labels.length);
  const parts: number[][] = [];
  for (let seed = 0; seed < labels.length; seed++) {
    if (labels[seed] !== value || seen[seed]) continue;
    parts.push(flood(seed, width, labels.length, seen, (pixel) => labels[pixel] === value));
  }
  return parts.toSorted((a, b) => b.length - a.length);
}

/** Ground that one class alone encloses takes its label. */
function fillHoles(labels: Uint8Array, width: number, height: number): void {
  const seen = new Uint8Array(labels.length);
  for (let seed = 0; seed < labels.length; seed++) {
    if (labels[seed] !== 0 || seen[seed]) continue;
    const around = new Set<number>();
    let edge = false;
    const part = flood(seed, width, labels.length, seen, (pixel) => {
      const label = labels[pixel] ?? 0;
      if (label !== 0) around.add(label);
      return label === 0;
    });
    for (const pixel of part) {
      const x = pixel % width;
      if (x === 0 || x === width - 1 || pixel < width || pixel >= width * (height - 1)) edge = true;
    }
    const [only] = around;
    if (edge || around.size !== 1 || only === undefined) continue;
    for (const pixel of part) labels[pixel] = only;
  }
}

function flood(
  seed: number,
  width: number,
  length: number,
  seen: Uint8Array,
  belongs: (pixel: number) => boolean,
): number[] {
  const part = [seed];
  seen[seed] = 1;
  for (let next = 0; next < part.length; next++) {
    const pixel = part[next] ?? 0;
    const x = pixel % width;
    for (const neighbour of [
      x > 0 ? pixel - 1 : -1,
      x < width - 1 ? pixel + 1 : -1,
      pixel - width,
      pixel + width,
    ]) {
      if (neighbour < 0 || neighbour >= length || seen[neighbour] || !belongs(neighbour)) continue;
      seen[neighbour] = 1;
      part.push(neighbour);
    }
  }
  return part;
}
