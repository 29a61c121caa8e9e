import type { PixelScale, Point } from '../../contract/image.ts';
import { type ParasternalMasks, parasternalLabel } from '../locate/parasternal.ts';

/** The wall of a short axis in one direction from the middle of the ventricle, in the unit of the scale. */
export interface WallRay {
  /** Degrees, counter-clockwise from the right of the display. */
  angle: number;
  /** From the middle to the border of the cavity. */
  radius: number;
  /** Of the muscle; null where none was outlined. */
  thickness: number | null;
}

export interface ShortAxisWall {
  rays: readonly WallRay[];
  /** Direction of the middle of the septum, where the RV lies behind the muscle; null: not seen. */
  septum: number | null;
}

const EVERY_DEGREES = 5;
const STEP = 0.5;
/** Pixels between two structures that touch: the borders of the network's grid. */
const TOUCH = 6;
/** Share of the picture's diagonal: the cavity may begin so far from the middle of the ventricle. */
const OFF_MIDDLE = 0.04;
/** Share of the directions in which muscle must surround the cavity; an opening is a valve. */
const SURROUNDED = 0.9;
/** Degrees of muscle with the RV behind it from which the septum is recognised. */
const SEPTAL_ARC = 60;

const degrees = (angle: number) => (angle * Math.PI) / 180;

/** The middle of cavity and muscle together: the heart moves as a whole, its wall against it. */
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
 * What a ray crosses on its way outwards: the cavity, its muscle, and whether the RV comes next.
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

/** Middle of the directions, on the circle. */
function meanDirection(angles: readonly number[]): number {
  const x = angles.reduce((sum, angle) => sum + Math.cos(degrees(angle)), 0);
  const y = angles.reduce((sum, angle) => sum + Math.sin(degrees(angle)), 0);
  return (Math.atan2(y, x) * 180) / Math.PI;
}

/**
 * The wall around the cavity of a short axis; null where muscle does not surround it, as in a plane
 * through the mitral valve. Without a scale in pixels, taken as square.
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
