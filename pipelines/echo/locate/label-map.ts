import { freeMemory } from '../../../src/platform/free-memory.ts';
import type { GrayImage } from '../../contract/image.ts';
import type { Rectangle } from '../../contract/study.ts';
import { letterbox, type Placement } from '../../inference/letterbox.ts';
import type { ModelSession } from '../../inference/session.ts';
import { paint, pixelsOf, regionsOf } from '../../measure/regions.ts';

export interface Grid {
  width: number;
  height: number;
  classes: number;
}

/** Class of each pixel, row by row. 0 is the background. */
export interface LabelMap {
  width: number;
  height: number;
  labels: Uint8Array;
  /**
   * Mean probability of each class over the pixels labelled with it; 0 for the background and for a
   * class without pixels.
   */
  confidence: readonly number[];
}

/**
 * Structures on one frame. `labels` has one label for each pixel of `area` in the stored frame,
 * starting at the upper left corner.
 */
export interface StructureMasks<Structure extends string> {
  area: Rectangle;
  width: number;
  height: number;
  /** Row by row: 0 is the background, followed by the structures in their order. */
  labels: Uint8Array;
  /** Mean probability over the pixels of each structure; 0 if the structure was not found. */
  confidence: Readonly<Record<Structure, number>>;
  /** True if the confidence in the LV cavity reaches the model's gate. */
  accepted: boolean;
}

/**
 * Runs a network that outlines structures on the fan of each frame.
 * @param crops the part of each frame within `area`.
 * @param label labels the pixels of a crop from the network's output.
 */
export async function segmentFan<Structure extends string>(
  session: ModelSession,
  crops: readonly GrayImage[],
  area: Rectangle,
  structures: readonly ('lv' | Structure)[],
  label: (...given: Parameters<typeof labelsOf>) => Pick<LabelMap, 'labels' | 'confidence'>,
): Promise<StructureMasks<'lv' | Structure>[]> {
  const { input, output, gate } = session.model;
  const grid = { width: input.width, height: input.height, classes: output.channels.length };
  const width = area.maxX - area.minX + 1;
  const height = area.maxY - area.minY + 1;
  const boxes = crops.map((crop) => letterbox(crop, input.width, input.height));
  const outputs = await session.run(boxes.map(({ pixels }) => pixels));
  const masks = boxes.map(({ placement }, n) => {
    const shares = outputs[n] ?? new Float32Array();
    const { labels, confidence: means } = label(shares, grid, placement, width, height);
    const entries = structures.map((structure, i) => [structure, means[i + 1] ?? 0]);
    const confidence: Record<'lv' | Structure, number> = Object.fromEntries(entries);
    return { area, width, height, labels, confidence, accepted: confidence.lv >= gate };
  });
  freeMemory(outputs);
  return masks;
}

/** Marks a cell of the grid whose corners have different classes. */
const MIXED = 255;

/**
 * Returns the most likely class of each pixel of a `width` × `height` source. `shares` are the
 * probabilities on the network's grid, one channel after another; they are interpolated. If the
 * four corners of a cell have the same class, so does the whole cell, because values inside it are
 * weighted means of the corners. Therefore only cells on a border are examined pixel by pixel, and
 * background cells are skipped.
 */
export function labelsOf(
  shares: Float32Array,
  grid: Grid,
  placement: Placement,
  width: number,
  height: number,
): LabelMap {
  const { classes } = grid;
  const plane = grid.width * grid.height;
  const labels = new Uint8Array(width * height);
  const sums = new Float64Array(classes);
  const counts = new Float64Array(classes);
  const xs = positions(width, placement.scaleX, placement.offsetX, grid.width);
  const ys = positions(height, placement.scaleY, placement.offsetY, grid.height);
  const cells = agreedCells(mostLikely(shares, plane, classes), grid.width);
  for (let y = 0; y < height; y++) {
    const top = (ys.before[y] ?? 0) * grid.width;
    const fy = ys.beyond[y] ?? 0;
    for (let x = 0, end = 0; x < width; x = end) {
      const column = xs.before[x] ?? 0;
      const cell = top + column;
      const agreed = cells[cell] ?? 0;
      end = xs.ends[column] ?? width;
      if (agreed === 0) continue;
      for (let at = x; at < end; at++) {
        const fx = xs.beyond[at] ?? 0;
        let best = agreed === MIXED ? 0 : agreed;
        let highest = between(shares, best * plane + cell, grid.width, fx, fy);
        for (let c = 1; agreed === MIXED && c < classes; c++) {
          const share = between(shares, c * plane + cell, grid.width, fx, fy);
          if (share > highest) {
            highest = share;
            best = c;
          }
        }
        if (best === 0) continue;
        labels[y * width + at] = best;
        sums[best] = (sums[best] ?? 0) + highest;
        counts[best] = (counts[best] ?? 0) + 1;
      }
    }
  }
  const confidence = Array.from(sums, (sum, c) => (counts[c] ? sum / (counts[c] ?? 1) : 0));
  return { width, height, labels, confidence };
}

/**
 * Returns the class with the largest share at each pixel of a grid of `plane` pixels. If there is a
 * tie, the first class is returned.
 *
 * @param shares the probabilities, one channel after another.
 */
export function mostLikely(shares: Float32Array, plane: number, classes: number): Uint8Array {
  const best = new Uint8Array(plane);
  for (let at = 0; at < plane; at++) {
    let highest = shares[at] ?? 0;
    for (let c = 1, i = at + plane; c < classes; c++, i += plane) {
      const share = shares[i] ?? 0;
      if (share <= highest) continue;
      highest = share;
      best[at] = c;
    }
  }
  return best;
}

/**
 * Returns, for each cell, the class of its four corners, or `MIXED` if they differ. A cell has the
 * index of its upper left corner.
 */
function agreedCells(best: Uint8Array, width: number): Uint8Array {
  const cells = new Uint8Array(best.length).fill(MIXED);
  for (let at = 0; at + width + 1 < best.length; at++) {
    const corner = best[at] ?? 0;
    const right = best[at + 1] === corner && best[at + width + 1] === corner;
    if (right && best[at + width] === corner) cells[at] = corner;
  }
  return cells;
}

function between(
  shares: Float32Array,
  corner: number,
  width: number,
  fx: number,
  fy: number,
): number {
  const upper = (1 - fx) * (shares[corner] ?? 0) + fx * (shares[corner + 1] ?? 0);
  const lower = (1 - fx) * (shares[corner + width] ?? 0) + fx * (shares[corner + width + 1] ?? 0);
  return (1 - fy) * upper + fy * lower;
}

/**
 * Grid cell of each source pixel along one axis, and the pixel's position within that cell as a
 * fraction.
 */
interface Positions {
  before: Int32Array;
  beyond: Float64Array;
  /** For each cell, the first source pixel after it. */
  ends: Int32Array;
}

function positions(length: number, scale: number, offset: number, cells: number): Positions {
  const before = new Int32Array(length);
  const beyond = new Float64Array(length);
  const ends = new Int32Array(cells);
  for (let source = 0; source < length; source++) {
    const position = Math.min(Math.max((source + 0.5) * scale - 0.5 + offset, 0), cells - 1);
    const cell = Math.min(Math.floor(position), cells - 2);
    before[source] = cell;
    beyond[source] = position - cell;
    ends[cell] = source + 1;
  }
  return { before, beyond, ends };
}

/** Returns a mask that is 1 at pixels with one of the two labels, and 0 at all others. */
export function maskOf(
  { labels }: Pick<LabelMap, 'labels'>,
  label: number,
  other = label,
): Uint8Array {
  const mask = new Uint8Array(labels.length);
  for (let at = 0; at < labels.length; at++) {
    mask[at] = labels[at] === label || labels[at] === other ? 1 : 0;
  }
  return mask;
}

/** Counts the pixels with the label. */
export function sizeOf({ labels }: Pick<LabelMap, 'labels'>, label: number): number {
  let size = 0;
  for (let at = 0; at < labels.length; at++) if (labels[at] === label) size++;
  return size;
}

/** Returns the indices of the pixels with the label, in ascending order. */
export function pixelsLabelled(map: Pick<LabelMap, 'labels'>, label: number): Int32Array {
  const pixels = new Int32Array(sizeOf(map, label));
  for (let at = 0, n = 0; n < pixels.length; at++) if (map.labels[at] === label) pixels[n++] = at;
  return pixels;
}

/**
 * Minimum size of a second part of a class, as a share of the largest part. A smaller part is a
 * speck, not anatomy.
 */
const SECOND_PART = 0.2;

/**
 * Reduces every class except the background to its largest connected part, and fills the holes in
 * that part. Classes in `twofold` may have two parts, such as a wall that is visible on both sides
 * of a cavity. Modifies the labels of the map, and returns it.
 */
export function removeSpecks<Labelled extends Pick<LabelMap, 'width' | 'labels'>>(
  map: Labelled,
  twofold: readonly number[] = [],
): Labelled {
  const { width, labels } = map;
  const byValue = Map.groupBy(regionsOf(labels, width), ({ value }) => value);
  for (const [value, parts] of byValue) {
    const [first, second, ...others] = parts.toSorted((a, b) => b.size - a.size);
    for (const speck of others) paint(labels, speck, 0);
    if (!first || !second) continue;
    const isPart = twofold.includes(value) && second.size >= SECOND_PART * first.size;
    if (!isPart) paint(labels, second, 0);
  }
  fillHoles(labels, width);
  return map;
}

/**
 * Background enclosed by a single class gets the label of that class. Only the rows from the first
 * to the last label are searched: background that reaches their border is not enclosed.
 */
function fillHoles(all: Uint8Array, width: number): void {
  const first = all.findIndex((label) => label !== 0);
  if (first < 0) return;
  const last = all.findLastIndex((label) => label !== 0);
  const labels = all.subarray(first - (first % width), last - (last % width) + width);
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
