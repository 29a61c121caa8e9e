import { median } from './statistics.ts';
import { outlineOfWave, type Wave } from './waves.ts';

export const EJECTION = {
  /** Of the fastest wave: slower ones are another flow, or noise. */
  height: 0.5,
  /** Seconds from peak to peak; no adult heart beats faster (200 per minute). */
  apart: 0.3,
  /** Seconds; an ejection or a regurgitation lasts at least this. */
  shortest: 0.1,
  /** Seconds from the end of the display that a peak must keep. */
  margin: 0.03,
} as const;

/** One wave per beat, of an ejection or of a regurgitant jet; columns of the display. */
export interface Ejection {
  /** Where the flanks meet the baseline, with a fraction. */
  from: number;
  to: number;
  peakColumn: number;
  /** cm/s. */
  peak: number;
  /** Velocities from `from` to `to`, cm/s, one per column; the flanks as straight lines. */
  velocities: number[];
  /** Seconds from the beginning to the peak, and to the end. */
  accelerationTime: number;
  flowTime: number;
  /** Beginning and end are on the display. */
  whole: boolean;
}

/** Of waves that are too near to each other, the higher one. */
function onePerBeat(waves: readonly Wave[], apart: number): Wave[] {
  const chosen: Wave[] = [];
  for (const wave of waves.toSorted((a, b) => b.height - a.height)) {
    if (chosen.every(({ peak }) => Math.abs(peak - wave.peak) >= apart)) chosen.push(wave);
  }
  return chosen.toSorted((a, b) => a.peak - b.peak);
}

/** The tallest waves, one per beat: their usual height, not a single spike, is the measure. */
export function mainWaves(waves: readonly Wave[], secondsPerColumn: number): Wave[] {
  const long = waves.filter(({ from, to }) => (to - from) * secondsPerColumn >= EJECTION.shortest);
  const single = onePerBeat(long, EJECTION.apart / secondsPerColumn);
  const heights = single.map(({ height }) => height).toSorted((a, b) => b - a);
  const usual = median(heights.slice(0, Math.max(1, Math.ceil(heights.length / 2))));
  return single.filter(({ height }) => height >= EJECTION.height * usual);
}

/** The ejections on one side of a display (`traceDisplay`), in order. */
export function ejectionsOf(
  curve: Float64Array,
  waves: readonly Wave[],
  secondsPerColumn: number,
): Ejection[] {
  const margin = EJECTION.margin / secondsPerColumn;
  const last = curve.length - 1;
  return mainWaves(waves, secondsPerColumn)
    .filter(({ peak }) => peak >= margin && peak <= last - margin)
    .map((wave): Ejection => {
      const outline = outlineOfWave(curve, wave);
      const { from, to, values } = outline ?? { ...wave, values: [] };
      return {
        from,
        to,
        peakColumn: wave.peak,
        peak: wave.height,
        velocities: values,
        accelerationTime: (wave.peak - from) * secondsPerColumn,
        flowTime: (to - from) * secondsPerColumn,
        whole: outline !== null && from >= 0 && to <= last && !wave.cut,
      };
    });
}
