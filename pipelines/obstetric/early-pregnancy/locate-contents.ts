import type { Ellipse, GrayImage, PixelScale, Point } from '../../contract/image.ts';
import { blobs, smoothed } from '../../measure/regions.ts';
import { median } from '../../measure/statistics.ts';
import type { LocatedSac, SacContents } from './evidence.ts';

const CONTENTS = {
  /**
   * Search for the yolk sac, in mm: range and step of the inner diameters, width of the ring, and
   * distance from the inner border at which fluid is expected again.
   */
  yolk: { smallest: 1.8, largest: 8, step: 0.4, ring: 0.7, apart: 1.3 },
  /**
   * Minimum contrast of the yolk sac's ring, as a share of the contrast of the gestational sac's
   * ring.
   */
  ringContrast: 0.45,
  /** Minimum shares of directions in which the ring must be bright and its surroundings dark. */
  ringShare: 0.8,
  apartShare: 0.6,
  /**
   * Share of the rise from fluid to peak at which the grey level marks the wall. It is high because
   * a thin ring is blurred to both sides.
   */
  wallFrom: 0.75,
  /**
   * Lengths in mm: the half thickness up to which a structure is a membrane rather than an embryo,
   * the smoothing radius, and the margin to the wall.
   */
  membraneMm: 0.5,
  calmMm: 0.2,
  marginMm: 0.7,
  smallestEmbryoMm2: 2,
  /**
   * Levels of an embryo, as shares of the contrast of the sac's ring: the level at which the embryo
   * begins, and the level that its median must reach.
   */
  embryoFrom: 0.42,
  embryoLevel: 0.55,
} as const;

const DIRECTIONS = 24;

function at({ width, height, data }: GrayImage, x: number, y: number): number {
  const column = Math.round(x);
  const row = Math.round(y);
  if (column < 0 || row < 0 || column >= width || row >= height) return 0;
  return data[row * width + column] ?? 0;
}

/** Returns true if a point is inside the ellipse shrunk by `margin` pixels. */
function holds({ centre, a, b, angle }: Ellipse, x: number, y: number, margin: number): boolean {
  const dx = x - centre.x;
  const dy = y - centre.y;
  const u = dx * Math.cos(angle) + dy * Math.sin(angle);
  const v = dy * Math.cos(angle) - dx * Math.sin(angle);
  return a > margin && b > margin && (u / (a - margin)) ** 2 + (v / (b - margin)) ** 2 <= 1;
}

interface Ring {
  centre: Point;
  radius: number;
  score: number;
}

const WAYS = Array.from({ length: DIRECTIONS }, (_, i) => ({
  x: Math.cos((i * 2 * Math.PI) / DIRECTIONS),
  y: Math.sin((i * 2 * Math.PI) / DIRECTIONS),
}));

/**
 * Returns a score from 0 to 1 for how closely a circle resembles a yolk sac: fluid inside, a thin
 * bright ring, and fluid around it.
 */
function ringScore(
  image: GrayImage,
  centre: Point,
  radius: number,
  mm: number,
  contrast: number,
): number {
  const fluid = at(image, centre.x, centre.y);
  const level = (way: Point, r: number) => at(image, centre.x + r * way.x, centre.y + r * way.y);
  const { ring, apart } = CONTENTS.yolk;
  const rings = WAYS.map((way) =>
    Math.max(
      level(way, radius + 0.15 * mm),
      level(way, radius + 0.4 * mm),
      level(way, radius + ring * mm),
    ),
  );
  const bright = rings.reduce((sum, value) => sum + value, 0) / DIRECTIONS;
  if (bright - fluid < CONTENTS.ringContrast * contrast) return 0;
  const half = (fluid + bright) / 2;
  const inside = WAYS.filter((way) => level(way, 0.55 * radius) < half).length / DIRECTIONS;
  const around = rings.filter((value) => value > half).length / DIRECTIONS;
  const outside = WAYS.filter((way) => level(way, radius + apart * mm) < half).length / DIRECTIONS;
  if (inside < 0.95 || around < CONTENTS.ringShare || outside < CONTENTS.apartShare) return 0;
  return (around + outside) / 2;
}

/**
 * Returns the radius, in pixels, at which the ring begins. In each direction, this is where the
 * grey level has completed most of its rise from fluid to ring; the median over all directions is
 * returned.
 */
function innerRadius(image: GrayImage, { centre, radius }: Ring, mm: number): number {
  const rises = WAYS.map((way) => {
    const level = (r: number) => at(image, centre.x + r * way.x, centre.y + r * way.y);
    const low = Math.min(level(0), level(0.3 * radius));
    let peak = 0.6 * radius;
    // Only the first peak along the ray is used, because the wall of the gestational sac behind it
    // may be brighter.
    for (let r = peak; r <= radius + CONTENTS.yolk.apart * mm; r += 0.5) {
      if (level(r) > level(peak)) peak = r;
      else if (level(r) < 0.8 * level(peak) && level(peak) > 2 * low) break;
    }
    const wall = low + CONTENTS.wallFrom * (level(peak) - low);
    let inner = peak;
    while (inner > 0 && level(inner) > wall) inner -= 0.5;
    return inner + 0.25;
  });
  return median(rises);
}

function findYolkSac(image: GrayImage, sac: LocatedSac, mm: number): SacContents['yolkSac'] {
  const contrast = sac.levels.outside - sac.levels.inside;
  const { yolk } = CONTENTS;
  const step = Math.max(1, 0.35 * mm);
  const { centre, a } = sac.ellipse;
  let best: Ring | null = null;
  let highest = 0;
  for (let y = centre.y - a; y <= centre.y + a; y += step) {
    for (let x = centre.x - a; x <= centre.x + a; x += step) {
      for (let d = yolk.smallest; d <= yolk.largest; d += yolk.step) {
        const radius = (d / 2) * mm;
        if (!holds(sac.ellipse, x, y, radius + 0.3 * mm)) break;
        const score = ringScore(image, { x, y }, radius, mm, contrast);
        // The heart of a small embryo is also dark within a bright ring, but smaller. Therefore
        // larger rings rank higher.
        const rank = score * Math.sqrt(d);
        if (rank > highest) {
          highest = rank;
          best = { centre: { x, y }, radius, score };
        }
      }
    }
  }
  if (!best) return null;
  return { centre: best.centre, radius: innerRadius(image, best, mm), confidence: best.score };
}

const SOLID = 255;

/**
 * Returns the mask without parts thinner than twice the radius (erosion, then dilation by a
 * square).
 */
function opened(mask: GrayImage, radius: number): GrayImage {
  const eroded = smoothed(mask, radius);
  const core = { ...mask, data: eroded.data.map((level) => (level >= SOLID ? SOLID : 0)) };
  const grown = smoothed(core, radius);
  return { ...mask, data: grown.data.map((level) => (level > 0 ? SOLID : 0)) };
}

/** Returns the two pixels of a region that are furthest apart. */
function longest(pixels: readonly number[], width: number): [Point, Point] {
  const points = pixels.map((index) => ({ x: index % width, y: Math.floor(index / width) }));
  let ends: [Point, Point] = [points[0] as Point, points[0] as Point];
  let length = -1;
  for (let i = 0; i < 48; i++) {
    const way = { x: Math.cos((i * Math.PI) / 48), y: Math.sin((i * Math.PI) / 48) };
    const along = (p: Point) => p.x * way.x + p.y * way.y;
    const low = points.reduce((one, p) => (along(p) < along(one) ? p : one));
    const high = points.reduce((one, p) => (along(p) > along(one) ? p : one));
    const span = Math.hypot(high.x - low.x, high.y - low.y);
    if (span > length) {
      length = span;
      ends = [low, high];
    }
  }
  return ends;
}

function findEmbryo(
  image: GrayImage,
  sac: LocatedSac,
  yolkSac: SacContents['yolkSac'],
  mm: number,
): SacContents['embryo'] {
  const { inside, outside } = sac.levels;
  const limit = inside + CONTENTS.embryoFrom * (outside - inside);
  const { width, height } = image;
  const yolkReach = yolkSac ? yolkSac.radius + CONTENTS.yolk.ring * mm : 0;
  const mask = new Uint8Array(width * height);
  const { centre, a } = sac.ellipse;
  const clip = (value: number, limit: number) =>
    Math.max(0, Math.min(limit - 1, Math.round(value)));
  for (let y = clip(centre.y - a, height); y <= clip(centre.y + a, height); y++) {
    for (let x = clip(centre.x - a, width); x <= clip(centre.x + a, width); x++) {
      const ofYolk = yolkSac && Math.hypot(x - yolkSac.centre.x, y - yolkSac.centre.y) < yolkReach;
      const bright = (image.data[y * width + x] ?? 0) > limit;
      if (bright && !ofYolk && holds(sac.ellipse, x, y, CONTENTS.marginMm * mm)) {
        mask[y * width + x] = SOLID;
      }
    }
  }
  const bright = { width, height, data: mask };
  const membrane = Math.max(1, Math.round(CONTENTS.membraneMm * mm));
  const core = opened(bright, membrane);
  // The morphological opening removes the tips of the embryo (crown and rump). They are restored
  // where the original mask extends beyond the core.
  const reach = smoothed(core, membrane);
  const solid = (index: number) => (reach.data[index] ?? 0) > 0 && mask[index] === SOLID;
  const found = blobs(bright, solid, CONTENTS.smallestEmbryoMm2 * mm * mm);
  const largest = found.toSorted((one, other) => other.pixels.length - one.pixels.length)[0];
  if (!largest) return null;
  const level = median(largest.pixels.map((index) => image.data[index] ?? 0));
  const strength = (level - inside) / (outside - inside);
  if (strength < CONTENTS.embryoLevel) return null;
  return {
    ends: longest(largest.pixels, width),
    confidence: Math.min(1, strength),
  };
}

/**
 * Finds the yolk sac and the embryo within a sac. `scale` is in mm per pixel and must be nearly
 * equal along both axes.
 */
export function locateContents(image: GrayImage, sac: LocatedSac, scale: PixelScale): SacContents {
  const mm = 2 / (scale.x + scale.y);
  const calm = smoothed(image, Math.max(1, Math.round(CONTENTS.calmMm * mm)));
  const yolkSac = findYolkSac(calm, sac, mm);
  return { yolkSac, embryo: findEmbryo(calm, sac, yolkSac, mm) };
}
