import type { Placement } from '../../inference/letterbox.ts';
import { paint, pixelsOf, regionsOf } from '../../measure/regions.ts';

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
  const labels = new Uint8Array(width * height);
  const sums = new Float64Array(grid.classes);
  const counts = new Float64Array(grid.classes);
  const xs = positions(width, placement.scaleX, placement.offsetX, grid.width);
  const ys = positions(height, placement.scaleY, placement.offsetY, grid.height);
  const highest = new Float64Array(width);
  let upper = new Float64Array();
  let lower = new Float64Array();
  let above = -1;
  for (let y = 0; y < height; y++) {
    const top = ys.before[y] ?? 0;
    const fy = ys.beyond[y] ?? 0;
    // Rows of the grid are spread over the columns of the source once, for several of its rows.
    if (top !== above) {
      upper = top === above + 1 && above >= 0 ? lower : spread(shares, grid, top, xs);
      lower = spread(shares, grid, top + 1, xs);
      above = top;
    }
    const row = labels.subarray(y * width, (y + 1) * width);
    highest.fill(-1);
    for (let c = 0; c < grid.classes; c++) {
      for (let x = 0, i = c * width; x < width; x++, i++) {
        const share = (1 - fy) * (upper[i] ?? 0) + fy * (lower[i] ?? 0);
        if (share > (highest[x] ?? 0)) {
          highest[x] = share;
          row[x] = c;
        }
      }
    }
    for (let x = 0; x < width; x++) {
      const best = row[x] ?? 0;
      sums[best] = (sums[best] ?? 0) + (highest[x] ?? 0);
      counts[best] = (counts[best] ?? 0) + 1;
    }
  }
  const confidence = Array.from(sums, (sum, c) => (counts[c] ? sum / (counts[c] ?? 1) : 0));
  return { width, height, labels, confidence };
}

/** For each source pixel the grid cell to its left (or above), and the fraction beyond it. */
interface Positions {
  before: Int32Array;
  beyond: Float64Array;
}

function positions(length: number, scale: number, offset: number, cells: number): Positions {
  const before = new Int32Array(length);
  const beyond = new Float64Array(length);
  for (let source = 0; source < length; source++) {
    const position = Math.min(Math.max((source + 0.5) * scale - 0.5 + offset, 0), cells - 1);
    before[source] = Math.min(Math.floor(position), cells - 2);
    beyond[source] = position - (before[source] ?? 0);
  }
  return { before, beyond };
}

/** One row of the grid at the columns of the source, class after class. */
function spread(
  shares: Float32Array,
  grid: { width: number; height: number; classes: number },
  row: number,
  { before, beyond }: Positions,
): Float64Array<ArrayBuffer> {
  const width = before.length;
  const out = new Float64Array(width * grid.classes);
  for (let c = 0; c < grid.classes; c++) {
    const start = (c * grid.height + row) * grid.width;
    for (let x = 0; x < width; x++) {
      const at = start + (before[x] ?? 0);
      const fx = beyond[x] ?? 0;
      out[c * width + x] = (1 - fx) * (shares[at] ?? 0) + fx * (shares[at + 1] ?? 0);
    }
  }
  return out;
}

/** 1 where a pixel carries the label; all else 0. */
export function maskOf({ labels }: Pick<LabelMap, 'labels'>, label: number): Uint8Array {
  const mask = new Uint8Array(labels.length);
  for (let at = 0; at < labels.length; at++) mask[at] = labels[at] === label ? 1 : 0;
  return mask;
}

/** Pixels that carry the label. */
export function sizeOf({ labels }: Pick<LabelMap, 'labels'>, label: number): number {
  let size = 0;
  for (let at = 0; at < labels.length; at++) if (labels[at] === label) size++;
  return size;
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
  const byValue = Map.groupBy(regionsOf(labels, width), ({ value }) => value);
  for (const [value, parts] of byValue) {
    const [first, second] = parts.toSorted((a, b) => b.size - a.size);
    if (first) paint(kept, first, value);
    if (!first || !second || !twofold.includes(value)) continue;
    if (second.size >= SECOND_PART * first.size) paint(kept, second, value);
  }
  fillHoles(kept, width);
  return { width, height, labels: kept, confidence };
}

/** Ground that one class alone encloses takes its label. */
function fillHoles(labels: Uint8Array, width: number): void {
  for (const hole of regionsOf(maskOf({ labels }, 0), width)) {
    if (hole.open) continue;
    const around = new Set<number>();
    for (const at of pixelsOf(hole)) {
      for (const one of [at - 1, at + 1, at - width, at + width]) around.add(labels[one] ?? 0);
    }
    around.delete(0);
    const [only] = around;
    if (around.size === 1 && only !== undefined) paint(labels, hole, only);
  }
}
