import type { Point } from '../../contract/image.ts';
import { toSource } from '../../inference/letterbox.ts';
import { centreOfMass, highestPeaks } from '../../measure/peaks.ts';
import { largestRegion, type Region, type SoftMask } from '../../measure/soft-mask.ts';
import { mean } from '../../measure/statistics.ts';
import type { PlacentalSide } from '../../result/render/obstetric/placenta.ts';
import type { UterineMaps } from '../shared/uterine-maps.ts';
import type { PlacentaBody, PlacentaEdge } from './evidence.ts';

const LEVEL = 0.5;
/** Minimum size of a placenta in cells. Smaller regions are noise in the map. */
const SMALLEST_PLACENTA = 60;
const SMALLEST_EDGE_PLACENTA = 15;
const SMALLEST_LACUNA = 3;
const ANGLES = 36;
/**
 * For the placenta to be on a side wall, its sideways distance from the middle of the cavity must
 * exceed this multiple of its distance along the beam.
 */
const SIDEWAYS = 1.2;

const value = ({ values, width, height }: SoftMask, x: number, y: number) =>
  x < 0 || y < 0 || x >= width || y >= height ? 0 : (values[y * width + x] ?? 0);

function cellsOf(mask: SoftMask): Point[] {
  const cells: Point[] = [];
  for (let i = 0; i < mask.values.length; i++) {
    if ((mask.values[i] ?? 0) < LEVEL) continue;
    cells.push({ x: i % mask.width, y: Math.floor(i / mask.width) });
  }
  return cells;
}

const centroid = (cells: readonly Point[]): Point => ({
  x: mean(cells.map(({ x }) => x)),
  y: mean(cells.map(({ y }) => y)),
});

/** Returns the point at which a ray from `from` leaves the mask, to a fraction of a cell. */
function reach(mask: SoftMask, from: Point, angle: number): Point {
  const dx = Math.cos(angle) / 2;
  const dy = Math.sin(angle) / 2;
  let { x, y } = from;
  while (value(mask, Math.round(x + dx), Math.round(y + dy)) >= LEVEL) {
    x += dx;
    y += dy;
  }
  return { x: x + dx / 2, y: y + dy / 2 };
}

/**
 * Returns the thickness line. For each cell, the shortest line through it is found; the longest of
 * these lines is the thickness.
 */
function thickest(mask: SoftMask, cells: readonly Point[]): [Point, Point] {
  let best: { ends: [Point, Point]; length: number } | null = null;
  const every = Math.max(1, Math.floor(cells.length / 300));
  for (let i = 0; i < cells.length; i += every) {
    const from = cells[i] as Point;
    let shortest: { ends: [Point, Point]; length: number } | null = null;
    for (let k = 0; k < ANGLES; k++) {
      const angle = (Math.PI * k) / ANGLES;
      const ends: [Point, Point] = [reach(mask, from, angle), reach(mask, from, angle + Math.PI)];
      const length = Math.hypot(ends[0].x - ends[1].x, ends[0].y - ends[1].y);
      if (!shortest || length < shortest.length) shortest = { ends, length };
    }
    if (shortest && shortest.length > (best?.length ?? 0)) best = shortest;
  }
  const [first = { x: 0, y: 0 }] = cells;
  return best?.ends ?? [first, first];
}

/**
 * Returns the wall to which the placenta is attached, from the position of the placenta relative to
 * the middle of the other contents of the cavity.
 */
function sideOf(placenta: Point, inside: Point): PlacentalSide {
  const dx = Math.abs(placenta.x - inside.x);
  const dy = placenta.y - inside.y;
  if (dx > SIDEWAYS * Math.abs(dy)) return 'lateral-or-fundal';
  return dy < 0 ? 'anterior' : 'posterior';
}

function countLacunae(map: SoftMask): number {
  let rest: SoftMask = map;
  let count = 0;
  for (;;) {
    const region: Region | null = largestRegion(rest);
    if (!region || cellsOf(region.mask).length < SMALLEST_LACUNA) return count;
    count += 1;
    const values = rest.values.map((v, i) => ((region.mask.values[i] ?? 0) >= LEVEL ? 0 : v));
    rest = { ...rest, values };
  }
}

/**
 * Returns the map of the placenta with its lacunae filled in, because they are part of the
 * placenta.
 */
function filled({ maps }: UterineMaps): SoftMask {
  const { placenta, lacuna } = maps;
  return { ...placenta, values: placenta.values.map((v, i) => Math.max(v, lacuna.values[i] ?? 0)) };
}

/**
 * Returns the placenta from the maps of one image. Null if it is missing or too small, or if there is
 * neither fluid nor a part of the fetus against which its side can be judged.
 */
export function placentaOfMaps(drawn: UterineMaps): PlacentaBody | null {
  const { maps, placement, placentaGate } = drawn;
  const region = largestRegion(filled(drawn));
  if (!region) return null;
  const cells = cellsOf(region.mask);
  if (cells.length < SMALLEST_PLACENTA) return null;
  const inside = [...cellsOf(maps.fluid), ...cellsOf(maps.part)];
  if (inside.length === 0) return null;
  const confidence = mean(cells.map(({ x, y }) => value(region.mask, x, y)));
  const [first, second] = thickest(region.mask, cells);
  return {
    side: sideOf(centroid(cells), centroid(inside)),
    thickness: [toSource(placement, first), toSource(placement, second)],
    lacunae: countLacunae(maps.lacuna),
    confidence,
    accepted: confidence >= placentaGate,
  };
}

/**
 * Returns the lower edge and the internal os from the maps of one image; null if either is missing
 * or the placenta is too small.
 */
export function placentaEdgeOfMaps({
  maps,
  placement,
  edgeGate,
}: UterineMaps): PlacentaEdge | null {
  const region = largestRegion(maps.placenta);
  const [os] = highestPeaks(maps['internal-os'], 1);
  const [edge] = highestPeaks(maps['placenta-edge'], 1);
  if (!region || !os || !edge) return null;
  const cells = cellsOf(region.mask);
  if (cells.length < SMALLEST_EDGE_PLACENTA) return null;
  const body = centroid(cells);
  // From the edge, the body of the placenta extends either away from the os or over it.
  const towardsOs = (body.x - edge.x) * (os.x - edge.x) + (body.y - edge.y) * (os.y - edge.y);
  const density = mean(cells.map(({ x, y }) => value(region.mask, x, y)));
  const confidence = Math.cbrt(os.value * edge.value * density);
  return {
    internalOs: toSource(placement, centreOfMass(maps['internal-os'], os)),
    edge: toSource(placement, centreOfMass(maps['placenta-edge'], edge)),
    overlaps: towardsOs > 0,
    confidence,
    accepted: confidence >= edgeGate,
  };
}
