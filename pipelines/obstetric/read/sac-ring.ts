import type { Ellipse, GrayImage } from '../../contract/image.ts';
import { median } from '../../measure/statistics.ts';

/** Grey levels by which the ring of a sac outshines the inside. */
export const CONTRAST = 22;

/** Where the tissue behind the ring is looked at, pixels from the border, as deep again. */
const BEHIND = 6;

const TURN = 2 * Math.PI;

const WAYS = Array.from({ length: 40 }, (_, i) => ({
  cos: Math.cos((i * TURN) / 40),
  sin: Math.sin((i * TURN) / 40),
}));

/** Grey levels within and around a sac: what lies between is its border. */
export interface RingLevels {
  inside: number;
  outside: number;
}

/** The grey level of the pixel nearest to a place; outside the image, that of its edge. */
export function levelAt(image: GrayImage, x: number, y: number): number {
  const column = Math.max(0, Math.min(image.width - 1, Math.round(x)));
  const row = Math.max(0, Math.min(image.height - 1, Math.round(y)));
  return image.data[row * image.width + column] ?? 0;
}

/**
 * The mean levels just within and around an ellipse, one pair for each direction, told to `tell`.
 * The hot loop of the search: it makes no object.
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
      const level = levelAt(image, centre.x + u * cos - v * sin, centre.y + u * sin + v * cos);
      if (further < 0) within += level;
      else around += level;
    }
    tell(within / 3, around / thickness);
  }
}

/**
 * How well an ellipse separates a dark inside from a bright ring, pixels of the search image. Each
 * direction counts with its own contrast, none with more than `CONTRAST` twice: one bright spot
 * must not pay for an open side. 1: all of them have that much.
 */
export function separation(image: GrayImage, ellipse: Ellipse): number {
  let sum = 0;
  acrossBorder(image, ellipse, (within, around) => {
    sum += Math.max(-CONTRAST, Math.min(2 * CONTRAST, around - within));
  });
  return sum / WAYS.length / (2 * CONTRAST);
}

/** The median grey levels just within and around an ellipse. */
export function ringLevels(image: GrayImage, ellipse: Ellipse): RingLevels {
  const inside: number[] = [];
  const outside: number[] = [];
  acrossBorder(image, ellipse, (within, around) => {
    inside.push(within);
    outside.push(around);
  });
  return { inside: median(inside), outside: median(outside) };
}

/**
 * The share of directions in which what lies behind the ring is bright, too: the uterus goes on
 * behind the lining of a sac; behind a skull, which is a thin ring, often lies fluid or shadow.
 */
export function embedded(image: GrayImage, { centre, a, b, angle }: Ellipse, half: number): number {
  const from = BEHIND;
  const cos = Math.cos(angle);
  const sin = Math.sin(angle);
  const bright = WAYS.filter((way) => {
    let sum = 0;
    for (let further = from; further < 2 * from; further++) {
      const u = (a + further) * way.cos;
      const v = (b + further) * way.sin;
      sum += levelAt(image, centre.x + u * cos - v * sin, centre.y + u * sin + v * cos);
    }
    return sum / from > half;
  });
  return bright.length / WAYS.length;
}
