import { median } from '../../measure/statistics.ts';
import type { HeartView } from '../locate/names.ts';
import type { ParasternalClip } from './clip.ts';
import { beatsOf } from './clip.ts';
import type { ShortAxisWall, WallRay } from './short-axis-wall.ts';

/**
 * Segments visible at each level of the short axis, counted around the bull's-eye from the anterior
 * segment (echo 8.3). The mitral level is left out, because the valve plane passes through the
 * picture in systole. At the apical level, thickness is not measured, because the wall is cut too
 * obliquely.
 */
const LEVELS = {
  'PSAX-PM': { first: 7, count: 6, thickness: true },
  'PSAX-AP': { first: 13, count: 4, thickness: false },
} as const;
export type ShortAxisView = keyof typeof LEVELS;

export const showsSegments = (view: HeartView): view is ShortAxisView => view in LEVELS;

/** Inward motion and thickening of a segment from end-diastole to end-systole, per cent. */
interface ShortAxisMotion {
  segment: number;
  view: ShortAxisView;
  excursion: number;
  thickening: number | null;
}

/** Angles of the middle of the anterior wall and of the septum on the bull's-eye, in degrees. */
const [ANTERIOR, SEPTUM] = [90, 180];
/**
 * Minimum absolute cosine of the septum's direction. Below it, the septum is too close to vertical
 * to show whether the display is mirrored.
 */
const UPRIGHT = 0.5;

const turned = (angle: number) => ((angle % 360) + 360) % 360;

/**
 * Returns a function that converts a direction on the display to an angle on the bull's-eye, both
 * in degrees. Null if the position of the septum does not determine this conversion.
 */
function turnOf(septum: number): ((angle: number) => number) | null {
  const sideways = Math.cos((septum * Math.PI) / 180);
  if (Math.abs(sideways) < UPRIGHT) return null;
  const sense = sideways > 0 ? -1 : 1;
  return (angle) => turned(SEPTUM + sense * (angle - septum));
}

/**
 * Groups the rays of a wall by segment. Segment 0 is the anterior one. Null if the septum does not
 * determine the segments.
 */
function byPart({ rays, septum }: ShortAxisWall, count: number): Map<number, WallRay[]> | null {
  const turn = septum === null ? null : turnOf(septum);
  if (!turn) return null;
  const width = 360 / count;
  const partOf = (angle: number) =>
    Math.floor(turned(turn(angle) - ANTERIOR + width / 2) / width) % count;
  return Map.groupBy(rays, ({ angle }) => partOf(angle));
}

const radiusOf = (rays: readonly WallRay[]) =>
  rays.reduce((sum, { radius }) => sum + radius, 0) / rays.length;

/**
 * Returns the median thickness over the rays of a segment; null if fewer than half of the rays have
 * a thickness. The median hardly changes if a papillary muscle is mistaken for wall.
 */
function thicknessOf(rays: readonly WallRay[]): number | null {
  const seen = rays.flatMap(({ thickness }) => thickness ?? []);
  return seen.length >= rays.length / 2 ? median(seen) : null;
}

const change = (from: number, to: number) => (100 * (to - from)) / from;

/**
 * Returns the motion of each short-axis segment in each beat. The segments are identified from the
 * septum, so the list is empty if no septum was seen.
 */
export function shortAxisMotions(clip: ParasternalClip): ShortAxisMotion[] {
  const { view } = clip;
  if (!showsSegments(view)) return [];
  const { first, count, thickness } = LEVELS[view];
  const { frames, beats } = beatsOf(clip);
  return beats.flatMap(({ diastole, systole }) => {
    const [rest, tight] = [frames[diastole]?.wall, frames[systole]?.wall];
    // The septum at end-diastole is used for both phases, because RV and septum are then seen best.
    const before = rest ? byPart(rest, count) : null;
    const after = rest && tight ? byPart({ ...tight, septum: rest.septum }, count) : null;
    if (!before || !after) return [];
    return [...before].flatMap(([part, wide]) => {
      const narrow = after.get(part);
      if (!narrow) return [];
      const [thin, thick] = [thicknessOf(wide), thicknessOf(narrow)];
      return [
        {
          segment: first + part,
          view,
          excursion: -change(radiusOf(wide), radiusOf(narrow)),
          thickening: thickness && thin && thick ? change(thin, thick) : null,
        },
      ];
    });
  });
}
