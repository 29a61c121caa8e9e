import type { Screen, View } from '../acquisition.ts';
import { type Point, toPixel, toPolar } from '../geometry.ts';
import type { Random } from '../random.ts';

const SCREENS: readonly Screen[] = [
  { columns: 640, rows: 480 },
  { columns: 800, rows: 600 },
  { columns: 1024, rows: 768 },
];

/** A view of a transvaginal probe: small tight curve, wide opening, shallow depth. */
export function drawTransvaginalView(random: Random, centre: Point, screen?: Screen): View {
  const { columns, rows } = screen ?? random.pick(SCREENS);
  const radiusMm = random.range(9, 14);
  const halfAngle = random.range(0.95, 1.25);
  const depthMm = centre.y + random.range(28, 55);
  const rise = radiusMm * (1 - Math.cos(halfAngle));
  const margin = random.range(0.01, 0.07) * rows;
  const mmPerPixel = Math.max(0.09, (depthMm + rise) / (rows * random.range(0.92, 1.05) - margin));
  const origin = { x: columns * random.range(0.45, 0.55), y: margin + rise / mmPerPixel };
  return {
    sector: { radiusMm, halfAngle, depthMm },
    window: { columns, rows, mmPerPixel, origin },
    centre,
    wallMm: random.range(2, 5),
  };
}

/** Whether a point is in the field of view and on the screen, a little inside its edges. */
export function isInView({ sector, window }: View, point: Point): boolean {
  const { range, angle } = toPolar(sector, point.x, point.y);
  const { x, y } = toPixel(window, point);
  return (
    range > 1 &&
    range < sector.depthMm - 1 &&
    Math.abs(angle) < 0.96 * sector.halfAngle &&
    x > 4 &&
    y > 4 &&
    x < window.columns - 5 &&
    y < window.rows - 5
  );
}
