import type { Clip, Rectangle } from '../../contract/study.ts';
import { earlierValues } from '../../result/earlier-values.ts';
import type { Measurement, Result } from '../../result/envelope.ts';
import { shortText } from '../../result/render/value-text.ts';
import { withoutComparisons } from '../../result/standing.ts';
import {
  DRAWN_CENTILES,
  type GrowthCurve,
  measuredOnCurve,
  pointsOnCurve,
} from '../drawing/growth-curve.ts';
import {
  type ListedStructure,
  listedOutline,
  outlinedStructure,
} from '../seg/outlined-structures.ts';
import type {
  Box,
  DrawnMeasurement,
  GrowthChart,
  GrowthCharts,
  Mask,
  OverlayClip,
} from './overlay-contract.ts';

const boxOf = ({ minX, minY, maxX, maxY }: Rectangle): Box => ({
  min_x: minX,
  min_y: minY,
  max_x: maxX,
  max_y: maxY,
});

/**
 * Returns the frame size of a clip, its length scales, and the axes of its Doppler and M-mode
 * displays.
 */
export function geometryOf(
  clip: Clip,
): Pick<OverlayClip, 'file' | 'mode' | 'columns' | 'rows' | 'frames' | 'scales' | 'sweeps'> {
  return {
    file: clip.file,
    mode: clip.mode,
    columns: clip.width,
    rows: clip.height,
    frames: clip.frames.length,
    scales: clip.regions.map(({ area, scale }) => ({
      area: boxOf(area),
      mm_per_pixel: { x: scale.x, y: scale.y },
    })),
    sweeps: clip.sweeps.map((sweep) => ({
      kind: sweep.kind,
      area: boxOf(sweep.area),
      seconds_per_pixel: sweep.secondsPerPixel,
      value_per_pixel: sweep.valuePerPixel,
      unit: sweep.unit,
      zero_row: sweep.zeroRow,
      direction: sweep.yDirection,
    })),
  };
}

/** Returns the measurements made on frames of a clip, with their calipers. */
export function drawnMeasurements(
  file: string,
  measurements: readonly Measurement[],
): DrawnMeasurement[] {
  return measurements.flatMap((measurement) => {
    const { frame, calipers } = measurement.source;
    if (measurement.source.file !== file || frame === null || calipers.length === 0) return [];
    const { id, section, concept, label, value, unit, quality } = measurement;
    return [
      {
        measurement: id,
        section,
        concept: concept.key,
        label,
        value,
        unit,
        text: shortText(measurement),
        quality,
        frame,
        shapes: calipers.map(({ type, points }) => ({ type, points })),
      },
    ];
  });
}

/** Returns the runs of ones in a mask, row by row, each as [row, first column, last column]. */
export function runsOf(pixels: Uint8Array, columns: number): Mask['runs'] {
  const runs: Mask['runs'] = [];
  for (let start = pixels.indexOf(1); start !== -1; ) {
    const row = Math.floor(start / columns);
    const rowEnd = (row + 1) * columns;
    const zero = pixels.subarray(start, rowEnd).indexOf(0);
    const end = zero === -1 ? rowEnd : start + zero;
    runs.push([row, start - row * columns, end - 1 - row * columns]);
    start = pixels.indexOf(1, end);
  }
  return runs;
}

/**
 * Returns the accepted outlines on a clip, which are the same as in its DICOM Segmentation.
 * Outlines that belong to a measurement come first, followed by outlines that are only listed by a
 * section.
 */
export function masksOn(
  clip: Clip,
  measurements: readonly Measurement[],
  structures: readonly ListedStructure[],
): Mask[] {
  return [...measuredMasks(clip, measurements), ...listedMasks(clip, structures)];
}

function listedMasks(
  { file, width: columns, height: rows }: Clip,
  structures: readonly ListedStructure[],
): Mask[] {
  return structures.flatMap((listed) => {
    const inside = listed.file === file ? listedOutline(listed, { columns, rows }) : null;
    if (!inside) return [];
    const { frame, section } = listed;
    const runs = runsOf(inside.pixels, columns);
    return [{ frame, label: inside.label, measurement: null, section, runs }];
  });
}

function measuredMasks(clip: Clip, measurements: readonly Measurement[]): Mask[] {
  const { file, width: columns, height: rows } = clip;
  return withoutComparisons(measurements).flatMap((measurement) => {
    const { frame } = measurement.source;
    if (measurement.source.file !== file || frame === null) return [];
    const inside = outlinedStructure(measurement, { columns, rows });
    if (!inside) return [];
    const { id, section } = measurement;
    const runs = runsOf(inside.pixels, columns);
    return [{ frame, label: inside.label, measurement: id, section, runs }];
  });
}

const DAYS_PER_WEEK = 7;

/** Six significant digits are more precise than any screen. */
const rounded = (value: number) => Number(value.toPrecision(6));

function chartOf(curve: GrowthCurve, result: Result, gaDays: number): GrowthChart {
  const measured = measuredOnCurve(curve, result.measurements);
  const [chart, citation] = curve.source;
  const earlier = earlierValues(result).flatMap(({ ga_days: days, values }) =>
    values
      .filter(({ concept, chart: on }) => concept === curve.concept && on === curve.chart)
      .map(({ value }) => ({ weeks: days / DAYS_PER_WEEK, value })),
  );
  return {
    concept: curve.concept,
    label: curve.label,
    unit: curve.unit,
    chart,
    citation,
    curves: DRAWN_CENTILES.map((centile) => ({
      centile,
      points: pointsOnCurve(curve, centile).map(({ week, value }): [number, number] => [
        rounded(week),
        rounded(value),
      ]),
    })),
    measured: measured.map(({ id, fetus, value, reference }) => ({
      measurement: id,
      fetus,
      weeks: gaDays / DAYS_PER_WEEK,
      value,
      centile: reference?.centile ?? null,
    })),
    earlier: earlier.toSorted((one, other) => one.weeks - other.weeks),
  };
}

/**
 * Returns the chart of each quantity; null if the result contains no value of these quantities. A
 * chart may be empty at first: a reader may later accept a value that the draft only proposed, or
 * enter a value.
 */
export function growthCharts(
  curves: readonly GrowthCurve[],
  result: Result,
  gaDays: number,
): GrowthCharts | null {
  const charted = new Set<string>(curves.map(({ concept }) => concept));
  const hasValue = result.measurements.some(({ concept }) => charted.has(concept.key));
  if (!hasValue) return null;
  return { ga_days: gaDays, charts: curves.map((curve) => chartOf(curve, result, gaDays)) };
}
