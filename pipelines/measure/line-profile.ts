import type { GrayImage, PixelScale, Point } from '../contract/image.ts';

/**
 * Grey levels along a straight line in a picture. Positions are in millimetres from the line's
 * first point.
 */
export interface LineProfile {
  /** Returns the interpolated grey level at a position; 0 outside the picture or the profile. */
  level(mm: number): number;
  /** Returns the point at a position, in pixels. */
  point(mm: number): Point;
  /** Millimetres. */
  length: number;
}

interface Band {
  /** Half width, in mm, of the band across which the levels are averaged. */
  half: number;
  /**
   * Distances, in mm, by which the profile starts before the first point and continues beyond the
   * last one.
   */
  before: number;
  beyond: number;
}

/** Distances in mm: between two samples of a profile, and between two lines of the band. */
const STEP = 0.25;
const BESIDE = 0.5;

/**
 * Returns the profile along the line from `from` to `to`. Averaging across the line removes speckle
 * but keeps edges that cross the line.
 */
export function lineProfile(
  image: GrayImage,
  scale: PixelScale,
  [from, to]: readonly [Point, Point],
  { half, before, beyond }: Band,
): LineProfile {
  const [dx, dy] = [(to.x - from.x) * scale.x, (to.y - from.y) * scale.y];
  const length = Math.hypot(dx, dy);
  const along = { x: dx / length, y: dy / length };
  const place = (mm: number, aside: number): Point => ({
    x: from.x + (mm * along.x - aside * along.y) / scale.x,
    y: from.y + (mm * along.y + aside * along.x) / scale.y,
  });
  const lines = Math.floor(half / BESIDE);
  const levels = Float64Array.from(
    { length: Math.ceil((before + length + beyond) / STEP) + 1 },
    (_, i) => {
      let sum = 0;
      for (let k = -lines; k <= lines; k++) {
        const { x, y } = place(i * STEP - before, k * BESIDE);
        sum += levelAt(image, x, y);
      }
      return sum / (2 * lines + 1);
    },
  );
  return {
    length,
    point: (mm) => place(mm, 0),
    level: (mm) => {
      const at = (mm + before) / STEP;
      const left = Math.floor(at);
      return (1 - at + left) * (levels[left] ?? 0) + (at - left) * (levels[left + 1] ?? 0);
    },
  };
}

/**
 * Returns the grey level between pixels, by bilinear interpolation. Outside the picture it is black,
 * so the level falls to 0 over the pixel beyond the edge, as in the crops that the networks were
 * trained on (OpenCV's `warpAffine`).
 */
export function levelAt({ width, height, data }: GrayImage, x: number, y: number): number {
  const [left, top] = [Math.floor(x), Math.floor(y)];
  if (left < -1 || top < -1 || left >= width || top >= height) return 0;
  const [fx, fy] = [x - left, y - top];
  const row = (at: number) => {
    if (at < 0 || at >= height) return 0;
    const start = at * width + left;
    const first = left < 0 ? 0 : (data[start] ?? 0);
    const second = left + 1 >= width ? 0 : (data[start + 1] ?? 0);
    return (1 - fx) * first + fx * second;
  };
  return (1 - fy) * row(top) + fy * row(top + 1);
}

/** Returns the mean level between two positions. */
export function meanLevel({ level }: Pick<LineProfile, 'level'>, from: number, to: number): number {
  const steps = Math.max(1, Math.round((to - from) / STEP));
  let sum = 0;
  for (let i = 0; i < steps; i++) sum += level(from + ((i + 0.5) * (to - from)) / steps);
  return sum / steps;
}

interface Step {
  /** Position in mm. */
  at: number;
  /**
   * Level after the step minus level before it, divided by the sum of both levels and `FAINT`. From
   * -1 to 1.
   */
  contrast: number;
}

/** Distance, in mm, before and after a step, over which the levels are averaged and compared. */
const COMPARED = 2;
/** Grey level of an echo so faint that the contrast of its step is halved. */
const FAINT = 25;

/**
 * Returns the steepest step to a brighter (or darker) level between two positions. Absolute levels
 * are used, because relative levels would shift an edge towards its darker side. Null if there is
 * no step in that direction.
 */
export function steepestStep(
  profile: LineProfile,
  kind: 'brighter' | 'darker',
  [from, to]: readonly [number, number],
): Step | null {
  const sign = kind === 'brighter' ? 1 : -1;
  let best: Step | null = null;
  let highest = 0;
  for (let at = from; at <= to + 1e-9; at += STEP) {
    const before = meanLevel(profile, at - COMPARED, at);
    const beyond = meanLevel(profile, at, at + COMPARED);
    const rise = sign * (beyond - before);
    if (rise <= highest) continue;
    highest = rise;
    best = { at, contrast: (beyond - before) / (beyond + before + FAINT) };
  }
  return best;
}
