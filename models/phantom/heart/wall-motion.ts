import type { Heart, HeartMoment } from './heart.ts';
import { END_DIASTOLE, END_SYSTOLE } from './motion.ts';
import { APICAL_RIGHT } from './planes.ts';
import { across, dot } from './space.ts';
import type { Ventricle } from './ventricle.ts';

/** Change of a wall segment from end diastole to end systole, in per cent. */
export interface SegmentTruth {
  /** Number of the segment, 1 to 16 (Cerqueira 2002). */
  segment: number;
  thickening: number;
  /** Decrease of the radius; negative if the segment moves outwards. */
  excursion: number;
}

/** Angles of the segment centres in degrees, in the order of the segment numbers. */
const SIX = [90, 150, 210, 270, 330, 30] as const;
const FOUR = [90, 180, 270, 0] as const;

/**
 * Basal, mid and apical rings as shares of the axis from the apex (0). The apical cap is left out.
 */
const RINGS = [
  { angles: SIX, from: 2 / 3, to: 1 },
  { angles: SIX, from: 1 / 3, to: 2 / 3 },
  { angles: FOUR, from: 0.1, to: 1 / 3 },
] as const;

const EVERY_DEGREES = 5;
const LEVELS = 8;

/** Returns the mean of `at` over one segment. */
function over(
  at: (angle: number, along: number) => number,
  middle: number,
  half: number,
  { from, to }: (typeof RINGS)[number],
): number {
  let sum = 0;
  let count = 0;
  for (let turn = -half + EVERY_DEGREES / 2; turn < half; turn += EVERY_DEGREES) {
    for (let level = 0; level < LEVELS; level++) {
      sum += at((middle + turn + 360) % 360, from + ((level + 0.5) / LEVELS) * (to - from));
      count += 1;
    }
  }
  return sum / count;
}

/** Computes the thickening and inward motion of the sixteen segments from the heart model. */
export function segmentTruths(heart: Heart): SegmentTruth[] {
  const [diastole, systole] = [heart.at(END_DIASTOLE).ventricle, heart.at(END_SYSTOLE).ventricle];
  return RINGS.flatMap((ring) =>
    ring.angles.map((middle) => {
      const half = 180 / ring.angles.length;
      const change = (of: (at: Ventricle) => (angle: number, along: number) => number) =>
        100 * (over(of(systole), middle, half, ring) / over(of(diastole), middle, half, ring) - 1);
      return { thickening: change((at) => at.wall), excursion: -change((at) => at.radius) };
    }),
  ).map((truth, i) => ({ segment: i + 1, ...truth }));
}

const STEPS = 200;

/**
 * Returns the length of the endocardial contour in a plane, from one end of the base via the apex
 * to the other.
 */
function contourMm({ ventricle }: HeartMoment, angle: number): number {
  const { apexZ, baseZ } = ventricle;
  const side = across(angle);
  const at = (share: number) => {
    // The share runs from the base at `angle` (0) via the apex (0.5) to the opposite base (1).
    const along = Math.abs(1 - 2 * share);
    const out = share < 0.5 ? 1 : -1;
    const radius = ventricle.radius(share < 0.5 ? angle : angle + 180, along);
    const bow = dot({ ...ventricle.middleAt(along), z: 0 }, side);
    return { out: bow + out * radius, z: apexZ - along * (apexZ - baseZ) };
  };
  let length = 0;
  let before = at(0);
  for (let i = 1; i <= STEPS; i++) {
    const next = at(i / STEPS);
    length += Math.hypot(next.out - before.out, next.z - before.z);
    before = next;
  }
  return length;
}

/**
 * Returns the global longitudinal strain in per cent (negative): the change in length of the
 * endocardial contour from end diastole to end systole, averaged over the three apical planes
 * (EACVI/ASE 2015).
 */
export function globalLongitudinalStrain(heart: Heart): number {
  const diastole = heart.at(END_DIASTOLE);
  const systole = heart.at(END_SYSTOLE);
  const planes = [APICAL_RIGHT.A4C, APICAL_RIGHT.A2C, APICAL_RIGHT.A3C];
  const strains = planes.map((angle) => {
    const rest = contourMm(diastole, angle);
    return (100 * (contourMm(systole, angle) - rest)) / rest;
  });
  return strains.reduce((total, strain) => total + strain, 0) / strains.length;
}
