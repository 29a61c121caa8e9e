import type { PixelScale, Point } from '../../contract/image.ts';
import { type ParasternalMasks, parasternalLabel } from '../locate/parasternal.ts';

/**
 * Wall of a short axis in one direction from the middle of the ventricle. Lengths are in the unit
 * of the scale.
 */
export interface WallRay {
  /** Degrees, counter-clockwise from the right of the display. */
  angle: number;
  /** Distance from the middle to the border of the cavity. */
  radius: number;
  /** Thickness of the muscle; null if no muscle was outlined. */
  thickness: number | null;
}

export interface ShortAxisWall {
  rays: readonly WallRay[];
  /**
   * Direction of the middle of the septum, in degrees; null if no septum was seen. The septum is
   * the part of the muscle with the RV behind it.
   */
  septum: number | null;
}

const EVERY_DEGREES = 5;
const STEP = 0.5;
/**
 * Maximum gap, in pixels, between structures that count as touching. Gaps occur because borders are
 * only as fine as the network's grid.
 */
const TOUCH = 6;
/**
 * Maximum distance from the middle of the ventricle to the start of the cavity, as a share of the
 * picture's diagonal.
 */
const OFF_MIDDLE = 0.04;
/**
 * Minimum share of directions in which muscle must surround the cavity. If the share is lower, the
 * plane passes through a valve.
 */
const SURROUNDED = 0.9;
/**
 * Minimum arc, in degrees, over which the RV must be behind the muscle for it to count as septum.
 */
const SEPTAL_ARC = 60;

const degrees = (angle: number) => (angle * Math.PI) / 180;

/**
 * Returns the middle of cavity and muscle taken together, so that motion of the whole heart is not
 * mistaken for wall motion. Null if neither was outlined.
 */
function middleOf({ labels, width }: ParasternalMasks): Point | null {
  const [cavity, muscle] = [parasternalLabel('lv'), parasternalLabel('myocardium')];
  let x = 0;
  let y = 0;
  let count = 0;
  for (let pixel = 0; pixel < labels.length; pixel++) {
    const label = labels[pixel];
    if (label !== cavity && label !== muscle) continue;
    x += pixel % width;
    y += Math.floor(pixel / width);
    count += 1;
  }
  return count > 0 ? { x: x / count, y: y / count } : null;
}

interface Cut extends WallRay {
  septal: boolean;
}

/**
 * Follows a ray from the middle outwards through the cavity and the muscle, and determines whether
 * the RV comes next. Null if the ray does not meet the cavity.
 */
function cutAt(masks: ParasternalMasks, from: Point, angle: number, scale: PixelScale): Cut | null {
  const { labels, width, height } = masks;
  const [dx, dy] = [Math.cos(degrees(angle)), -Math.sin(degrees(angle))];
  const at = (distance: number) => {
    const [x, y] = [Math.round(from.x + distance * dx), Math.round(from.y + distance * dy)];
    return x < 0 || y < 0 || x >= width || y >= height ? 0 : (labels[y * width + x] ?? 0);
  };
  const last = (label: number, start: number, far: number, gap: number) => {
    let found: number | null = null;
    for (let distance = start; distance < far; distance += STEP) {
      if (at(distance) === label) found = distance;
      else if (distance - (found ?? start) > gap) break;
    }
    return found;
  };
  const reach = Math.hypot(width, height);
  const inner = last(parasternalLabel('lv'), 0, reach, OFF_MIDDLE * reach);
  if (inner === null) return null;
  const outer = last(parasternalLabel('myocardium'), inner, reach, TOUCH);
  const unit = Math.hypot(dx * scale.x, dy * scale.y);
  const behind = outer ?? inner;
  return {
    angle,
    radius: inner * unit,
    thickness: outer === null ? null : (outer - inner) * unit,
    septal: last(parasternalLabel('rv'), behind, behind + TOUCH, TOUCH) !== null,
  };
}

function meanDirection(angles: readonly number[]): number {
  const x = angles.reduce((sum, angle) => sum + Math.cos(degrees(angle)), 0);
  const y = angles.reduce((sum, angle) => sum + Math.sin(degrees(angle)), 0);
  return (Math.atan2(y, x) * 180) / Math.PI;
}

/**
 * Returns the wall around the cavity of a short axis. Null if the cavity is not surrounded by
 * muscle, as in a plane through the mitral valve. If there is no scale, lengths are in pixels,
 * which are assumed to be square.
 */
export function shortAxisWall(
  masks: ParasternalMasks,
  scale: PixelScale | null,
): ShortAxisWall | null {
  const middle = middleOf(masks);
  if (!middle) return null;
  const cuts = Array.from({ length: 360 / EVERY_DEGREES }, (_, i) =>
    cutAt(masks, middle, i * EVERY_DEGREES, scale ?? { x: 1, y: 1 }),
  ).filter((cut) => cut !== null);
  const walled = cuts.filter(({ thickness }) => thickness !== null).length;
  if (walled < (SURROUNDED * 360) / EVERY_DEGREES) return null;
  const septal = cuts.flatMap(({ septal: behind, angle }) => (behind ? [angle] : []));
  const seen = septal.length * EVERY_DEGREES >= SEPTAL_ARC;
  return {
    rays: cuts.map(({ angle, radius, thickness }) => ({ angle, radius, thickness })),
    septum: seen ? meanDirection(septal) : null,
  };
}
