import type { Ellipse, GrayImage, Point } from '../../contract/image.ts';
import { distanceToEllipse, fitEllipse } from '../locate/ellipse-fit.ts';
import { levelAt, type RingLevels } from './sac-ring.ts';

const TRACE = {
  /** Rays of the outline. */
  rays: 96,
  /** Share of the radius within which a ray meets the ellipse. */
  nearness: 0.07,
  /** Share of the radius within which the border is looked for. */
  leeway: 0.22,
} as const;

/** Where the grey level along a ray rises to half for good; null where it does not. */
function border(
  image: GrayImage,
  from: Point,
  way: Point,
  reach: number,
  half: number,
): number | null {
  const hold = Math.max(3, 0.1 * reach);
  for (let r = (1 - TRACE.leeway) * reach; r < (1 + TRACE.leeway) * reach; r += 0.5) {
    const level = (distance: number) =>
      levelAt(image, from.x + distance * way.x, from.y + distance * way.y);
    if (level(r) < half) continue;
    let stays = true;
    for (let d = 1; d <= hold && stays; d++) stays = level(r + d) >= half;
    if (!stays) continue;
    const before = level(r - 1);
    const rise = level(r) - before;
    return rise > 0 ? r - 1 + Math.min(1, Math.max(0, (half - before) / rise)) : r;
  }
  return null;
}

/** The inner border near an ellipse, and the share of rays that meet it; null where too few do. */
export function traceSac(
  image: GrayImage,
  ellipse: Ellipse,
  { inside, outside }: RingLevels,
): { ellipse: Ellipse; met: number } | null {
  const half = (inside + outside) / 2;
  const { centre, a, b, angle } = ellipse;
  const edge = Array.from({ length: TRACE.rays }, (_, i) => {
    const turn = (2 * Math.PI * i) / TRACE.rays;
    const way = { x: Math.cos(turn), y: Math.sin(turn) };
    const u = Math.cos(turn - angle) / a;
    const v = Math.sin(turn - angle) / b;
    const distance = border(image, centre, way, 1 / Math.hypot(u, v), half);
    return distance === null
      ? null
      : { x: centre.x + distance * way.x, y: centre.y + distance * way.y };
  }).filter((point) => point !== null);
  if (edge.length < TRACE.rays / 2) return null;
  let fitted: Ellipse | null = ellipse;
  let kept = edge;
  // The embryo and the yolk sac lie on the wall: what is well inside is not the border.
  for (const tolerance of [0.25, 0.15, 0.08]) {
    fitted = fitEllipse(kept, fitted);
    if (!fitted) return null;
    const radius = Math.sqrt(fitted.a * fitted.b);
    const now: Ellipse = fitted;
    kept = edge.filter((point) => distanceToEllipse(now, point) > -tolerance * radius);
    if (kept.length < TRACE.rays / 3) return null;
  }
  const final = fitEllipse(kept, fitted);
  if (!final) return null;
  const radius = Math.sqrt(final.a * final.b);
  const near = edge.filter(
    (point) => Math.abs(distanceToEllipse(final, point)) < Math.max(1.2, TRACE.nearness * radius),
  );
  return { ellipse: final, met: near.length / TRACE.rays };
}
