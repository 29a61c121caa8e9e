import type { Point } from '../../contract/image.ts';

/**
 * A vector drawing, which draw.ts renders as PNG or PDF. Lengths are in the units of the drawing, y
 * increases downwards, and colours are CSS hex.
 */
export interface Drawing {
  width: number;
  height: number;
  marks: readonly Mark[];
}

export type Mark = Path | Area | Label;

interface Path {
  kind: 'path';
  points: readonly Point[];
  closed?: boolean;
  colour: string;
  width: number;
  /** Lengths of dash and gap. */
  dash?: readonly [number, number];
}

interface Area {
  kind: 'area';
  points: readonly Point[];
  colour: string;
  opacity?: number;
}

export interface Label {
  kind: 'label';
  text: string;
  /** Position on the baseline of the text. */
  at: Point;
  size: number;
  colour: string;
  bold?: boolean;
  anchor?: 'start' | 'middle' | 'end';
}

export const label = (
  text: string,
  at: Point,
  size: number,
  colour: string,
  more: Pick<Partial<Label>, 'bold' | 'anchor'> = {},
): Label => ({ kind: 'label', text, at, size, colour, ...more });

export function line(from: Point, to: Point, colour: string, width: number): Path {
  return { kind: 'path', points: [from, to], colour, width };
}

export function rectangle(
  at: Point,
  width: number,
  height: number,
  colour: string,
  opacity = 1,
): Area {
  const [right, bottom] = [at.x + width, at.y + height];
  const corners = [at, { x: right, y: at.y }, { x: right, y: bottom }, { x: at.x, y: bottom }];
  return { kind: 'area', points: corners, colour, opacity };
}

/** Returns points on the ellipse with this centre and these two conjugate half-diameters. */
export function ellipsePoints(centre: Point, u: Point, v: Point, count = 120): Point[] {
  return Array.from({ length: count }, (_, index) => {
    const t = (2 * Math.PI * index) / count;
    return {
      x: centre.x + u.x * Math.cos(t) + v.x * Math.sin(t),
      y: centre.y + u.y * Math.cos(t) + v.y * Math.sin(t),
    };
  });
}

export function disc(centre: Point, radius: number, colour: string): Area {
  const points = ellipsePoints(centre, { x: radius, y: 0 }, { x: 0, y: radius }, 32);
  return { kind: 'area', points, colour };
}
