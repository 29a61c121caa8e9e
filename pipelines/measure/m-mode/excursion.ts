import { isWithin, median, variationOf } from '../statistics.ts';
import { lastHighest, wavesOf } from '../waves.ts';
import { type EdgePath, edgesOf, exactEdge, linesOf, severalPaths } from './edges.ts';
import type { MModePlane } from './plane.ts';

const EXCURSION = {
  /** Minimum depth of an annulus, in cm. Skin, fat and reverberations are nearer to the probe. */
  shallowest: 4,
  /** Minimum and maximum excursion of an annulus, in cm (echo 7.4). */
  least: 0.3,
  most: 4.5,
  /**
   * Minimum strength of an edge, as a share of the strongest beating edge. A fainter path may jump
   * between two edges.
   */
  clear: 0.6,
  /**
   * The choice is doubtful if another edge moves at least this many times as far as the chosen
   * edge.
   */
  further: 1.1,
  /**
   * Maximum number of lines and of edges (`paths`) to follow, and the distance in cm (`apart`)
   * within which a path loses strength to a stronger one.
   */
  lines: 4,
  paths: 8,
  apart: 0.5,
  /**
   * Minimum strength of a line that counts as the echo of a fibrous ring. No other edge of a wall
   * is that strong.
   */
  ring: 0.9,
  /**
   * If another line moves further than the ring and has at least this share of its strength, the
   * ring is doubtful.
   */
  asClear: 0.8,
  /** Share of the excursion by which the annulus must move back after its peak. */
  back: 0.5,
  /** Maximum coefficient of variation of the excursions of a beating edge. */
  even: 0.3,
  /** Minimum and maximum seconds from end-diastole to the peak of systole. */
  rise: [0.1, 0.6],
  /** Minimum and maximum seconds from one peak to the next. */
  beat: [0.3, 1.6],
} as const;

/** One beat of an annulus, from its deepest position at end-diastole to its highest in systole. */
interface ExcursionBeat {
  low: { sample: number; row: number };
  high: { sample: number; row: number };
  /** Centimetres. */
  excursion: number;
}

export interface Excursion {
  beats: ExcursionBeat[];
  path: EdgePath;
  /**
   * True if the path follows the fibrous ring. If false, it may follow the wall next to it or
   * behind it.
   */
  ring: boolean;
  /**
   * True if no other beating path that could be the annulus moves much further. A path that is not
   * the ring must also be the strongest.
   */
  certain: boolean;
}

/**
 * Returns true if the annulus moves back after the peak of systole. If it does not, the display may
 * end before the peak.
 */
function movesBack(rows: Float64Array, peak: number): boolean {
  const after = Math.max(...rows.subarray(peak));
  const before = Math.max(...rows.subarray(0, peak + 1));
  const top = rows[peak] ?? 0;
  return after - top >= EXCURSION.back * (before - top);
}

function beatsOfPath(plane: MModePlane, { rows }: EdgePath): ExcursionBeat[] {
  const { depthPerRow, secondsPerColumn } = plane;
  const deepest = Math.max(...rows);
  const height = rows.map((row) => deepest - row);
  const waves = wavesOf(height, {
    prominence: EXCURSION.least / depthPerRow,
    floor: -1,
    shortest: 0.15 / secondsPerColumn,
  });
  return waves.flatMap((wave, i): ExcursionBeat[] => {
    const before = waves[i - 1];
    if (wave.peak === 0 || !movesBack(rows, wave.peak)) return [];
    const from = before ? before.peak : 0;
    const low = lastHighest(rows, from, wave.peak);
    // A beat is incomplete if its end-diastole is before the start of the display.
    if (low === 0 && !before) return [];
    const rise = (wave.peak - low) * secondsPerColumn;
    const excursion = ((rows[low] ?? 0) - (rows[wave.peak] ?? 0)) * depthPerRow;
    if (!isWithin(rise, EXCURSION.rise)) return [];
    return [
      {
        low: { sample: low, row: rows[low] ?? 0 },
        high: { sample: wave.peak, row: rows[wave.peak] ?? 0 },
        excursion,
      },
    ];
  });
}

function isBeating(beats: readonly ExcursionBeat[], secondsPerColumn: number): boolean {
  if (beats.length < 2) return false;
  const sizes = beats.map(({ excursion }) => excursion);
  const mean = sizes.reduce((sum, size) => sum + size, 0) / sizes.length;
  const apart = beats
    .slice(1)
    .map(({ high }, i) => (high.sample - (beats[i]?.high.sample ?? 0)) * secondsPerColumn);
  return (
    isWithin(mean, [EXCURSION.least, EXCURSION.most]) &&
    variationOf(sizes) <= EXCURSION.even &&
    isWithin(median(apart), EXCURSION.beat)
  );
}

const meanOf = ({ beats }: Pick<Excursion, 'beats'>) =>
  beats.reduce((sum, { excursion }) => sum + excursion, 0) / beats.length;

/** Returns the beating paths, moved to their leading edges, strongest first. */
function beatingPaths(plane: MModePlane, strengths: Float32Array, count: number) {
  const { apart, shallowest } = EXCURSION;
  const { depthPerRow, secondsPerColumn, rows } = plane;
  const band = () => [shallowest / depthPerRow, rows - 1] as const;
  return severalPaths(plane, strengths, count, apart / depthPerRow, band).flatMap((found) => {
    const path = { ...found, rows: exactEdge(plane, found.rows, 'brighter') };
    const beats = beatsOfPath(plane, path);
    return isBeating(beats, secondsPerColumn) ? [{ path, beats }] : [];
  });
}

/**
 * Returns the excursion of a fibrous ring that appears as a bright line; null if no line is clear
 * enough.
 */
function ringExcursion(plane: MModePlane): Excursion | null {
  const { lines, ring, asClear, further } = EXCURSION;
  const [first, ...others] = beatingPaths(plane, linesOf(plane), lines);
  if (!first || first.path.strength < ring) return null;
  const doubtful = others.some(
    (one) =>
      one.path.strength >= asClear * first.path.strength && meanOf(one) > further * meanOf(first),
  );
  return { ...first, ring: true, certain: !doubtful };
}

/**
 * Returns the systolic excursion of an annulus, leading edge to leading edge (echo 7.1). If the
 * fibrous ring is a clear line, that line is measured. Otherwise the beating edge that moves
 * furthest is measured, because the ventricle shortens towards the apex and the motion is greatest
 * at the annulus. Null if no edge beats.
 */
export function annularExcursion(plane: MModePlane): Excursion | null {
  const ring = ringExcursion(plane);
  if (ring) return ring;
  const beating = beatingPaths(plane, edgesOf(plane, 'brighter'), EXCURSION.paths);
  const strongest = Math.max(...beating.map(({ path }) => path.strength));
  const clear = beating.filter(({ path }) => path.strength >= EXCURSION.clear * strongest);
  const furthest = clear.toSorted((one, other) => meanOf(other) - meanOf(one))[0];
  if (!furthest) return null;
  const further = beating.some((one) => meanOf(one) > EXCURSION.further * meanOf(furthest));
  return { ...furthest, ring: false, certain: furthest.path.strength === strongest && !further };
}
