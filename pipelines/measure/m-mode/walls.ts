import { median } from '../statistics.ts';
import { steadied, wavesOf } from '../waves.ts';
import {
  type EdgePath,
  edgesOf,
  exactEdge,
  linesOf,
  strongestPath,
  textureSlopes,
} from './edges.ts';
import type { MModePlane } from './plane.ts';

/** Limits in cm. */
export const WALLS = {
  ventricle: {
    /** Minimum depth of the pericardium behind the heart, which is the strongest echo. */
    pericardium: 5,
    /** The leading edge of the pericardium is within this range above the middle of its echo. */
    leadingEdge: [-0.05, 0.3],
    posteriorWall: [0.4, 2.4],
    cavity: [1.6, 8],
    septum: [0.4, 2.6],
    /**
     * An edge nearer to the posterior wall than the strongest edge is the septum if it has at least
     * this share of the strength.
     */
    nearlyAsStrong: 0.6,
  },
  cava: { nearWall: [1, 14], lumen: [0.25, 4.5] },
  /** Minimum time between end-diastoles, in seconds. */
  shortestBeat: 0.3,
  /** A cavity counts as beating if it changes by at least this share of its largest size. */
  change: 0.06,
} as const;

type Limits = readonly [number, number];

/** Returns the band that is `limits` cm below a path, or above it with a negative sign. */
const beside =
  (path: Float64Array, sign: 1 | -1, [near, far]: Limits, depthPerRow: number) =>
  (sample: number): readonly [number, number] => {
    const at = path[sample] ?? 0;
    const ends = [at + (sign * near) / depthPerRow, at + (sign * far) / depthPerRow] as const;
    return [Math.min(...ends), Math.max(...ends)];
  };

/** Rows of the four interfaces on an LV M-mode at each sample, in order from the probe. */
export interface VentricleWalls {
  septumOuter: Float64Array;
  septumInner: Float64Array;
  posteriorInner: Float64Array;
  posteriorOuter: Float64Array;
}

/**
 * Returns the walls of the left ventricle by their leading edges, found from the pericardium
 * towards the probe. Null where one of the walls is not found.
 */
export function ventricleWalls(plane: MModePlane): VentricleWalls | null {
  const { depthPerRow, rows } = plane;
  const { pericardium, leadingEdge, posteriorWall, septum } = WALLS.ventricle;
  const brighter = edgesOf(plane, 'brighter');
  const darker = edgesOf(plane, 'darker');
  const slopes = textureSlopes(plane);
  const near = (path: Float64Array, limits: Limits) => beside(path, -1, limits, depthPerRow);
  const line = strongestPath(plane, linesOf(plane), slopes, () => [
    pericardium / depthPerRow,
    rows - 1,
  ]);
  const outer = line && strongestPath(plane, brighter, slopes, near(line.rows, leadingEdge));
  const inner = outer && strongestPath(plane, brighter, slopes, near(outer.rows, posteriorWall));
  const septal = inner && nearestEdge(plane, darker, slopes, inner.rows);
  const right = septal && strongestPath(plane, brighter, slopes, near(septal.rows, septum));
  if (!outer || !inner || !septal || !right) return null;
  return {
    septumOuter: exactEdge(plane, right.rows, 'brighter'),
    septumInner: exactEdge(plane, septal.rows, 'darker'),
    posteriorInner: exactEdge(plane, inner.rows, 'brighter'),
    posteriorOuter: exactEdge(plane, outer.rows, 'brighter'),
  };
}

/**
 * Returns the edge of the septum to the cavity. The strongest edge before the posterior wall may be
 * the free wall of the right ventricle, so that the nearest of the edges that are nearly as strong
 * is used.
 */
function nearestEdge(
  plane: MModePlane,
  edges: Float32Array,
  slopes: Float32Array,
  posterior: Float64Array,
): EdgePath | null {
  const { depthPerRow } = plane;
  const { cavity, septum, nearlyAsStrong } = WALLS.ventricle;
  const behind = beside(posterior, -1, cavity, depthPerRow);
  let chosen = strongestPath(plane, edges, slopes, behind);
  for (let next = chosen; next && chosen; ) {
    const { rows, strength } = chosen;
    const nearer = (sample: number): readonly [number, number] => [
      (rows[sample] ?? 0) + septum[0] / depthPerRow,
      behind(sample)[1],
    ];
    next = strongestPath(plane, edges, slopes, nearer);
    if (!next || next.strength < nearlyAsStrong * strength) break;
    chosen = next;
  }
  return chosen;
}

export interface VentricleBeat {
  /** End-diastole and end-systole as samples of the plane. */
  diastole: number;
  systole: number;
  /** cm. */
  septum: number;
  cavityDiastole: number;
  posteriorWall: number;
  cavitySystole: number;
}

/**
 * Returns the dimensions in each beat. End-diastole is where the cavity is largest, end-systole
 * where it is smallest.
 */
export function ventricleBeats(plane: MModePlane, walls: VentricleWalls): VentricleBeat[] {
  const { depthPerRow, secondsPerColumn } = plane;
  const between = (a: Float64Array, b: Float64Array) =>
    steadied(
      a.map((row, i) => ((b[i] ?? 0) - row) * depthPerRow),
      1,
    );
  const cavity = between(walls.septumInner, walls.posteriorInner);
  const septum = between(walls.septumOuter, walls.septumInner);
  const posterior = between(walls.posteriorInner, walls.posteriorOuter);
  const largest = Math.max(...cavity);
  const contraction = wavesOf(
    cavity.map((size) => largest - size),
    {
      prominence: WALLS.change * largest,
      floor: -1,
      shortest: WALLS.shortestBeat / 2 / secondsPerColumn,
    },
  ).filter(({ peak }) => peak > 0 && peak < cavity.length - 1);
  return contraction.flatMap(({ peak }, i): VentricleBeat[] => {
    const from = contraction[i - 1]?.peak ?? 0;
    let diastole = from;
    for (let at = from; at <= peak; at++) {
      if ((cavity[at] ?? 0) >= (cavity[diastole] ?? 0)) diastole = at;
    }
    if (diastole === 0) return [];
    return [
      {
        diastole,
        systole: peak,
        septum: septum[diastole] ?? 0,
        cavityDiastole: cavity[diastole] ?? 0,
        posteriorWall: posterior[diastole] ?? 0,
        cavitySystole: cavity[peak] ?? 0,
      },
    ];
  });
}

interface CavaDiameters {
  /** Diameters in cm, with the samples where they were found. */
  largest: { diameter: number; sample: number };
  smallest: { diameter: number; sample: number };
  near: Float64Array;
  far: Float64Array;
}

/**
 * Returns the largest and the smallest diameter of the vena cava, inner edge to inner edge; null
 * where its walls are not found.
 */
export function cavaDiameters(plane: MModePlane): CavaDiameters | null {
  const { depthPerRow } = plane;
  const { nearWall, lumen } = WALLS.cava;
  const slopes = textureSlopes(plane);
  const nearPath = strongestPath(plane, edgesOf(plane, 'darker'), slopes, () => [
    nearWall[0] / depthPerRow,
    nearWall[1] / depthPerRow,
  ]);
  const farPath =
    nearPath &&
    strongestPath(
      plane,
      edgesOf(plane, 'brighter'),
      slopes,
      beside(nearPath.rows, 1, lumen, depthPerRow),
    );
  if (!nearPath || !farPath) return null;
  const near = exactEdge(plane, nearPath.rows, 'darker');
  const far = exactEdge(plane, farPath.rows, 'brighter');
  const sizes = steadied(
    near.map((row, i) => ((far[i] ?? 0) - row) * depthPerRow),
    2,
  );
  // The ends of a path are uncertain, and the vena cava moves with the heart beat as well as with
  // breathing, so that no single sample counts.
  const inside = Array.from(sizes.keys()).slice(2, -2);
  const order = inside.toSorted((a, b) => (sizes[a] ?? 0) - (sizes[b] ?? 0));
  const at = (sample: number | undefined) => ({
    sample: sample ?? 0,
    diameter: sizes[sample ?? 0] ?? 0,
  });
  if (median(Array.from(sizes)) <= lumen[0]) return null;
  return { largest: at(order.at(-1)), smallest: at(order[0]), near, far };
}
