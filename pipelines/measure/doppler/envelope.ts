import type { GrayImage } from '../../contract/image.ts';
import type { SweepRegion } from '../../contract/study.ts';
import { boundsOfRegion, paint, regionsOf } from '../regions.ts';
import { tenth } from '../rounding.ts';
import { steadied, type Wave, wavesOf } from '../waves.ts';
import { readSpectrum, type Spectrum } from './spectrum.ts';

/**
 * Side of the baseline on the screen. It is not known which side shows flow towards the probe,
 * because the operator may have inverted the display.
 */
export type Side = 'above' | 'below';

export interface DrawnTrace {
  side: Side;
  /** Row of velocity zero. */
  baselineRow: number;
  points: readonly [x: number, y: number][];
  /** Columns of the frame at which the beats are marked. */
  beats: readonly number[];
}

export const ENVELOPE = {
  /** Grey level at the edge of the flow, as a share of the column's flow level above the noise. */
  edge: 0.5,
  /**
   * Grey level at which the skirt begins, as a share of the flow level. The skirt is the blurred
   * margin of the flow and ends at the edge.
   */
  full: 0.86,
  /**
   * Grey level at the leading edge, where the signal begins, as a share of the flow level. E and A
   * are measured there (D16).
   */
  leading: 0.25,
  /**
   * Grey level at which the edge is read a second time, as a share of the flow level. The two
   * readings must agree.
   */
  dense: 0.7,
  /** Minimum level of flow above the noise, in standard deviations of the noise. */
  aboveNoise: 4.5,
  /** Minimum level of flow above the noise, in grey levels. */
  contrast: 14,
  /**
   * Around each column, the `quantile` of the flow levels within `seconds` is taken. A column whose
   * own level is below `share` of it is dim: its faint signal is only the margin of a wave. The
   * threshold of a dim column is calculated as if its level were `share` of that quantile.
   */
  dim: { share: 0.6, seconds: 0.1, quantile: 0.75 },
  /**
   * The flow level of a column is the `quantile` of the levels in the outer part of its flow, so
   * that the faint margin outside the dense signal has no influence. The outer part is the share
   * `part` of the rows from the edge to the baseline. If all rows were used, the bright band of
   * slow echoes at the baseline (the edge of the wall filter) would hide a jet that is fainter than
   * the band.
   */
  outer: { part: 0.6, quantile: 0.8 },
  /** Minimum number of consecutive bright rows. Fewer rows are a speck. */
  thickness: 3,
  /**
   * Minimum duration, in seconds, of a patch that does not touch the baseline. A shorter one is a
   * tick, a caret or a speck.
   */
  shortestSeconds: 0.04,
  /**
   * Text may be shown in this share of the rows of a side, measured from the end of the scale. A
   * patch that is entirely in these rows is not flow.
   */
  margin: 0.12,
  /** Number of columns on either side over which the flow level and the trace are smoothed. */
  smoothing: 2,
  /**
   * Number of columns on either side over which the leading edge is smoothed. The tip of A is so
   * narrow that more smoothing would lower it. The dense signal needs more smoothing, because its
   * edge is rough.
   */
  leadingSmoothing: 1,
  /**
   * Flow that wrapped around from the other side stays within this share of the side, measured from
   * its far end. Flow that belongs to this side and is cut off at the end extends further, as far
   * as the wall filter at the baseline.
   */
  wrapped: 0.75,
  /**
   * Maximum distance from the end of the side, as a share of its rows, at which flow counts as cut
   * off.
   */
  end: 0.03,
} as const;

export interface Envelope {
  side: Side;
  /** Speed in each column in cm/s, never negative; 0 if no flow is brighter than the noise. */
  velocities: Float64Array;
  /**
   * Speed in each column, in cm/s, at the leading edge (`leading`) and at the edge of the densest
   * signal (`dense`).
   */
  leading: Float64Array;
  dense: Float64Array;
  /** Row of the edge on the display in each column, not rounded; null if there is no flow. */
  edgeRows: (number | null)[];
  /** Level of the outer part of the flow in each column, in grey levels above the noise. */
  levels: readonly number[];
  /** Share of columns with flow. */
  filled: number;
  /** Median level of the flow above the noise, in standard deviations of the noise. */
  contrast: number;
  /** Median level of the flow above the noise, in grey levels. */
  brightness: number;
  /**
   * Median width of the skirt, cm/s. Spectral broadening and the logarithmic grey scale move the
   * traced edge outwards from the fastest blood by about this much.
   */
  skirt: number;
  /**
   * Speed in each column at the inner end of the skirt (`ENVELOPE.full`), in cm/s; 0 if there is no
   * flow.
   */
  full: Float64Array;
  /** True if flow from the other side reappears at the end of this side. */
  wrapped: boolean;
  /** True for each column in which the flow reaches the end of the side. */
  atEnd: readonly boolean[];
  /** Share of columns in which the flow reaches the end of the side. */
  cut: number;
  /** Speed at the end of the side, in cm/s. */
  limit: number;
}

function rowsOf(spectrum: Spectrum, side: Side): number[] {
  const { rows, zeroRow, baselineRows } = spectrum;
  const first = side === 'above' ? 0 : rows - 1;
  const towards = side === 'above' ? 1 : -1;
  const last = Math.round(zeroRow) - towards * baselineRows;
  const count = Math.min(rows, Math.max(0, (last - first) * towards + 1));
  return Array.from({ length: count }, (_, i) => first + i * towards);
}

function percentile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}

/**
 * Returns, for each value, the percentile of the values at most `reach` places away. These are kept
 * in ascending order; each step inserts one value and removes one.
 */
function percentileAround(values: readonly number[], reach: number, share: number): number[] {
  const sorted = new Float64Array(2 * reach + 1);
  let count = 0;
  const placeOf = (value: number) => {
    let at = 0;
    for (let beyond = count; at < beyond; ) {
      const middle = (at + beyond) >> 1;
      if ((sorted[middle] ?? 0) < value) at = middle + 1;
      else beyond = middle;
    }
    return at;
  };
  const enter = (value: number | undefined) => {
    if (value === undefined) return;
    const at = placeOf(value);
    sorted.copyWithin(at + 1, at, count++);
    sorted[at] = value;
  };
  const leave = (value: number | undefined) => {
    if (value === undefined) return;
    const at = placeOf(value);
    sorted.copyWithin(at, at + 1, count--);
  };
  for (let ahead = 0; ahead < reach; ahead++) enter(values[ahead]);
  return values.map((_, i) => {
    leave(values[i - reach - 1]);
    enter(values[i + reach]);
    return sorted[Math.min(count - 1, Math.floor(share * count))] ?? 0;
  });
}

const medianSmoothed = (values: readonly number[], reach: number): number[] =>
  percentileAround(values, reach, 0.499);

/** Grey levels on one side of the baseline. The outermost row is the first. */
interface SideView {
  columns: number;
  rows: number;
  level(step: number, column: number): number;
}

/**
 * Marks the flow pixels of a side: pixels brighter than their column's threshold, in a patch that
 * touches the baseline or lasts long enough.
 */
function flowMask(
  view: SideView,
  thresholds: readonly number[],
  shortest: number,
): { mask: Uint8Array; wrapped: boolean } {
  const { columns, rows, level } = view;
  const mask = new Uint8Array(columns * rows);
  for (let step = 0; step < rows; step++) {
    for (let column = 0; column < columns; column++) {
      const isFlow = level(step, column) > (thresholds[column] ?? Infinity);
      if (isFlow) mask[step * columns + column] = 1;
    }
  }
  let wrapped = false;
  for (const patch of regionsOf(mask, columns)) {
    const { minX: first, maxX: last, minY: outer, maxY: inner } = boundsOfRegion(patch, columns);
    if (inner >= rows - 1) continue;
    const lasting = last - first + 1 >= shortest;
    // Flow that starts at the end of the scale and does not come close to the baseline has wrapped
    // around from the other side.
    const outermost = outer === 0 && inner < ENVELOPE.wrapped * rows;
    if (lasting && outermost) wrapped = true;
    if (lasting && !outermost && inner > ENVELOPE.margin * rows) continue;
    paint(mask, patch, 0);
  }
  return { mask, wrapped };
}

/**
 * Removes the wrapped signal from each column: bright rows at the far end of the side that are
 * separate from the flow and fainter. This signal is the mirror image of a fast flow, wrapped
 * around from the other side. It touches the flow at the peak and is therefore in the same patch.
 */
function removeWrapped({ columns, rows, level }: SideView, mask: Uint8Array, noise: number): void {
  const shown = (step: number, column: number) => mask[step * columns + column] === 1;
  const brightness = (from: number, to: number, column: number) => {
    let sum = 0;
    for (let step = from; step < to; step++) {
      if (shown(step, column)) sum += level(step, column) - noise;
    }
    return sum;
  };
  for (let column = 0; column < columns; column++) {
    let end = 0;
    while (end < rows && shown(end, column)) end++;
    let gap = 0;
    while (end + gap < rows && !shown(end + gap, column)) gap++;
    // A narrow gap is a hole in the speckle and does not divide the flow in two.
    if (end === 0 || gap < ENVELOPE.thickness) continue;
    if (brightness(0, end, column) >= brightness(end, rows, column)) continue;
    for (let step = 0; step < end; step++) mask[step * columns + column] = 0;
  }
}

/**
 * Returns the distance from the end of the side to the start of the flow, in rows (not rounded).
 * Null if there is no flow.
 */
function edgeIn(
  { columns, rows, level }: SideView,
  mask: Uint8Array,
  column: number,
  threshold: number,
): number | null {
  let run = 0;
  for (let step = 0; step < rows; step++) {
    const flow = mask[step * columns + column] === 1 && level(step, column) > threshold;
    run = flow ? run + 1 : 0;
    if (run < ENVELOPE.thickness) continue;
    const first = step - run + 1;
    if (first === 0) return 0;
    const inside = level(first, column);
    const outside = Math.min(threshold, level(first - 1, column));
    return first - (inside - threshold) / (inside - outside);
  }
  return null;
}

/**
 * Returns the level of the outer part of the flow above the noise in each column, smoothed over
 * time; 0 in a column without flow.
 *
 * @param edges the steps from the end of the side to the flow (`edgeIn`).
 */
function flowLevels(view: SideView, edges: readonly (number | null)[], noise: number): number[] {
  const { part, quantile } = ENVELOPE.outer;
  const levels = edges.map((edge, column) => {
    if (edge === null) return 0;
    const from = Math.round(edge);
    const to = Math.max(from + ENVELOPE.thickness, from + part * (view.rows - from));
    const outer: number[] = [];
    for (let step = from; step < Math.min(view.rows, to); step++) {
      outer.push(view.level(step, column));
    }
    return Math.max(0, percentile(outer, quantile) - noise);
  });
  return medianSmoothed(levels, ENVELOPE.smoothing);
}

/**
 * Returns the edge of the flow in each column, in steps from the end of the side, at the given
 * share of the flow level.
 */
type EdgesAt = (share: number) => (number | null)[];

/**
 * Finds the flow on one side. A first pass marks all pixels brighter than the noise. The resulting
 * edge includes the faint margin, so two further passes find the edge at a share of the flow level.
 */
function flowOf(view: SideView, { noise, secondsPerColumn }: Spectrum, least: number) {
  const { mean } = noise;
  const shortest = ENVELOPE.shortestSeconds / secondsPerColumn;
  const reach = Math.max(1, Math.round(ENVELOPE.dim.seconds / secondsPerColumn));
  const everywhere = Array.from({ length: view.columns }, () => mean + least);
  const { mask: visible, wrapped } = flowMask(view, everywhere, shortest);
  removeWrapped(view, visible, mean);
  const seen = everywhere.map((threshold, column) => edgeIn(view, visible, column, threshold));
  const usualOf = (levels: readonly number[]) =>
    percentile(
      levels.filter((level) => level > least),
      0.5,
    );
  const edgesOf = (levels: readonly number[], mask: Uint8Array, share: number) => {
    const around = percentileAround(levels, reach, ENVELOPE.dim.quantile);
    return levels.map((level, column) => {
      if (level < least || view.rows < 2 * ENVELOPE.thickness) return null;
      const own = Math.max(level, ENVELOPE.dim.share * (around[column] ?? 0));
      return edgeIn(view, mask, column, mean + Math.max(least, share * own));
    });
  };
  const first = flowLevels(view, seen, mean);
  const levels = flowLevels(view, edgesOf(first, visible, ENVELOPE.edge), mean);
  const edgesAt: EdgesAt = (share) => edgesOf(levels, visible, share);
  return { levels, usual: usualOf(levels), edgesAt, wrapped };
}

/**
 * Traces the outer edge of the flow on one side of the baseline. Each column's threshold is half
 * way between the noise and the level of the outer part of the flow, so gain, dynamic range and the
 * bright band at the baseline have little influence. Thin marks and single specks do not count as
 * flow. The rows at the baseline are ignored.
 */
export function traceEnvelope(spectrum: Spectrum, side: Side): Envelope {
  const { columns, zeroRow, velocityPerRow, noise } = spectrum;
  const sideRows = rowsOf(spectrum, side);
  const least = Math.max(ENVELOPE.contrast, ENVELOPE.aboveNoise * noise.deviation);
  const towards = side === 'above' ? 1 : -1;
  const outerRow = side === 'above' ? 0 : spectrum.rows - 1;
  const view: SideView = {
    columns,
    rows: sideRows.length,
    level: (step, column) => spectrum.levels[(sideRows[step] ?? 0) * columns + column] as number,
  };
  const { levels, usual, edgesAt, wrapped } = flowOf(view, spectrum, least);
  const found = edgesAt(ENVELOPE.edge);
  const full = edgesAt(ENVELOPE.full);
  const skirts = found.flatMap((edge, column) => {
    const inner = full[column] ?? null;
    return edge === null || inner === null || edge === 0 ? [] : [inner - edge];
  });
  // In a column without flow, the edge is placed as near to the baseline as possible, so that the
  // median does not treat the column as one with fast flow.
  const smoothed = (edges: readonly (number | null)[], reach: number) =>
    medianSmoothed(
      edges.map((edge) => edge ?? sideRows.length),
      reach,
    ).map((step) => (step >= sideRows.length ? null : step));
  const inward = smoothed(found, ENVELOPE.smoothing);
  const rowsAt = (steps: readonly (number | null)[]) =>
    steps.map((step) => (step === null ? null : outerRow + towards * step));
  const velocitiesAt = (rows: readonly (number | null)[]) =>
    Float64Array.from(rows, (row) => (row === null ? 0 : Math.abs(zeroRow - row) * velocityPerRow));
  const edgeAt = (share: number, reach: number) =>
    velocitiesAt(rowsAt(smoothed(edgesAt(share), reach)));
  const edgeRows = rowsAt(inward);
  const flowing = inward.filter((step) => step !== null);
  const atEnd = inward.map((step) => step !== null && step <= ENVELOPE.end * sideRows.length);
  return {
    side,
    velocities: velocitiesAt(edgeRows),
    leading: edgeAt(ENVELOPE.leading, ENVELOPE.leadingSmoothing),
    dense: edgeAt(ENVELOPE.dense, ENVELOPE.smoothing),
    edgeRows,
    levels,
    filled: flowing.length / columns,
    contrast: usual / Math.max(1, noise.deviation),
    brightness: usual,
    skirt: percentile(skirts, 0.5) * velocityPerRow,
    full: edgeAt(ENVELOPE.full, ENVELOPE.smoothing),
    atEnd,
    wrapped,
    cut: atEnd.filter((one) => one).length / columns,
    limit: Math.abs(zeroRow - outerRow) * velocityPerRow,
  };
}

const SPECTRAL_TRACE = {
  /** Minimum height of a wave above its valleys, as a share of the fastest flow on the side. */
  prominence: 0.2,
  /** Flow below this share of the fastest flow on the side counts as being at the baseline. */
  floor: 0.1,
  /**
   * Quantile of the velocities that counts as the fastest flow on a side. A click of a few columns
   * is faster but is not flow.
   */
  top: 0.97,
  /** Minimum duration of a wave in seconds. Shorter waves are valve clicks. */
  shortestSeconds: 0.04,
  smoothing: 2,
  /**
   * Seconds on either side over which the median smooths the trace of blood. Shorter spikes in the
   * dense signal are noise. Tissue is not smoothed in this way, because its motion starts and stops
   * more sharply.
   */
  spike: 0.014,
  /**
   * Share of the skirt's width that is subtracted from the traced edge. In blood, the dense signal
   * is traced: "chin, not beard" (echo 17). In tissue, all parts move at the same velocity, so the
   * signal is a line, which is measured at the middle of its outer edge.
   */
  skirt: { blood: 0.5, tissue: 0 },
  /** Maximum full scale of tissue Doppler, cm/s (echo 2.6). */
  tissueScale: 40,
  /**
   * Level of the flow, in standard deviations of the noise, at which the confidence of a trace is
   * 0.63.
   */
  clear: 12,
} as const;

/**
 * E and A are measured at the `leading` edge. The `dense` edge is a second reading to compare with
 * `curve`, and `skirt` is the speed that was subtracted from the traced edge.
 */
export interface SpectralTrace
  extends Pick<
    Envelope,
    'side' | 'leading' | 'dense' | 'skirt' | 'brightness' | 'filled' | 'atEnd' | 'limit' | 'wrapped'
  > {
  /** Speed in each column in cm/s; 0 if there is no flow. */
  curve: Float64Array;
  waves: Wave[];
  /** How clearly the flow exceeds the noise, 0 to 1. */
  clear: number;
}

/** Returns the fastest speed of a curve within `reach` columns of a column. */
export function fastestNear(curve: Float64Array, column: number, reach: number): number {
  const from = Math.max(0, Math.floor(column - reach));
  return Math.max(0, ...curve.subarray(from, Math.ceil(column + reach) + 1));
}

export interface SpectralDisplay {
  spectrum: Pick<
    Spectrum,
    'left' | 'top' | 'columns' | 'rows' | 'zeroRow' | 'velocityPerRow' | 'secondsPerColumn'
  >;
  above: SpectralTrace;
  below: SpectralTrace;
  /**
   * True if the velocity scale is as small as in tissue Doppler. This alone does not prove that it
   * is tissue Doppler.
   */
  tissueScale: boolean;
}

function fullScale({ rows, zeroRow, velocityPerRow }: Spectrum): number {
  return Math.max(zeroRow, rows - 1 - zeroRow) * velocityPerRow;
}

function fastest(curve: Float64Array): number {
  const sorted = curve.toSorted();
  return sorted[Math.floor(SPECTRAL_TRACE.top * (sorted.length - 1))] ?? 0;
}

function toTrace(envelope: Envelope, spectrum: Spectrum, tissue: boolean): SpectralTrace {
  const { side, velocities, contrast, brightness, filled, atEnd, limit } = envelope;
  const skirt = SPECTRAL_TRACE.skirt[tissue ? 'tissue' : 'blood'] * envelope.skirt;
  const reach = tissue ? 0 : Math.round(SPECTRAL_TRACE.spike / spectrum.secondsPerColumn);
  const edge = medianSmoothed(
    Array.from(velocities, (velocity) => Math.max(0, velocity - skirt)),
    reach,
  );
  const curve = steadied(edge, SPECTRAL_TRACE.smoothing);
  const top = fastest(curve);
  const hidden = (spectrum.baselineRows + 1) * spectrum.velocityPerRow;
  const waves =
    top > hidden
      ? wavesOf(curve, {
          prominence: SPECTRAL_TRACE.prominence * top,
          floor: Math.max(hidden, SPECTRAL_TRACE.floor * top),
          shortest: SPECTRAL_TRACE.shortestSeconds / spectrum.secondsPerColumn,
        })
      : [];
  const clear = Number.isFinite(contrast) ? 1 - Math.exp(-contrast / SPECTRAL_TRACE.clear) : 1;
  return {
    side,
    curve,
    leading: envelope.leading,
    dense: steadied(envelope.dense, SPECTRAL_TRACE.smoothing),
    waves,
    skirt,
    clear,
    brightness,
    filled,
    atEnd,
    limit,
    wrapped: envelope.wrapped,
  };
}

/**
 * Traces both sides of a spectral display and finds their waves. Null if the display has no scale
 * for velocity or time, or is too small (`readSpectrum`).
 */
export function traceDisplay(image: GrayImage, sweep: SweepRegion): SpectralDisplay | null {
  const spectrum = readSpectrum(image, sweep);
  if (!spectrum) return null;
  const tissue = fullScale(spectrum) <= SPECTRAL_TRACE.tissueScale;
  const { left, top, columns, rows, zeroRow, velocityPerRow, secondsPerColumn } = spectrum;
  return {
    spectrum: { left, top, columns, rows, zeroRow, velocityPerRow, secondsPerColumn },
    above: toTrace(traceEnvelope(spectrum, 'above'), spectrum, tissue),
    below: toTrace(traceEnvelope(spectrum, 'below'), spectrum, tissue),
    tissueScale: tissue,
  };
}

type Placed = Pick<Spectrum, 'left' | 'top' | 'zeroRow' | 'velocityPerRow'>;

/**
 * Converts a curve to points on its frame.
 *
 * @param curve speed in cm/s for each column of the display, from the baseline towards `side`.
 *
 * @param beats the beats, as columns of the display.
 */
export function drawnTrace(
  curve: Float64Array,
  side: Side,
  { left, top, zeroRow, velocityPerRow }: Placed,
  beats: readonly number[],
): DrawnTrace {
  const upwards = side === 'above' ? -1 : 1;
  return {
    side,
    baselineRow: tenth(top + zeroRow),
    points: Array.from(curve, (velocity, column): [number, number] => [
      left + column,
      tenth(top + zeroRow + (upwards * velocity) / velocityPerRow),
    ]),
    beats: beats.map((column) => left + column),
  };
}
