import { describe, expect, it } from 'vitest';
import type { ParasternalStructure } from '../../../../pipelines/echo/locate/names.ts';
import {
  type ParasternalMasks,
  parasternalLabel,
} from '../../../../pipelines/echo/locate/parasternal.ts';
import type { ParasternalClip } from '../../../../pipelines/echo/parasternal/clip.ts';
import { shortAxisMotions } from '../../../../pipelines/echo/parasternal/short-axis-segments.ts';
import {
  type ShortAxisWall,
  shortAxisWall,
} from '../../../../pipelines/echo/parasternal/short-axis-wall.ts';
import { shortAxisBeat } from '../ventricle-sample.ts';

const SIZE = 200;
const SURE = Object.fromEntries(
  ['lv', 'myocardium', 'la', 'rv', 'ra', 'aorta', 'pulmonary-artery', 'effusion'].map((name) => [
    name,
    0.9,
  ]),
) as Record<ParasternalStructure, number>;

interface Ring {
  radius: number;
  wall: number;
  /**
   * Direction of the middle of the septum on the display, followed by the arc of the septum, in
   * degrees.
   */
  septum?: number;
  arc?: number;
  /** Degrees without muscle, counted from 0. */
  open?: number;
  middle?: number;
}

const apart = (one: number, other: number) => Math.abs(((one - other + 540) % 360) - 180);

/**
 * Draws a round cavity with its wall, and with the RV behind the septum, at one millimetre per
 * pixel.
 */
function ring({
  radius,
  wall,
  septum = 180,
  arc = 120,
  open = 0,
  middle = 100,
}: Ring): ParasternalMasks {
  const labels = new Uint8Array(SIZE * SIZE).map((_, pixel) => {
    const [dx, dy] = [(pixel % SIZE) - middle, middle - Math.floor(pixel / SIZE)];
    const [out, angle] = [Math.hypot(dx, dy), (Math.atan2(dy, dx) * 180) / Math.PI];
    if (out < radius) return parasternalLabel('lv');
    if (out < radius + wall && (angle < 0 || angle >= open)) return parasternalLabel('myocardium');
    const behind = out < radius + wall + 15 && out >= radius + wall;
    return behind && apart(angle, septum) <= arc / 2 ? parasternalLabel('rv') : 0;
  });
  const area = { minX: 0, minY: 0, maxX: SIZE - 1, maxY: SIZE - 1 };
  return { area, width: SIZE, height: SIZE, labels, confidence: SURE, accepted: true };
}

const SCALE = { x: 1, y: 1 };
const wallOf = (of: Ring) => shortAxisWall(ring(of), SCALE);

describe('the wall of a short axis', () => {
  it('has a radius and a thickness in every direction, in millimetres', () => {
    const wall = shortAxisWall(ring({ radius: 30, wall: 10 }), { x: 0.5, y: 0.5 });
    expect(wall?.rays).toHaveLength(72);
    for (const { radius, thickness } of wall?.rays ?? []) {
      expect(radius).toBeGreaterThan(14.3);
      expect(radius).toBeLessThan(15.7);
      expect(Math.abs((thickness ?? 0) - 5)).toBeLessThan(0.8);
    }
  });
  it.each([180, 150, -170, 0])('has its septum where the RV is behind it: %d degrees', (septum) =>
    expect(apart(wallOf({ radius: 30, wall: 10, septum })?.septum ?? 90, septum)).toBeLessThan(4),
  );
  it('has no septum if little of the RV is visible', () =>
    expect(wallOf({ radius: 30, wall: 10, arc: 40 })?.septum).toBeNull());
  it('is null if muscle does not surround the cavity, as at the mitral valve', () => {
    expect(wallOf({ radius: 30, wall: 10, open: 60 })).toBeNull();
    expect(wallOf({ radius: 30, wall: 10, open: 20 })).not.toBeNull();
  });
  it('is null without a ventricle', () => expect(wallOf({ radius: 0, wall: 0 })).toBeNull());
});

const beating = (
  view: ParasternalClip['view'],
  filled: ShortAxisWall | null,
  tight: ShortAxisWall | null,
) => shortAxisBeat(view, (squeeze) => (squeeze > 0.5 ? tight : filled));

/** Returns a wall that moves inwards everywhere except in one direction of the display. */
function still(direction: number, septum: number): ShortAxisWall | null {
  const [rest, tight] = [
    wallOf({ radius: 30, wall: 10, septum }),
    wallOf({ radius: 20, wall: 14, septum }),
  ];
  if (!rest || !tight) return null;
  const rays = tight.rays.map((ray, i) =>
    apart(ray.angle, direction) <= 25 ? (rest.rays[i] ?? ray) : ray,
  );
  return { ...tight, rays };
}

const least = (motions: ReturnType<typeof shortAxisMotions>) =>
  motions.toSorted((a, b) => a.excursion - b.excursion)[0]?.segment;

describe('segments of a short axis (echo 8.3)', () => {
  const filled = wallOf({ radius: 30, wall: 10 });
  const tight = wallOf({ radius: 20, wall: 14 });

  it('papillary level: six mid segments that thicken and move inwards', () => {
    const motions = shortAxisMotions(beating('PSAX-PM', filled, tight));
    expect(motions.map(({ segment }) => segment).toSorted((a, b) => a - b)).toEqual([
      7, 8, 9, 10, 11, 12,
    ]);
    for (const { excursion, thickening } of motions) {
      expect(Math.abs(excursion - 33)).toBeLessThan(4);
      expect(Math.abs((thickening ?? 0) - 40)).toBeLessThan(10);
    }
  });
  it('apical level: four segments, only by their motion', () => {
    const motions = shortAxisMotions(beating('PSAX-AP', filled, tight));
    expect(motions.map(({ segment }) => segment).toSorted((a, b) => a - b)).toEqual([
      13, 14, 15, 16,
    ]);
    expect(motions.every(({ thickening }) => thickening === null)).toBe(true);
  });
  it.each([
    ['on top of the display, septum on the left', 90, 180, 7],
    ['left above', 150, 180, 8],
    ['left below', 210, 180, 9],
    ['below', 270, 180, 10],
    ['right below', 330, 180, 11],
    ['right above', 30, 180, 12],
    ['where the whole heart is turned by 30 degrees', 120, 210, 7],
    ['left above of a mirrored display', 150, 0, 12],
  ])('a wall that does not move %s', (_, direction, septum, segment) => {
    const rest = wallOf({ radius: 30, wall: 10, septum });
    expect(least(shortAxisMotions(beating('PSAX-PM', rest, still(direction, septum))))).toBe(
      segment,
    );
  });
  it('there are none if the septum is not visible, or is upright', () => {
    const hidden = filled && { ...filled, septum: null };
    const upright = filled && { ...filled, septum: 80 };
    expect(shortAxisMotions(beating('PSAX-PM', hidden, tight))).toEqual([]);
    expect(shortAxisMotions(beating('PSAX-PM', upright, tight))).toEqual([]);
  });
  it('there are none if the wall is not visible at end-systole, or at another level', () => {
    expect(shortAxisMotions(beating('PSAX-PM', filled, null))).toEqual([]);
    expect(shortAxisMotions(beating('PSAX-MV', filled, tight))).toEqual([]);
  });
});
