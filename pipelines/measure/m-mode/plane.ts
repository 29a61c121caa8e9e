import type { GrayImage } from '../../contract/image.ts';
import type { SweepRegion } from '../../contract/study.ts';

/**
 * Returns the value at a row of the frame: a velocity in cm/s (or a shift in Hz), positive above
 * the baseline, or a depth in cm, positive below the skin. The sign is derived from the side of the
 * baseline and not from the header, because many carts write a positive Physical Delta Y for
 * Doppler although velocities increase upwards (echo 2.7). DICOM does not record whether the
 * display is inverted. Null if the scale or the baseline is unknown.
 */
export function valueAt(
  sweep: Pick<SweepRegion, 'zeroRow' | 'valuePerPixel' | 'unit'>,
  row: number,
): number | null {
  const { zeroRow, valuePerPixel, unit } = sweep;
  if (zeroRow === null || valuePerPixel === null) return null;
  const rows = unit === 'cm' ? row - zeroRow : zeroRow - row;
  return rows * valuePerPixel;
}

/** An M-mode display cropped from its frame: grey levels by row (depth) and sample (time). */
export interface MModePlane {
  left: number;
  top: number;
  /** Number of time samples. Each is the mean of `width` columns of the frame. */
  columns: number;
  width: number;
  rows: number;
  levels: Float32Array;
  /** Duration of one sample, in seconds. */
  secondsPerColumn: number;
  /** Depth of one row, in cm. */
  depthPerRow: number;
}

/** Minimum size of a display on which a beat and a wall can be seen. */
const SMALLEST = { columns: 80, rows: 60 } as const;
/** A column has been written if at least `share` of its pixels are brighter than `level`. */
const WRITTEN = { level: 8, share: 0.05 } as const;
/** Duration of a sample in seconds. A wall moves only a few rows in this time. */
const SAMPLE = 0.012;
/**
 * Width of the median window in columns. Calipers, grid dots and the ECG line are narrower than
 * half of it.
 */
const MARK = 31;
/**
 * Minimum difference, in grey levels, by which calipers, grid dots and the ECG line exceed the
 * echoes beside them.
 */
const BRIGHTER = 90;
/**
 * Width, in columns, of the median window that removes speckle. Speckle is narrower than half of
 * it.
 */
const SPECKLE = 5;

function columnsWritten({ data, width }: GrayImage, { area }: SweepRegion): [number, number] {
  const rows = area.maxY - area.minY + 1;
  const written = (column: number) => {
    let bright = 0;
    for (let row = area.minY; row <= area.maxY; row++) {
      if ((data[row * width + column] ?? 0) > WRITTEN.level) bright++;
    }
    return bright >= WRITTEN.share * rows;
  };
  let [from, to] = [area.minX, area.maxX];
  while (from < to && !written(from)) from++;
  while (to > from && !written(to)) to--;
  return [from, to];
}

/**
 * Returns the running median over neighbouring columns, calculated with a moving histogram of whole
 * grey levels (Huang 1979).
 */
function medianOverTime(plane: Float32Array, columns: number, size: number): Float32Array {
  const result = new Float32Array(plane.length);
  const reach = size >> 1;
  for (let start = 0; start < plane.length; start += columns) {
    const counts = new Uint16Array(256);
    let [median, below] = [0, 0];
    const count = (column: number, change: 1 | -1) => {
      const level = plane[start + Math.max(0, Math.min(columns - 1, column))] ?? 0;
      counts[level] = (counts[level] ?? 0) + change;
      if (level < median) below += change;
    };
    for (let column = -reach; column < reach; column++) count(column, 1);
    for (let column = 0; column < columns; column++) {
      count(column + reach, 1);
      while (below > reach) below -= counts[--median] ?? 0;
      while (below + (counts[median] ?? 0) <= reach) below += counts[median++] ?? 0;
      result[start + column] = median;
      count(column - reach, -1);
    }
  }
  return result;
}

/**
 * Removes calipers, grid dots and the ECG line. Unlike echoes, which change smoothly over time,
 * they are much brighter than the picture beside them.
 */
function withoutMarks(cut: Float32Array, columns: number): Float32Array {
  const beside = medianOverTime(cut, columns, MARK);
  const clean = cut.map((level, i) =>
    level - (beside[i] ?? 0) > BRIGHTER ? (beside[i] ?? 0) : level,
  );
  return medianOverTime(clean, columns, SPECKLE);
}

function sampled(plane: Float32Array, columns: number, samples: number, width: number) {
  const rows = plane.length / columns;
  return Float32Array.from({ length: rows * samples }, (_, i) => {
    const from = Math.floor(i / samples) * columns + (i % samples) * width;
    let sum = 0;
    for (let k = 0; k < width; k++) sum += plane[from + k] ?? 0;
    return sum / width;
  });
}

/**
 * Crops an M-mode display from its frame. Null if the display has no scale for depth or time, or is
 * too small to show a moving wall.
 */
export function readMModePlane(image: GrayImage, sweep: SweepRegion): MModePlane | null {
  const { area, secondsPerPixel, valuePerPixel, unit } = sweep;
  if (unit !== 'cm' || secondsPerPixel === null || valuePerPixel === null) return null;
  const [from, to] = columnsWritten(image, sweep);
  const columns = to - from + 1;
  const rows = area.maxY - area.minY + 1;
  if (columns < SMALLEST.columns || rows < SMALLEST.rows) return null;
  const cut = Float32Array.from({ length: rows * columns }, (_, i) => {
    const row = area.minY + Math.floor(i / columns);
    return image.data[row * image.width + from + (i % columns)] ?? 0;
  });
  const width = Math.max(1, Math.round(SAMPLE / secondsPerPixel));
  const samples = Math.floor(columns / width);
  return {
    left: from,
    top: area.minY,
    columns: samples,
    width,
    rows,
    levels: sampled(withoutMarks(cut, columns), columns, samples, width),
    secondsPerColumn: secondsPerPixel * width,
    depthPerRow: valuePerPixel,
  };
}

/** Returns the position of a sample and row on the frame, in pixel-centre coordinates. */
export function framePoint(plane: MModePlane, sample: number, row: number): [number, number] {
  return [plane.left + (sample + 0.5) * plane.width - 0.5, plane.top + row];
}
