import { z } from 'zod';
import type { Point } from '../contract/image.ts';
import type { Result } from '../result/envelope.ts';
import {
  type LocatedStructure,
  locatedStructureSchema,
  type Place,
} from '../result/located-structure.ts';
import { ellipsePoints } from './drawing.ts';

/** A structure that a section lists, and the section. */
export type ListedStructure = LocatedStructure & { section: string };

const structures = z.array(locatedStructureSchema);

/** Every structure that the sections of a result list with its place (`data.structures`). */
export function structuresInSections({ sections }: Pick<Result, 'sections'>): ListedStructure[] {
  return sections.flatMap(({ id, data }) =>
    (structures.safeParse(data.structures).data ?? []).map((one) => ({ section: id, ...one })),
  );
}

const tenth = (value: number) => Math.round(10 * value) / 10;
const point = ([x, y]: readonly [number, number]): Point => ({ x, y });

/**
 * The closed outline of a place; null for a line, which encloses nothing, and for a rectangle, which
 * is drawn around a structure and not along its border.
 */
export function closedOutline({ type, points }: Place): [number, number][] | null {
  if (type === 'polygon') return points;
  const [a, b, c, d] = points.map(point);
  if (type !== 'ellipse' || !a || !b || !c || !d) return null;
  const centre = { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
  const half = (from: Point, to: Point) => ({ x: (to.x - from.x) / 2, y: (to.y - from.y) / 2 });
  return ellipsePoints(centre, half(a, b), half(c, d)).map(({ x, y }) => [tenth(x), tenth(y)]);
}
