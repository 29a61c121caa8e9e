import type { Position, Shape } from '../../../../pipelines/artifacts/display/overlay-contract.ts';

/** Maximum number of handles on one outline, which may have hundreds of points. */
const MOST_HANDLES = 16;
/** Fraction of an outline's points, on either side, that follow a dragged point. */
const FOLLOWING = 0.1;

/** Returns the points of a shape that can be dragged, as indices into its list. */
export function handlesOf({ type, points }: Shape): number[] {
  const all = points.map((_, index) => index);
  if (type === 'line' || type === 'ellipse') return all;
  const step = Math.max(1, Math.ceil(points.length / MOST_HANDLES));
  return all.filter((index) => index % step === 0);
}

const middle = (a: Position, b: Position): Position => [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];

/**
 * Returns an ellipse after one end of an axis was moved. The opposite end stays in place, and the
 * other axis keeps its length and stays perpendicular.
 */
function draggedEllipse(points: readonly Position[], index: number, to: Position): Position[] {
  const opposite = points[index ^ 1];
  const others = (index < 2 ? [2, 3] : [0, 1]).map((at) => points[at]);
  const [c, d] = others;
  if (!opposite || !c || !d) return [...points];
  const [x, y] = middle(to, opposite);
  const length = Math.hypot(to[0] - opposite[0], to[1] - opposite[1]) || 1;
  const half = Math.hypot(d[0] - c[0], d[1] - c[1]) / 2;
  const across: Position = [
    (-(to[1] - opposite[1]) / length) * half,
    ((to[0] - opposite[0]) / length) * half,
  ];
  // Each end of the other axis stays on its side of the dragged axis. If the ends changed places,
  // so would their handles.
  const side = (d[0] - c[0]) * across[0] + (d[1] - c[1]) * across[1] >= 0 ? 1 : -1;
  const ends: Position[] = [
    [x - side * across[0], y - side * across[1]],
    [x + side * across[0], y + side * across[1]],
  ];
  const axis: Position[] = index % 2 === 0 ? [to, opposite] : [opposite, to];
  return index < 2 ? [...axis, ...ends] : [...ends, ...axis];
}

/**
 * Returns an outline or a trace after one point was moved. Neighbouring points follow the move; the
 * farther away a point is, the less it moves.
 */
function draggedOutline({ type, points }: Shape, index: number, [x, y]: Position): Position[] {
  const from = points[index];
  if (!from) return [...points];
  const reach = Math.max(1, Math.round(points.length * FOLLOWING));
  const count = points.length;
  return points.map(([px, py], at) => {
    const along = Math.abs(at - index);
    const distance = type === 'polygon' ? Math.min(along, count - along) : along;
    if (distance > reach) return [px, py];
    const share = (1 + Math.cos((Math.PI * distance) / (reach + 1))) / 2;
    return [px + share * (x - from[0]), py + share * (y - from[1])];
  });
}

export function dragged(shape: Shape, index: number, to: Position): Shape {
  if (shape.type === 'line') {
    return { ...shape, points: shape.points.map((one, at) => (at === index ? to : one)) };
  }
  const points =
    shape.type === 'ellipse'
      ? draggedEllipse(shape.points, index, to)
      : draggedOutline(shape, index, to);
  return { ...shape, points };
}

/** Limits a position to a frame of this size. */
export function insideFrame(
  [x, y]: Position,
  { columns, rows }: { columns: number; rows: number },
): Position {
  const limit = (value: number, most: number) => Math.min(most - 1, Math.max(0, value));
  return [limit(x, columns), limit(y, rows)];
}
