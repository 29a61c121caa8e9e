import type { GrayImage } from '../contract/image.ts';
import type { Rectangle } from '../contract/study.ts';
import { autocovariance, periodOf, summed, tooShortForSilence, withoutDrift } from './beats.ts';
import { pixelsOf, regionsOf } from './regions.ts';

/** Requirements on a cine for its motion to be analysed, and limits of a heartbeat. */
export const CARDIAC_MOTION = {
  /** Plausible rates, beats per minute (obstetric 0.6). */
  slowest: 40,
  fastest: 260,
  /** Minimum length of a clip in seconds, and minimum frame rate, to determine a rate. */
  seconds: 1.5,
  framesPerSecond: 10,
  /** Minimum number of beats in a clip. Fewer repetitions prove nothing. */
  beats: 2.5,
  /** Minimum oscillation of a block, as the standard deviation of its grey levels. */
  swing: 2.5,
  /**
   * Minimum autocorrelation at the period: `gate` for the best block together with its neighbours,
   * and `around` for the blocks around it.
   */
  gate: 0.5,
  around: 0.4,
  /** Minimum number of connected blocks. In one or two blocks, speckle can repeat by chance. */
  cluster: 4,
  /**
   * If more than this share of the textured blocks repeat, the cause is not a heart: the whole
   * picture moves, or the video flickers.
   */
  local: 0.5,
  /** Number of blocks along the longer side of the analysed area. */
  blocks: 64,
  /** Maximum number of frames to analyse: the first ten seconds at 30 frames per second. */
  frames: 300,
} as const;

export type CardiacActivity =
  | {
      status: 'beating';
      beatsPerMinute: number;
      /**
       * Error of the rate, in beats per minute, if the length of the clip is wrong by half a frame.
       */
      uncertainty: number;
      /** Autocorrelation at the period, 0 to 1. */
      strength: number;
    }
  /** A heartbeat was searched for but not seen. This does not prove that there is none. */
  | { status: 'not-seen' }
  | {
      status: 'not-assessable';
      reason: 'still' | 'no-frame-times' | 'too-short' | 'too-slow' | 'whole-picture-moves';
    };

interface BlockGrid {
  area: Rectangle;
  size: number;
  columns: number;
  rows: number;
}

function gridOver(image: GrayImage, area: Rectangle | undefined): BlockGrid {
  const whole = { minX: 0, minY: 0, maxX: image.width - 1, maxY: image.height - 1 };
  const clipped = area ?? whole;
  const width = clipped.maxX - clipped.minX + 1;
  const height = clipped.maxY - clipped.minY + 1;
  const size = Math.max(2, Math.round(Math.max(width, height) / CARDIAC_MOTION.blocks));
  const columns = Math.max(1, Math.floor(width / size));
  const rows = Math.max(1, Math.floor(height / size));
  return { area: clipped, size, columns, rows };
}

function blockMeans(image: GrayImage, { area, size, columns, rows }: BlockGrid): Float32Array {
  const means = new Float32Array(columns * rows);
  for (let y = 0; y < rows * size; y++) {
    const row = (area.minY + y) * image.width + area.minX;
    const blockRow = Math.floor(y / size) * columns;
    for (let x = 0; x < columns * size; x++) {
      const block = blockRow + Math.floor(x / size);
      means[block] = (means[block] as number) + (image.data[row + x] as number);
    }
  }
  return means.map((sum) => sum / (size * size));
}

/** Returns values at evenly spaced times, by linear interpolation. `times` must be ascending. */
function evenlySpaced(values: readonly number[], times: readonly number[], step: number): number[] {
  const start = times[0] ?? 0;
  const count = Math.floor(((times.at(-1) ?? start) - start) / step + 1e-6) + 1;
  let i = 0;
  return Array.from({ length: count }, (_, k) => {
    const t = start + k * step;
    while (i < times.length - 2 && (times[i + 1] ?? 0) <= t) i++;
    const from = times[i] ?? 0;
    const span = (times[i + 1] ?? from) - from;
    const share = span > 0 ? Math.max(0, Math.min(1, (t - from) / span)) : 0;
    return (values[i] ?? 0) * (1 - share) + (values[i + 1] ?? values[i] ?? 0) * share;
  });
}

function pooled(covariances: readonly Float64Array[], grid: BlockGrid): Float64Array[] {
  const { columns, rows } = grid;
  return covariances.map((own, block) => {
    const column = block % columns;
    const row = Math.floor(block / columns);
    const near: Float64Array[] = [];
    for (let y = Math.max(0, row - 1); y <= Math.min(rows - 1, row + 1); y++) {
      const first = y * columns + Math.max(0, column - 1);
      near.push(...covariances.slice(first, y * columns + Math.min(columns - 1, column + 1) + 1));
    }
    return summed(near, own.length - 1);
  });
}

/** Returns the connected blocks among `members` that include `seed`. */
function cluster(seed: number, members: ReadonlySet<number>, { columns, rows }: BlockGrid) {
  const mask = Uint8Array.from({ length: columns * rows }, (_, block) => +members.has(block));
  const regions = regionsOf(mask, columns).map(pixelsOf);
  return regions.find((blocks) => blocks.includes(seed)) ?? [seed];
}

function strengthAt(covariance: Float64Array, lag: number): number {
  const below = Math.floor(lag);
  const share = lag - below;
  const value = (covariance[below] ?? 0) * (1 - share) + (covariance[below + 1] ?? 0) * share;
  const power = covariance[0] ?? 0;
  return power > 0 ? value / power : 0;
}

function judge(series: readonly number[][], step: number, grid: BlockGrid): CardiacActivity {
  const length = series[0]?.length ?? 0;
  const slowestLag = Math.min(60 / CARDIAC_MOTION.slowest / step, length / CARDIAC_MOTION.beats);
  const fastestLag = 60 / CARDIAC_MOTION.fastest / step;
  const longest = Math.floor(Math.max(slowestLag, (3 * length) / 4));
  const drift = Math.round(60 / CARDIAC_MOTION.slowest / step);
  const covariances = series.map((values) => autocovariance(withoutDrift(values, drift), longest));
  const regions = pooled(covariances, grid);
  const power = CARDIAC_MOTION.swing ** 2;
  const moving: { block: number; covariance: Float64Array; lag: number; strength: number }[] = [];
  for (const [block, covariance] of regions.entries()) {
    // A wall crosses only three of the nine summed blocks, so the sum must be at least that of
    // three oscillating blocks.
    if ((covariance[0] ?? 0) < 3 * power) continue;
    const period = periodOf(covariance, Math.ceil(fastestLag), Math.floor(slowestLag));
    if (period) moving.push({ block, covariance, ...period });
  }
  const best = moving.reduce<(typeof moving)[number] | null>(
    (top, next) => (next.strength > (top?.strength ?? 0) ? next : top),
    null,
  );
  if (!best || best.strength < CARDIAC_MOTION.gate) return { status: 'not-seen' };
  const together = moving.filter(
    ({ covariance }) => strengthAt(covariance, best.lag) >= CARDIAC_MOTION.around,
  );
  const textured = series.filter((values) => values.some((value) => value > 12)).length;
  if (together.length > CARDIAC_MOTION.local * textured) {
    return { status: 'not-assessable', reason: 'whole-picture-moves' };
  }
  const members = cluster(best.block, new Set(together.map(({ block }) => block)), grid);
  if (members.length < CARDIAC_MOTION.cluster) return { status: 'not-seen' };
  const sum = summed(
    members.flatMap((block) => covariances[block] ?? []),
    longest,
  );
  const period = periodOf(sum, Math.ceil(fastestLag), Math.floor(slowestLag)) ?? best;
  const beatsPerMinute = 60 / (period.lag * step);
  if (beatsPerMinute < CARDIAC_MOTION.slowest || beatsPerMinute > CARDIAC_MOTION.fastest) {
    return { status: 'not-seen' };
  }
  return {
    status: 'beating',
    beatsPerMinute,
    uncertainty: (beatsPerMinute * step) / 2 / (length * step - period.lag * step),
    strength: best.strength,
  };
}

/**
 * Determines whether a cine shows a heartbeat, and at what rate, from the repetition of grey levels
 * in small blocks. `times` are the times of the frames in seconds. `area` (pixels) is the part that
 * shows ultrasound. Activity is never reported for a still (obstetric 19) or for a cine with
 * unknown frame times. Frames are read once, in order, and not kept.
 */
export async function cardiacActivity(
  frames: AsyncIterable<GrayImage> | Iterable<GrayImage>,
  times: readonly number[],
  area?: Rectangle,
): Promise<CardiacActivity> {
  const count = Math.min(times.length, CARDIAC_MOTION.frames);
  const used = times.slice(0, count);
  const seconds = (used.at(-1) ?? 0) - (used[0] ?? 0);
  if (count < 2) return { status: 'not-assessable', reason: 'still' };
  if (!(seconds > 0) || used.some((time, i) => i > 0 && time <= (used[i - 1] ?? 0))) {
    return { status: 'not-assessable', reason: 'no-frame-times' };
  }
  const step = seconds / (count - 1);
  // Frame times are start times, so the duration of the last frame is added.
  if (seconds + step < CARDIAC_MOTION.seconds) {
    return { status: 'not-assessable', reason: 'too-short' };
  }
  if (1 / step < CARDIAC_MOTION.framesPerSecond * (1 - 1e-6)) {
    return { status: 'not-assessable', reason: 'too-slow' };
  }
  let grid: BlockGrid | null = null;
  const means: Float32Array[] = [];
  for await (const image of frames) {
    grid ??= gridOver(image, area);
    means.push(blockMeans(image, grid));
    if (means.length === count) break;
  }
  if (!grid || means.length < count) return { status: 'not-assessable', reason: 'still' };
  const series = Array.from({ length: grid.columns * grid.rows }, (_, block) =>
    evenlySpaced(
      means.map((frame) => frame[block] ?? 0),
      used,
      step,
    ),
  );
  const activity = judge(series, step, grid);
  return activity.status === 'not-seen' && tooShortForSilence(seconds + step)
    ? { status: 'not-assessable', reason: 'too-short' }
    : activity;
}
