import type { Clip, Rectangle } from '../../contract/study.ts';
import type { Measurement } from '../../result/envelope.ts';
import { withoutComparisons } from '../../result/standing-values.ts';
import { listedOutline, outlinedStructure } from '../seg/outlined-structures.ts';
import type { ListedStructure } from '../structures-in-sections.ts';
import { shortText } from '../wording.ts';
import type { Box, DrawnMeasurement, Mask, OverlayClip } from './overlay-contract.ts';

const boxOf = ({ minX, minY, maxX, maxY }: Rectangle): Box => ({
  min_x: minX,
  min_y: minY,
  max_x: maxX,
  max_y: maxY,
});

/** Size, scales and axes of a clip. */
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

/** The measurements made on frames of a clip, with their calipers as the result has them. */
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

/** Runs of 1 in a mask, row by row: row, first and last column. */
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

/** The accepted outlines on a clip, as in its DICOM Segmentation: those measured, then those listed. */
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
