import type { Ellipse, GrayImage, Point } from '../../contract/image.ts';
import { distanceToEllipse, fitEllipse } from '../../measure/ellipse-fit.ts';
import { blobs, reduced, smoothed } from '../../measure/regions.ts';
import { median } from '../../measure/statistics.ts';
import type { LocatedSac, RingLevels } from './evidence.ts';

/** Minimum difference in grey level between the ring of a sac and its inside. */
const CONTRAST = 22;

/**
 * Distance in pixels beyond the border at which the strip of tissue behind the ring begins; it ends
 * at twice this distance.
 */
const BEHIND = 6;

const TURN = 2 * Math.PI;

const WAYS = Array.from({ length: 40 }, (_, i) => ({
  cos: Math.cos((i * TURN) / 40),
  sin: Math.sin((i * TURN) / 40),
}));

function nearestLevel(image: GrayImage, x: number, y: number): number {
  const column = Math.max(0, Math.min(image.width - 1, Math.round(x)));
  const row = Math.max(0, Math.min(image.height - 1, Math.round(y)));
  return image.data[row * image.width + column] ?? 0;
}

/**
 * Calls `tell` once per direction with two mean grey levels, just inside and just outside an
 * ellipse. This is the innermost loop of the search, so it allocates no objects.
 */
function acrossBorder(
  image: GrayImage,
  { centre, a, b, angle }: Ellipse,
  tell: (within: number, around: number) => void,
): void {
  const thickness = Math.max(5, Math.round(0.18 * Math.sqrt(a * b)));
  const cos = Math.cos(angle);
  const sin = Math.sin(angle);
  for (const way of WAYS) {
    let within = 0;
    let around = 0;
    for (let further = -4; further <= thickness; further++) {
      if (further === -3 || further === 0) continue;
      const u = (a + further) * way.cos;
      const v = (b + further) * way.sin;
      const level = nearestLevel(image, centre.x + u * cos - v * sin, centre.y + u * sin + v * cos);
      if (further < 0) within += level;
      else around += level;
    }
    tell(within / 3, around / thickness);
  }
}

/**
 * Returns a score for how well an ellipse separates a dark inside from a bright ring, on the
 * reduced image. It is the mean contrast over all directions, each capped at twice `CONTRAST` so
 * that one bright spot cannot compensate for an open side. The score is 1 if every direction
 * reaches the cap.
 */
function separation(image: GrayImage, ellipse: Ellipse): number {
  let sum = 0;
  acrossBorder(image, ellipse, (within, around) => {
    sum += Math.max(-CONTRAST, Math.min(2 * CONTRAST, around - within));
  });
  return sum / WAYS.length / (2 * CONTRAST);
}

function ringLevels(image: GrayImage, ellipse: Ellipse): RingLevels {
  const inside: number[] = [];
  const outside: number[] = [];
  acrossBorder(image, ellipse, (within, around) => {
    inside.push(within);
    outside.push(around);
  });
  return { inside: median(inside), outside: median(outside) };
}

/**
 * Returns the share of directions in which the tissue behind the ring is bright. Behind the lining
 * of a sac there is uterine tissue; behind a skull, which is a thin ring, there is often fluid or
 * shadow.
 */
function embedded(image: GrayImage, { centre, a, b, angle }: Ellipse, half: number): number {
  const from = BEHIND;
  const cos = Math.cos(angle);
  const sin = Math.sin(angle);
  const bright = WAYS.filter((way) => {
    let sum = 0;
    for (let further = from; further < 2 * from; further++) {
      const u = (a + further) * way.cos;
      const v = (b + further) * way.sin;
      sum += nearestLevel(image, centre.x + u * cos - v * sin, centre.y + u * sin + v * cos);
    }
    return sum / from > half;
  });
  return bright.length / WAYS.length;
}

/** Minimum ratio of the shorter to the longer axis of a sac. */
const ROUNDNESS = 0.42;

/** Parameters of the search; lengths are in pixels of the reduced image. */
const SEARCH = {
  /** Grey levels tried as the upper limit of an echo-free region. */
  levels: [6, 10, 15, 21, 28, 36, 45, 55, 66, 80, 95, 110],
  /** Minimum area of a dark region, pixels. */
  smallest: 24,
  /**
   * Mean radii of the ellipses from which the search starts. For each radius, the search continues
   * from the best `starts` ellipses.
   */
  radii: [5, 8, 12, 17, 24, 33, 45, 60, 78],
  starts: 3,
  /** Minimum `separation` of a starting ellipse, and of the final candidate. */
  startScore: 0.15,
  score: 0.75,
  /** Ellipses of this radius or larger are also placed on a grid over the whole image. */
  gridFrom: 12,
  smallestAxis: 3,
} as const;

interface Candidate {
  ellipse: Ellipse;
  score: number;
}

const scored = (image: GrayImage, ellipse: Ellipse): Candidate => ({
  ellipse,
  score: separation(image, ellipse),
});

function climb(image: GrayImage, start: Candidate): Candidate {
  let best = start;
  for (let step = Math.max(1.5, 0.15 * start.ellipse.a); step > 0.4; step /= 2) {
    for (let improved = true, round = 0; improved && round < 12; round++) {
      improved = false;
      const { centre, a, b, angle } = best.ellipse;
      const turn = step / Math.max(a, b);
      const moves: Ellipse[] = [1, -1].flatMap((s) => [
        { ...best.ellipse, centre: { x: centre.x + s * step, y: centre.y } },
        { ...best.ellipse, centre: { x: centre.x, y: centre.y + s * step } },
        { ...best.ellipse, a: a + s * step },
        { ...best.ellipse, b: b + s * step },
        { ...best.ellipse, a: a + s * step, b: b + s * step },
        { ...best.ellipse, angle: angle + s * turn },
        // One side of the ellipse moves while the opposite side stays fixed.
        ...[0, 1, 2, 3].map((side) => {
          const way = angle + (side * Math.PI) / 2;
          const half = (s * step) / 2;
          const long = side % 2 === 0;
          return {
            centre: { x: centre.x + half * Math.cos(way), y: centre.y + half * Math.sin(way) },
            a: long ? a + half : a,
            b: long ? b : b + half,
            angle,
          };
        }),
      ]);
      for (const move of moves) {
        const ratio = Math.min(move.a, move.b) / Math.max(move.a, move.b);
        if (Math.min(move.a, move.b) < SEARCH.smallestAxis || ratio < ROUNDNESS) continue;
        const next = scored(image, move);
        if (next.score > best.score + 1e-6) {
          best = next;
          improved = true;
        }
      }
    }
  }
  return best;
}

/** Returns the centres of closed dark regions. A small sac is a single such region. */
function darkCentres(image: GrayImage): Point[] {
  return SEARCH.levels.flatMap((level) =>
    blobs(image, (index) => (image.data[index] ?? 0) <= level, SEARCH.smallest)
      .filter(({ open }) => !open)
      .map(({ pixels }) => ({
        x: pixels.reduce((sum, index) => sum + (index % image.width), 0) / pixels.length,
        y: pixels.reduce((sum, index) => sum + Math.floor(index / image.width), 0) / pixels.length,
      })),
  );
}

/**
 * Returns a grid of starting points. They are needed for a large sac, whose dark region is divided
 * by embryo and amnion.
 */
function gridCentres({ width, height }: GrayImage, spacing: number): Point[] {
  const centres: Point[] = [];
  for (let y = 1.5 * spacing; y < height - spacing; y += spacing) {
    for (let x = 1.5 * spacing; x < width - spacing; x += spacing) centres.push({ x, y });
  }
  return centres;
}

function starts(image: GrayImage): Candidate[] {
  const dark = darkCentres(image);
  return SEARCH.radii.flatMap((radius) =>
    [...dark, ...(radius >= SEARCH.gridFrom ? gridCentres(image, radius / 2) : [])]
      .flatMap((centre) => [
        scored(image, { centre, a: 1.1 * radius, b: 0.9 * radius, angle: 0 }),
        scored(image, { centre, a: 1.25 * radius, b: 0.75 * radius, angle: 0.3 }),
        scored(image, { centre, a: 1.25 * radius, b: 0.75 * radius, angle: -0.3 }),
      ])
      .filter(({ score }) => score >= SEARCH.startScore)
      .toSorted((one, other) => other.score - one.score)
      .slice(0, SEARCH.starts),
  );
}

/**
 * Ranks a candidate by score and size. The size matters because a yolk sac or a heart is also dark
 * with a bright border; the sac is the larger region around them.
 */
const rank = ({ score, ellipse }: Candidate) => score ** 2 * Math.sqrt(ellipse.a * ellipse.b);

/**
 * Maximum number of candidate regions examined per image. More than one is needed because a bladder
 * or a cyst may be beside the sac.
 */
const MOST = 4;

const overlap = (one: Ellipse, other: Ellipse) =>
  Math.hypot(one.centre.x - other.centre.x, one.centre.y - other.centre.y) <
  Math.max(one.a, one.b, other.a, other.b);

function findSacEllipses(image: GrayImage): Ellipse[] {
  const ranked = starts(image)
    .map((start) => climb(image, start))
    .filter(({ score }) => score >= SEARCH.score)
    .toSorted((one, other) => rank(other) - rank(one));
  const apart: Ellipse[] = [];
  for (const { ellipse } of ranked) {
    if (!apart.some((other) => overlap(other, ellipse))) apart.push(ellipse);
  }
  return apart.slice(0, MOST);
}

const TRACE = {
  rays: 96,
  /**
   * Maximum distance of a border point from the ellipse at which it still counts as on the outline,
   * as a share of the radius.
   */
  nearness: 0.07,
  /**
   * Distance inside and outside the candidate within which to search for the border, as a share of
   * the radius.
   */
  leeway: 0.22,
} as const;

/**
 * Returns the distance along a ray at which the grey level rises above `half` and stays above it;
 * null if it never does.
 */
function border(
  image: GrayImage,
  from: Point,
  way: Point,
  reach: number,
  half: number,
): number | null {
  const hold = Math.max(3, 0.1 * reach);
  for (let r = (1 - TRACE.leeway) * reach; r < (1 + TRACE.leeway) * reach; r += 0.5) {
    const level = (distance: number) =>
      nearestLevel(image, from.x + distance * way.x, from.y + distance * way.y);
    if (level(r) < half) continue;
    let stays = true;
    for (let d = 1; d <= hold && stays; d++) stays = level(r + d) >= half;
    if (!stays) continue;
    const before = level(r - 1);
    const rise = level(r) - before;
    return rise > 0 ? r - 1 + Math.min(1, Math.max(0, (half - before) / rise)) : r;
  }
  return null;
}

/**
 * Traces the inner border of a sac near an ellipse. Returns the fitted ellipse, and the share of
 * rays whose border point is on it; null if too few rays meet a border.
 */
function traceSac(
  image: GrayImage,
  ellipse: Ellipse,
  { inside, outside }: RingLevels,
): { ellipse: Ellipse; met: number } | null {
  const half = (inside + outside) / 2;
  const { centre, a, b, angle } = ellipse;
  const edge = Array.from({ length: TRACE.rays }, (_, i) => {
    const turn = (2 * Math.PI * i) / TRACE.rays;
    const way = { x: Math.cos(turn), y: Math.sin(turn) };
    const u = Math.cos(turn - angle) / a;
    const v = Math.sin(turn - angle) / b;
    const distance = border(image, centre, way, 1 / Math.hypot(u, v), half);
    return distance === null
      ? null
      : { x: centre.x + distance * way.x, y: centre.y + distance * way.y };
  }).filter((point) => point !== null);
  if (edge.length < TRACE.rays / 2) return null;
  let fitted: Ellipse | null = ellipse;
  let kept = edge;
  // Border points well inside the ellipse are left out, because the embryo or the yolk sac touches
  // the wall there.
  for (const tolerance of [0.25, 0.15, 0.08]) {
    fitted = fitEllipse(kept, fitted);
    if (!fitted) return null;
    const radius = Math.sqrt(fitted.a * fitted.b);
    const now: Ellipse = fitted;
    kept = edge.filter((point) => distanceToEllipse(now, point) > -tolerance * radius);
    if (kept.length < TRACE.rays / 3) return null;
  }
  const final = fitEllipse(kept, fitted);
  if (!final) return null;
  const radius = Math.sqrt(final.a * final.b);
  const near = edge.filter(
    (point) => Math.abs(distanceToEllipse(final, point)) < Math.max(1.2, TRACE.nearness * radius),
  );
  return { ellipse: final, met: near.length / TRACE.rays };
}

const SAC = {
  /** Longer side, in pixels, of the reduced image on which the search runs. */
  searchSide: 320,
  /** Minimum share of directions in which the tissue behind the ring is bright. */
  embedded: 0.86,
  gate: 0.7,
} as const;

/**
 * Returns the regions in an image that look like a sac, most likely first. A rejected region stays
 * in the list, with `accepted` false, because an accepted region that comes after it is doubtful
 * (`chooseSac`).
 */
export function locateSacs(image: GrayImage): LocatedSac[] {
  const factor = Math.max(1, Math.round(Math.max(image.width, image.height) / SAC.searchSide));
  const small = smoothed(reduced(image, factor), 1);
  const ellipses = findSacEllipses(small);
  if (ellipses.length === 0) return [];
  const fine = smoothed(image, Math.max(1, Math.round(factor / 2)));
  return ellipses.map((ellipse) => traced(ellipse, small, fine, factor));
}

function traced(candidate: Ellipse, small: GrayImage, fine: GrayImage, factor: number): LocatedSac {
  const levels = ringLevels(small, candidate);
  const { centre, a, b, angle } = candidate;
  const found: Ellipse = {
    centre: { x: (centre.x + 0.5) * factor - 0.5, y: (centre.y + 0.5) * factor - 0.5 },
    a: a * factor,
    b: b * factor,
    angle,
  };
  const none = { ellipse: found, levels, confidence: 0, accepted: false };
  if (levels.outside - levels.inside < CONTRAST) return none;
  const half = (levels.inside + levels.outside) / 2;
  if (embedded(small, candidate, half) < SAC.embedded) return none;
  const border = traceSac(fine, found, levels);
  if (!border) return none;
  const { ellipse, met } = border;
  const contrast = Math.min(1, (levels.outside - levels.inside) / (2 * CONTRAST));
  const round = ellipse.b / ellipse.a >= ROUNDNESS ? 1 : 0;
  const confidence = met * contrast * round;
  return { ellipse, levels, confidence, accepted: confidence >= SAC.gate };
}
