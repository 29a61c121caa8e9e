import { isWithin } from '../statistics.ts';
import { lastHighest, steadied, wavesOf } from '../waves.ts';
import {
  type EdgePath,
  edgesOf,
  exactEdge,
  linesOf,
  severalPaths,
  strongestPath,
  textureSlopes,
} from './edges.ts';
import type { MModePlane } from './plane.ts';

/** In cm unless stated otherwise. */
const WALLS = {
  ventricle: {
    /**
     * Minimum depth at which to search for the strongest echo, which is the pericardium behind the
     * heart.
     */
    pericardium: 5,
    /**
     * Range around the middle of the pericardial echo, positive upwards, in which to search for its
     * leading edge.
     */
    leadingEdge: [-0.05, 0.3],
    posteriorWall: [0.4, 2.4],
    cavity: [1.6, 8],
    septum: [0.4, 2.6],
    /**
     * The strongest edge may be the free wall of the right ventricle. An edge nearer to the
     * posterior wall is therefore preferred to a stronger one if it has at least this share of the
     * stronger edge's strength.
     */
    nearlyAsStrong: 0.6,
  },
  cava: {
    nearWall: [1, 14],
    lumen: [0.25, 4.5],
    /**
     * Number of dark bands to compare, and the minimum distance in cm between two walls that count
     * as different.
     */
    bands: 6,
    apart: 0.4,
    /**
     * Two ranges in front of a dark band, in cm from its near wall. Both must be brighter than the
     * band. This excludes the dark space behind the vein, because the dark lumen is in front of it.
     */
    tissue: [
      [0.3, 1],
      [1, 2],
    ],
    /**
     * The strongest edge may be an echo in the black space behind the vein. An edge nearer to the
     * near wall is therefore preferred to a stronger one if it has at least this share of the
     * stronger edge's strength.
     */
    nearlyAsStrong: 0.5,
    /** Depth in cm, beyond the edge of the far wall, over which the wall's level is averaged. */
    wall: 0.25,
    /**
     * A dark band at most this many cm behind another one may be the space behind the far wall of
     * the vein.
     */
    behind: 1.5,
    /**
     * The choice is doubtful if another band has at least this share of the chosen band's
     * distinctness.
     */
    nearlyAsDistinct: 0.7,
    /**
     * Minimum difference in level of the lumen from the tissue and from the wall, as a share of
     * their levels.
     */
    distinct: 0.2,
    /**
     * The far wall is read at its steepest edge, and again at these two shares of the rise in level
     * from lumen to wall. The diameters of the last two readings must agree within `agree`, a share
     * of the diameter.
     */
    rise: [0.3, 0.7],
    agree: 0.2,
    /** Seconds over which a diameter is averaged. */
    steady: 0.15,
  },
  /**
   * Motion of a ventricle in every beat: the cavity shortens by a share within `shortening`, and
   * the two walls move towards each other. In contrast, both walls of the aortic root move in the
   * same direction.
   */
  contraction: { shortening: [0.1, 0.65], together: 0.3, walls: [0.45, 2.6], cavity: [2.4, 9] },
  /** Minimum seconds between end-diastoles. */
  shortestBeat: 0.3,
  /** Minimum change in a beating cavity, as a share of its largest size. */
  change: 0.06,
} as const;

type Limits = readonly [number, number];

/**
 * Returns the band between the two `limits`, in cm below a path, or above it if `sign` is negative.
 */
const beside =
  (path: Float64Array, sign: 1 | -1, [near, far]: Limits, depthPerRow: number) =>
  (sample: number): readonly [number, number] => {
    const at = path[sample] ?? 0;
    const ends = [at + (sign * near) / depthPerRow, at + (sign * far) / depthPerRow] as const;
    return [Math.min(...ends), Math.max(...ends)];
  };

/** Rows of the four interfaces on an LV M-mode for each sample, in order from the probe. */
export interface VentricleWalls {
  septumOuter: Float64Array;
  septumInner: Float64Array;
  posteriorInner: Float64Array;
  posteriorOuter: Float64Array;
}

/**
 * Returns the leading edges of the left ventricular walls. The search starts at the pericardium and
 * moves towards the probe. Null if a wall was not found.
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
  const septal = inner && septalEdge(plane, darker, slopes, inner.rows);
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
 * Returns the strongest edge within a band and then searches nearer edges, as long as each is nearly
 * as strong as the previous one.
 *
 * @param nearer returns the band in which to search, at the row of the previous edge.
 * @param share strength that counts as nearly as strong, as a share of the previous one.
 */
function nearestEdge(
  plane: MModePlane,
  edges: Float32Array,
  slopes: Float32Array,
  band: (sample: number) => Limits,
  nearer: (row: number, sample: number) => Limits,
  share: number,
): EdgePath | null {
  let chosen = strongestPath(plane, edges, slopes, band);
  while (chosen) {
    const { rows, strength }: EdgePath = chosen;
    const next = strongestPath(plane, edges, slopes, (at) => nearer(rows[at] ?? 0, at));
    if (!next || next.strength < share * strength) break;
    chosen = next;
  }
  return chosen;
}

/**
 * Returns the edge between septum and LV cavity. The strongest edge above the posterior wall may be
 * the free wall of the right ventricle, so a nearer edge is preferred if it is nearly as strong.
 */
function septalEdge(
  plane: MModePlane,
  edges: Float32Array,
  slopes: Float32Array,
  posterior: Float64Array,
): EdgePath | null {
  const { depthPerRow } = plane;
  const { cavity, septum, nearlyAsStrong } = WALLS.ventricle;
  const above = beside(posterior, -1, cavity, depthPerRow);
  const nearer = (row: number, sample: number) =>
    [row + septum[0] / depthPerRow, above(sample)[1]] as const;
  return nearestEdge(plane, edges, slopes, above, nearer, nearlyAsStrong);
}

export interface VentricleBeat {
  /** Samples of the plane at end-diastole and end-systole. */
  diastole: number;
  systole: number;
  /** Dimensions in cm. */
  septum: number;
  cavityDiastole: number;
  posteriorWall: number;
  cavitySystole: number;
}

/**
 * Returns the dimensions in each beat. The cavity is largest at end-diastole and smallest at
 * end-systole.
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
    const diastole = lastHighest(cavity, from, peak);
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

/**
 * Returns true if the walls move like those of a ventricle: the cavity shortens, its dimensions are
 * plausible, and septum and posterior wall move towards each other. On a line through the aortic
 * root, both walls move forwards together in systole (echo 5.1).
 */
export function isVentricle(
  { septumInner, posteriorInner }: VentricleWalls,
  beats: readonly VentricleBeat[],
): boolean {
  const { shortening, together, walls, cavity } = WALLS.contraction;
  const whole = beats.every(
    (beat) =>
      isWithin(1 - beat.cavitySystole / beat.cavityDiastole, shortening) &&
      isWithin(beat.septum, walls) &&
      isWithin(beat.posteriorWall, walls) &&
      isWithin(beat.cavityDiastole, cavity),
  );
  return whole && correlation(septumInner, posteriorInner) < together;
}

function correlation(one: Float64Array, other: Float64Array): number {
  const mean = (values: Float64Array) => values.reduce((sum, x) => sum + x, 0) / values.length;
  const [a, b] = [mean(one), mean(other)];
  let [cross, first, second] = [0, 0, 0];
  for (const [i, value] of one.entries()) {
    const [x, y] = [value - a, (other[i] ?? 0) - b];
    cross += x * y;
    first += x * x;
    second += y * y;
  }
  return first > 0 && second > 0 ? cross / Math.sqrt(first * second) : 1;
}

interface CavaDiameters {
  /**
   * Diameters in cm, and the samples at which they were found. `agrees` is true if two further
   * readings of the far wall lead to the same diameter.
   */
  largest: { diameter: number; sample: number; agrees: boolean };
  smallest: { diameter: number; sample: number; agrees: boolean };
  near: Float64Array;
  far: Float64Array;
  /** True if no other dark band could be the vein. */
  certain: boolean;
}

/**
 * A dark band between two walls. `distinct` is its contrast with the tissue and the wall, 0 to 1.
 */
interface DarkBand {
  near: Float64Array;
  far: Float64Array;
  distinct: number;
}

function levelBetween(
  { columns, rows, levels }: MModePlane,
  from: (sample: number) => number,
  to: (sample: number) => number,
): number {
  let [sum, count] = [0, 0];
  for (let sample = 0; sample < columns; sample++) {
    const last = Math.min(rows - 1, Math.round(to(sample)));
    for (let row = Math.max(0, Math.round(from(sample))); row <= last; row++) {
      sum += levels[row * columns + sample] ?? 0;
      count++;
    }
  }
  return count > 0 ? sum / count : 0;
}

/**
 * Grey levels added before a contrast is calculated, so that black next to near-black does not
 * count as distinct.
 */
const FAINT = 25;

function darkBand(plane: MModePlane, nearPath: EdgePath, farPath: EdgePath): DarkBand {
  const { depthPerRow } = plane;
  const { tissue, wall } = WALLS.cava;
  const near = exactEdge(plane, nearPath.rows, 'darker');
  const far = exactEdge(plane, farPath.rows, 'brighter');
  const at = (path: Float64Array, cm: number) => (sample: number) =>
    (path[sample] ?? 0) + cm / depthPerRow;
  const lumen = levelBetween(plane, at(near, 0.1), at(far, -0.1));
  const beside = [
    ...tissue.map(([from, to]) =>
      levelBetween(plane, at(near, -(to ?? 0)), at(near, -(from ?? 0))),
    ),
    levelBetween(plane, at(far, 0), at(far, wall)),
  ];
  const contrasts = beside.map((level) => (level - lumen) / (level + lumen + FAINT));
  return { near, far, distinct: Math.min(...contrasts) };
}

/** Returns the far wall behind a near wall. A nearer edge is preferred if it is nearly as strong. */
function farWall(
  plane: MModePlane,
  edges: Float32Array,
  slopes: Float32Array,
  near: Float64Array,
): EdgePath | null {
  const { depthPerRow } = plane;
  const { lumen, nearlyAsStrong, apart } = WALLS.cava;
  const behind = beside(near, 1, lumen, depthPerRow);
  const nearer = (row: number, sample: number) => {
    const [first] = behind(sample);
    return [first, Math.max(first, row - apart / depthPerRow)] as const;
  };
  return nearestEdge(plane, edges, slopes, behind, nearer, nearlyAsStrong);
}

const meanOf = (path: Float64Array) => path.reduce((sum, row) => sum + row, 0) / path.length;

/** Returns true if a dark band is the space behind the far wall of another dark band. */
function isBehind(one: DarkBand, other: DarkBand, depthPerRow: number): boolean {
  const gap = (meanOf(one.near) - meanOf(other.far)) * depthPerRow;
  return gap > 0 && gap < WALLS.cava.behind;
}

/**
 * Returns the distinct dark bands between two walls, most distinct first. A dark space behind the
 * far wall of another band is left out, because the space behind the vena cava can be darker than
 * the vein.
 */
function darkBands(plane: MModePlane): DarkBand[] {
  const { depthPerRow } = plane;
  const { nearWall, bands, apart, distinct } = WALLS.cava;
  const slopes = textureSlopes(plane);
  const brighter = edgesOf(plane, 'brighter');
  const nearPaths = severalPaths(
    plane,
    edgesOf(plane, 'darker'),
    bands,
    apart / depthPerRow,
    () => [nearWall[0] / depthPerRow, nearWall[1] / depthPerRow],
    slopes,
  );
  const found = nearPaths
    .flatMap((near) => {
      const far = farWall(plane, brighter, slopes, near.rows);
      return far ? [darkBand(plane, near, far)] : [];
    })
    .filter((band) => band.distinct >= distinct);
  return found
    .filter((band) => !found.some((other) => isBehind(band, other, depthPerRow)))
    .toSorted((one, other) => other.distinct - one.distinct);
}

/**
 * Returns, for each sample, the row behind the lumen where the level has risen by the given share
 * of the difference between lumen and far wall.
 */
function risesAt(plane: MModePlane, { near, far }: DarkBand, share: number): Float64Array {
  const { columns, rows, levels, depthPerRow } = plane;
  const wall = Math.max(1, Math.round(WALLS.cava.wall / depthPerRow));
  return near.map((from, sample) => {
    const start = Math.round(from) + 1;
    const end = Math.min(rows - 1, Math.round(far[sample] ?? 0) + wall);
    const profile: number[] = [];
    for (let row = start; row <= end; row++) {
      const level = (k: number) => levels[row * columns + Math.min(columns - 1, sample + k)] ?? 0;
      profile.push((level(-1) + level(0) + level(1)) / 3);
    }
    const calm = steadied(profile, 3);
    const dark = Math.min(...calm);
    const darkest = calm.indexOf(dark);
    const bright = Math.max(...calm.subarray(darkest));
    const level = dark + share * (bright - dark);
    const rise = calm.findIndex((value, i) => i >= darkest && value >= level);
    return start + Math.max(0, rise);
  });
}

/**
 * Returns the largest and smallest diameter of the vena cava, inner edge to inner edge. The vein is
 * the most distinct dark band with tissue on its near side and a wall on its far side. Null if no
 * band is distinct.
 */
export function cavaDiameters(plane: MModePlane): CavaDiameters | null {
  const { depthPerRow, secondsPerColumn } = plane;
  const { nearlyAsDistinct, rise, agree, steady, apart } = WALLS.cava;
  const [band, ...others] = darkBands(plane);
  if (!band) return null;
  const times = Math.max(1, Math.round((steady / secondsPerColumn) ** 2 / 4));
  const diameters = (far: Float64Array) =>
    steadied(
      band.near.map((row, i) => ((far[i] ?? 0) - row) * depthPerRow),
      times,
    );
  const sizes = diameters(band.far);
  const readings = rise.map((share) => diameters(risesAt(plane, band, share)));
  // The first and last samples are left out, because the ends of a path are uncertain. The
  // diameters were averaged over time (`steady`), because the vena cava moves with the heartbeat as
  // well as with breathing.
  const inside = Array.from(sizes.keys()).slice(2, -2);
  const order = inside.toSorted((a, b) => (sizes[a] ?? 0) - (sizes[b] ?? 0));
  const at = (sample = 0) => {
    const [early = 0, late = 0] = readings.map((one) => one[sample] ?? 0);
    const diameter = sizes[sample] ?? 0;
    return { sample, diameter, agrees: Math.abs(late - early) <= agree * diameter };
  };
  const rival = others.some(
    (one) =>
      one.distinct >= nearlyAsDistinct * band.distinct &&
      Math.abs(meanOf(one.far) - meanOf(band.far)) > apart / depthPerRow,
  );
  return {
    largest: at(order.at(-1)),
    smallest: at(order[0]),
    near: band.near,
    far: band.far,
    certain: !rival,
  };
}
