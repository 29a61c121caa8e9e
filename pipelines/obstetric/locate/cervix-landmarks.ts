import type { Point } from '../../contract/image.ts';
import { toSource } from '../../inference/letterbox.ts';
import { centreOfMass, highestPeaks, meanAlong, type Peak } from './peaks.ts';
import { largestRegion, type SoftMask } from './soft-mask.ts';
import type { UterineMaps } from './uterine-maps.ts';

/** A widening of the canal above its closed part. */
export interface Funnel {
  /** Both ends of its mouth. */
  shoulders: readonly [Point, Point];
  /** Its area as a share of mouth times depth: 1/2 for a V, less for a Y, more for a U. */
  fullness: number;
}

/** The cervix on one image, pixels of the image. */
export interface CervixLandmarks {
  externalOs: Point;
  /** Where the closed part ends: the tip of the funnel, where there is one. */
  internalOs: Point;
  /** The canal half way between them. */
  middle: Point;
  funnel: Funnel | null;
  /** Whether a bladder with urine is in view. */
  bladder: boolean;
  confidence: number;
  accepted: boolean;
}

const CANDIDATES = 4;
const SHORTEST = 5;
/** Bows tried for the canal, as a share of its length. */
const BOWS = Array.from({ length: 25 }, (_, i) => (i - 12) / 40);
/** Cells; a smaller region is noise of the map. */
const SMALLEST_FUNNEL = 5;
const SMALLEST_BLADDER = 15;
/** How far from the internal os a funnel may begin, cells. */
const FUNNEL_GAP = 6;
const LEVEL = 0.5;

interface Canal {
  external: Peak;
  internal: Peak;
  /** Apex of the arc, halfway. */
  middle: Point;
  confidence: number;
}

/** Point of the arc (a parabola) over the chord at a share t of its length. */
function onArc(from: Point, to: Point, bow: number, t: number): Point {
  const dx = to.x - from.x;
  const dy = to.y - from.y;
  const rise = 4 * bow * t * (1 - t);
  return { x: from.x + t * dx - rise * dy, y: from.y + t * dy + rise * dx };
}

/** The arc between two places with the most canal on it. */
function bestArc(canal: SoftMask, from: Point, to: Point): { bow: number; evidence: number } {
  const tried = BOWS.map((bow) => {
    const nodes = Array.from({ length: 9 }, (_, i) => onArc(from, to, bow, i / 8));
    const parts = nodes.slice(1).map((node, i) => meanAlong(canal, nodes[i] as Point, node));
    return { bow, evidence: parts.reduce((sum, part) => sum + part, 0) / parts.length };
  });
  const highest = Math.max(...tried.map(({ evidence }) => evidence));
  // A blurred canal fits many arcs: their middle is the steadier answer than the single best.
  const good = tried.filter(({ evidence }) => evidence >= 0.97 * highest);
  return { bow: good.reduce((sum, { bow }) => sum + bow, 0) / good.length, evidence: highest };
}

function bestCanal(maps: UterineMaps['maps']): Canal | null {
  const externals = highestPeaks(maps['external-os'], CANDIDATES);
  const internals = highestPeaks(maps['internal-os'], CANDIDATES);
  let best: Canal | null = null;
  for (const external of externals) {
    for (const internal of internals) {
      if (Math.hypot(external.x - internal.x, external.y - internal.y) < SHORTEST) continue;
      const { bow, evidence } = bestArc(maps.canal, external, internal);
      const confidence = Math.cbrt(external.value * internal.value * evidence);
      if (confidence <= (best?.confidence ?? 0)) continue;
      const middle = onArc(external, internal, bow, 0.5);
      best = { external, internal, middle, confidence };
    }
  }
  return best;
}

/** The funnel above the internal os; null where its region is none or lies elsewhere. */
function funnelOf(map: SoftMask, canal: Canal, internalOs: Point): Funnel | null {
  const region = largestRegion(map);
  if (!region) return null;
  const ax = internalOs.x - canal.middle.x;
  const ay = internalOs.y - canal.middle.y;
  const length = Math.hypot(ax, ay);
  const cells: { u: number; v: number }[] = [];
  for (let i = 0; i < map.values.length; i++) {
    if ((region.mask.values[i] ?? 0) < LEVEL) continue;
    const dx = (i % map.width) - internalOs.x;
    const dy = Math.floor(i / map.width) - internalOs.y;
    cells.push({ u: (dx * ax + dy * ay) / length, v: (dy * ax - dx * ay) / length });
  }
  const nearest = Math.min(...cells.map(({ u, v }) => Math.hypot(u, v)));
  if (cells.length < SMALLEST_FUNNEL || nearest > FUNNEL_GAP) return null;
  const along = cells.map(({ u }) => u).sort((a, b) => a - b);
  // The mouth is ragged in the map: its place is where nearly all of the funnel lies below.
  const depth = (along[Math.floor(0.97 * (along.length - 1))] ?? 0) + 0.5;
  const mouth = cells.filter(({ u }) => u > depth - Math.max(2, 0.2 * depth)).map(({ v }) => v);
  const low = Math.min(...mouth) - 0.5;
  const high = Math.max(...mouth) + 0.5;
  if (depth <= 0 || high <= low) return null;
  const place = (v: number): Point => ({
    x: internalOs.x + (depth * ax - v * ay) / length,
    y: internalOs.y + (depth * ay + v * ax) / length,
  });
  return {
    shoulders: [place(low), place(high)],
    fullness: cells.length / (depth * (high - low)),
  };
}

function holdsRegion(map: SoftMask, cells: number): boolean {
  const region = largestRegion(map);
  if (!region) return false;
  return region.mask.values.filter((value) => value >= LEVEL).length >= cells;
}

/** The cervix of one image's maps; null where no canal between two ora was found. */
export function cervixOfMaps({ maps, placement, gate }: UterineMaps): CervixLandmarks | null {
  const canal = bestCanal(maps);
  if (!canal) return null;
  const externalOs = centreOfMass(maps['external-os'], canal.external);
  const internalOs = centreOfMass(maps['internal-os'], canal.internal);
  const funnel = funnelOf(maps.funnel, canal, internalOs);
  const source = (point: Point) => toSource(placement, point);
  return {
    externalOs: source(externalOs),
    internalOs: source(internalOs),
    middle: source(canal.middle),
    funnel: funnel && {
      ...funnel,
      shoulders: [source(funnel.shoulders[0]), source(funnel.shoulders[1])],
    },
    bladder: holdsRegion(maps.bladder, SMALLEST_BLADDER),
    confidence: canal.confidence,
    accepted: canal.confidence >= gate,
  };
}
