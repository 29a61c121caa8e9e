import type { Ellipse, GrayImage, Point } from '../../contract/image.ts';
import { blobs } from '../../measure/blobs.ts';
import { separation } from './sac-ring.ts';

/** Shorter to longer axis of a sac, at least. */
export const ROUNDNESS = 0.42;

/** Lengths in pixels of the image that is searched. */
const SEARCH = {
  /** Grey levels tried as the upper limit of echo-free. */
  levels: [6, 10, 15, 21, 28, 36, 45, 55, 66, 80, 95, 110],
  /** Area of a dark region, pixels. */
  smallest: 24,
  /** Radii of the circles that the search starts from, and how many of each size it follows. */
  radii: [5, 8, 12, 17, 24, 33, 45, 60, 78],
  starts: 3,
  /** Of `separation`: below the first an ellipse is no start, below the second no candidate. */
  startScore: 0.15,
  score: 0.75,
  /** Radius from which starts are laid over the whole image. */
  gridFrom: 12,
  /** Shorter semi-axis. */
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

/** Climbs to the best ellipse near a start: one parameter at a time, in steps that shrink. */
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
        // One side moves and the opposite one stays.
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

/** Middles of the closed dark regions: a small sac is one of them. */
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

/** A grid of places: the embryo and the amnion part a large sac into several dark regions. */
function gridCentres({ width, height }: GrayImage, spacing: number): Point[] {
  const centres: Point[] = [];
  for (let y = 1.5 * spacing; y < height - spacing; y += spacing) {
    for (let x = 1.5 * spacing; x < width - spacing; x += spacing) centres.push({ x, y });
  }
  return centres;
}

/** Circles to start from, the best of every size. */
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

/** A yolk sac and a heart are dark with a bright border, too: the sac is what encloses them. */
const rank = ({ score, ellipse }: Candidate) => score ** 2 * Math.sqrt(ellipse.a * ellipse.b);

/** Bodies of one image that are looked at further: a bladder or a cyst may lie beside the sac. */
const MOST = 4;

/** Whether the middle of one ellipse lies within the other. */
const overlap = (one: Ellipse, other: Ellipse) =>
  Math.hypot(one.centre.x - other.centre.x, one.centre.y - other.centre.y) <
  Math.max(one.a, one.b, other.a, other.b);

/** The ellipses of a small smooth image that look like a sac, best first, none within another. */
export function findSacEllipses(image: GrayImage): Ellipse[] {
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
