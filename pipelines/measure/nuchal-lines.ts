import type { GrayImage, PixelScale, Point } from '../contract/image.ts';
import type { Rectangle } from '../contract/study.ts';
import { median } from './statistics.ts';

/** The thickest part of the nuchal translucency inside its box. */
export interface NuchalLines {
  /**
   * Points on the inner borders of the upper and lower lines, in pixels. The segment between them
   * is perpendicular to the lines.
   */
  ends: readonly [Point, Point];
  /** In the unit of the scale. */
  thickness: number;
  /** Share of the box's columns that show a dark band between two bright lines. */
  seen: number;
}

/**
 * Margin above and below the box, as a share of its height, that is included in the search, because
 * the box ends at the lines.
 */
const MARGIN = 0.5;
/** Minimum rise, in grey levels, from the dark band to each line. */
const LEAST_RISE = 25;
/** Width over which columns are smoothed, as a share of the box's width. */
const SMOOTHING = 0.05;
/** Maximum slope of the band, in rows per column. */
const STEEPEST = 1;
/**
 * Part at each end of the box, as a share of its width, that is not measured, because the lines
 * meet there.
 */
const ENDS = 0.1;
/** Maximum width of the band, as a share of the box's height. */
const WIDEST = 0.8;
/**
 * Weight of the brightness of the two lines relative to the darkness of the band. It is above 1
 * because a thin NT is not completely dark.
 */
const LINE_WEIGHT = 2;
/**
 * Additional contrast, in grey levels, that a position at the edge of the strip needs in comparison
 * with a position in its middle.
 */
const OFF_MIDDLE = 40;
/** Minimum share of columns that must show both lines. */
const LEAST_SEEN = 0.4;

/**
 * Returns the largest thickness of the dark band between two bright lines, perpendicular to the
 * band. Each border is where the grey level has risen half way to the line ("on to on", FMF
 * protocol). Null if the lines are visible in too small a share of the box.
 */
export function nuchalLines(
  image: GrayImage,
  box: Rectangle,
  scale: PixelScale = { x: 1, y: 1 },
): NuchalLines | null {
  const height = box.maxY - box.minY;
  const strip = cutStrip(image, {
    minX: Math.max(0, Math.round(box.minX)),
    maxX: Math.min(image.width - 1, Math.round(box.maxX)),
    minY: Math.max(0, Math.round(box.minY - MARGIN * height)),
    maxY: Math.min(image.height - 1, Math.round(box.maxY + MARGIN * height)),
  });
  if (strip.columns.length < 8 || (strip.columns[0]?.length ?? 0) < 6) return null;
  const window = Math.max(1, Math.round(SMOOTHING * strip.columns.length));
  const smooth = smoothed(strip.columns, window);
  const valley = bandPath(smooth, WIDEST * height);
  const borders = smooth.map((column, x) => bordersOf(column, valley[x] ?? 0, 1.2 * height));
  const from = Math.floor(ENDS * borders.length);
  const inner = borders.slice(from, borders.length - from);
  const seen = inner.filter((one) => one !== null).length / inner.length;
  if (seen < LEAST_SEEN) return null;
  const widest = thickest(inner, window, scale);
  if (!widest) return null;
  const { column, upper, lower, slope } = widest;
  const x = strip.left + from + column;
  const middle = { x, y: strip.top + (upper + lower) / 2 };
  // In the unit of the scale, the band has the direction (1, slope) and the normal (-slope, 1).
  const length = Math.hypot(1, slope);
  const half = widest.thickness / 2;
  const offset = { x: (-slope / length) * (half / scale.x), y: (1 / length) * (half / scale.y) };
  return {
    ends: [
      { x: middle.x - offset.x, y: middle.y - offset.y },
      { x: middle.x + offset.x, y: middle.y + offset.y },
    ],
    thickness: widest.thickness,
    seen,
  };
}

interface Strip {
  left: number;
  top: number;
  columns: Float64Array[];
}

function cutStrip(image: GrayImage, { minX, maxX, minY, maxY }: Rectangle): Strip {
  const columns = Array.from({ length: Math.max(0, maxX - minX + 1) }, (_, x) =>
    Float64Array.from(
      { length: Math.max(0, maxY - minY + 1) },
      (_, y) => image.data[(minY + y) * image.width + minX + x] ?? 0,
    ),
  );
  return { left: minX, top: minY, columns };
}

/**
 * Smooths the levels with the mean over neighbouring columns, then with (1 2 1)/4 down each column.
 */
function smoothed(columns: readonly Float64Array[], window: number): Float64Array[] {
  const reach = Math.floor(window / 2);
  return columns.map((own, x) => {
    const near = columns.slice(Math.max(0, x - reach), x + reach + 1);
    const mean = own.map((_, y) => near.reduce((sum, c) => sum + (c[y] ?? 0), 0) / near.length);
    return mean.map((value, y) => {
      const above = mean[y - 1] ?? value;
      const below = mean[y + 1] ?? value;
      return (above + 2 * value + below) / 4;
    });
  });
}

/**
 * Returns the connected path from left to right that is darkest compared with the lines on both
 * sides. Only the fainter of the two lines counts, so that the path does not follow the gap to the
 * amnion: the gap is dark too, but the amnion is a faint line.
 */
function bandPath(columns: readonly Float64Array[], widest: number): number[] {
  const rows = columns[0]?.length ?? 0;
  const reach = Math.max(2, Math.round(widest));
  const price = (column: Float64Array, y: number) => {
    const above = column.subarray(Math.max(0, y - reach), y + 1);
    const below = column.subarray(y, y + reach + 1);
    const fainter = Math.min(Math.max(...above), Math.max(...below));
    const standing = LINE_WEIGHT * fainter - (column[y] ?? 0);
    const off = (y - (rows - 1) / 2) / (rows / 2);
    return OFF_MIDDLE * off * off - standing;
  };
  const cost: Float64Array[] = [];
  const origin: Int32Array[] = [];
  for (const [x, column] of columns.entries()) {
    const before = cost[x - 1];
    const here = new Float64Array(rows);
    const came = new Int32Array(rows);
    for (let y = 0; y < rows; y++) {
      let best = y;
      for (let step = -STEEPEST; step <= STEEPEST; step++) {
        const from = y + step;
        if (before && from >= 0 && from < rows && (before[from] ?? 0) < (before[best] ?? 0)) {
          best = from;
        }
      }
      here[y] = price(column, y) + (before?.[best] ?? 0);
      came[y] = best;
    }
    cost.push(here);
    origin.push(came);
  }
  const path: number[] = [];
  const last = cost[cost.length - 1] ?? new Float64Array();
  let y = last.indexOf(Math.min(...last));
  for (let x = columns.length - 1; x >= 0; x--) {
    path.unshift(y);
    y = origin[x]?.[y] ?? y;
  }
  return path;
}

interface Borders {
  upper: number;
  lower: number;
}

function bordersOf(column: Float64Array, valley: number, reach: number): Borders | null {
  const upper = halfRise(column, valley, -1, reach);
  const lower = halfRise(column, valley, 1, reach);
  return upper === null || lower === null ? null : { upper, lower };
}

function halfRise(
  column: Float64Array,
  valley: number,
  step: 1 | -1,
  reach: number,
): number | null {
  const dark = column[valley] ?? 0;
  let peak = dark;
  for (let y = valley, n = 0; n <= reach && y >= 0 && y < column.length; y += step, n++) {
    const value = column[y] ?? 0;
    // The search stops where the level falls again, so that it finds the line and not a brighter
    // structure behind it.
    if (value < peak - LEAST_RISE / 2 && peak - dark >= LEAST_RISE) break;
    peak = Math.max(peak, value);
  }
  if (peak - dark < LEAST_RISE) return null;
  const level = (peak + dark) / 2;
  for (let y = valley; y + step >= 0 && y + step < column.length; y += step) {
    const here = column[y] ?? 0;
    const next = column[y + step] ?? 0;
    if (next >= level) return y + (step * (level - here)) / Math.max(next - here, 1e-9);
  }
  return null;
}

/**
 * Returns the largest thickness perpendicular to the band, after smoothing the borders with a
 * running median.
 */
function thickest(borders: readonly (Borders | null)[], window: number, scale: PixelScale) {
  const reach = Math.max(2, window);
  const runs = borders.map((_, x) => {
    const near = borders.slice(Math.max(0, x - reach), x + reach + 1).filter((one) => one !== null);
    return near.length > reach
      ? { upper: median(near.map((one) => one.upper)), lower: median(near.map((one) => one.lower)) }
      : null;
  });
  let best: (Borders & { column: number; slope: number; thickness: number }) | null = null;
  for (const [column, run] of runs.entries()) {
    const before = runs[column - reach];
    const after = runs[column + reach];
    if (!run || !before || !after) continue;
    const rise = (after.upper + after.lower - before.upper - before.lower) / 2;
    const slope = (rise * scale.y) / (2 * reach * scale.x);
    const thickness = ((run.lower - run.upper) * scale.y) / Math.hypot(1, slope);
    if (!best || thickness > best.thickness) best = { ...run, column, slope, thickness };
  }
  return best;
}
