import type { Point } from '../../contract/image.ts';
import { toSource } from '../../inference/letterbox.ts';
import { distance, middle } from '../../measure/outline.ts';
import { largestRegion, type SoftMask } from '../../measure/soft-mask.ts';
import type { UterineMaps } from '../shared/uterine-maps.ts';
import type { CervixLandmarks, Funnel } from './evidence.ts';

const SHORTEST = 5;
/**
 * Strip of the canal: the cells of the map above `level`. It extends beyond each true end of the
 * canal by `beyond` cells.
 */
const STRIP = { level: 0.35, beyond: 1.5 } as const;
/** Search radius for the peak of an os around the end of the strip, in cells. */
const OS_RADIUS = 8;
/**
 * Half width of the band over which the midpoint of the canal is averaged, as a share of the
 * canal's length.
 */
const MIDDLE_BAND = 0.1;
/** Minimum size of a funnel in cells; a smaller region is noise in the map. */
const SMALLEST_FUNNEL = 5;
const SMALLEST_BLADDER = 15;
/** Maximum distance between the internal os and the nearest cell of a funnel, in cells. */
const FUNNEL_GAP = 6;
const LEVEL = 0.5;

interface Canal {
  external: Point;
  internal: Point;
  middle: Point;
  confidence: number;
}

interface Strip {
  ends: readonly [Point, Point];
  middle: Point;
  /** Mean probability of the canal over the strip, 0 to 1. */
  evidence: number;
}

function stripOf(canal: SoftMask): Strip | null {
  const raised = { ...canal, values: canal.values.map((value) => (value * LEVEL) / STRIP.level) };
  const region = largestRegion(raised);
  if (!region) return null;
  const angle = Math.atan2(2 * region.xy, region.xx - region.yy) / 2;
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  const cells: { u: number; v: number; value: number }[] = [];
  for (let i = 0; i < raised.values.length; i++) {
    if ((region.mask.values[i] ?? 0) < LEVEL) continue;
    const dx = (i % canal.width) - region.mean.x;
    const dy = Math.floor(i / canal.width) - region.mean.y;
    const value = canal.values[i] ?? 0;
    cells.push({ u: dx * cos + dy * sin, v: dy * cos - dx * sin, value });
  }
  const low = Math.min(...cells.map(({ u }) => u));
  const high = Math.max(...cells.map(({ u }) => u));
  const length = high - low + 1 - 2 * STRIP.beyond;
  if (length < SHORTEST) return null;
  // Returns the point of the canal's midline at position `u` along the strip: the mean of the cells
  // near `u`.
  const at = (u: number, band: number): Point => {
    const near = cells.filter((cell) => Math.abs(cell.u - u) <= band);
    const v = near.reduce((sum, cell) => sum + cell.v, 0) / Math.max(1, near.length);
    return { x: region.mean.x + u * cos - v * sin, y: region.mean.y + u * sin + v * cos };
  };
  return {
    ends: [at(low - 0.5 + STRIP.beyond, STRIP.beyond), at(high + 0.5 - STRIP.beyond, STRIP.beyond)],
    middle: at((low + high) / 2, Math.max(1, MIDDLE_BAND * length)),
    evidence: cells.reduce((sum, { value }) => sum + value, 0) / cells.length,
  };
}

function osNear(map: SoftMask, end: Point): Point & { value: number } {
  let best = { ...end, value: 0 };
  for (let dy = -OS_RADIUS; dy <= OS_RADIUS; dy++) {
    for (let dx = -OS_RADIUS; dx <= OS_RADIUS; dx++) {
      const x = Math.round(end.x) + dx;
      const y = Math.round(end.y) + dy;
      if (x < 0 || x >= map.width || Math.hypot(dx, dy) > OS_RADIUS) continue;
      const value = map.values[y * map.width + x] ?? 0;
      if (value > best.value) best = { x, y, value };
    }
  }
  return best;
}

/**
 * Locates the canal. The maps of the internal and the external os determine which end is which.
 * Each os is placed halfway between the end of the strip and the peak in its map. The confidence is
 * lower if the length of the strip differs from the distance between the peaks. Null if no canal is
 * found.
 */
function canalOf(maps: UterineMaps['maps']): Canal | null {
  const strip = stripOf(maps.canal);
  if (!strip) return null;
  const [first, second] = strip.ends;
  const [one, other] = [
    { from: first, to: second },
    { from: second, to: first },
  ].map(({ from, to }) => ({
    from,
    to,
    external: osNear(maps['external-os'], from),
    internal: osNear(maps['internal-os'], to),
  }));
  if (!one || !other) return null;
  const evidenceOf = ({ external, internal }: typeof one) => external.value * internal.value;
  const { from, to, external, internal } = evidenceOf(other) > evidenceOf(one) ? other : one;
  const evidence = external.value * internal.value;
  if (evidence === 0) return null;
  const lengths = [distance(from, to), distance(external, internal)];
  const agreement = Math.min(...lengths) / Math.max(...lengths);
  return {
    external: middle(from, external),
    internal: middle(to, internal),
    middle: strip.middle,
    confidence: Math.cbrt(evidence * strip.evidence) * agreement,
  };
}

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
  // The edge of the mouth is ragged in the map, so the mouth is placed where 97 % of the funnel's
  // cells are below it.
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

function holdsBladder(map: SoftMask): boolean {
  const region = largestRegion(map);
  if (!region) return false;
  return region.mask.values.filter((value) => value >= LEVEL).length >= SMALLEST_BLADDER;
}

/**
 * Returns the landmarks of the cervix from the maps of one image; null if no canal with two ends
 * was found.
 */
export function cervixOfMaps({ maps, placement, gate }: UterineMaps): CervixLandmarks | null {
  const canal = canalOf(maps);
  if (!canal) return null;
  const { internal: internalOs, external: externalOs } = canal;
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
    bladder: holdsBladder(maps.bladder),
    confidence: canal.confidence,
    accepted: canal.confidence >= gate,
  };
}
