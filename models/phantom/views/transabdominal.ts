import type { Screen, View } from '../acquisition.ts';
import type { Random } from '../random.ts';

const SCREENS: readonly Screen[] = [
  { columns: 640, rows: 480 },
  { columns: 800, rows: 600 },
  { columns: 1024, rows: 768 },
];

/**
 * A view of a curved array onto a cavity of half extents `across` and `down` mm that lies below an
 * abdominal wall: deep enough for its floor, as wide as the array sees.
 */
export function drawTransabdominalView(down: number, random: Random, screen?: Screen): View {
  const { columns, rows } = screen ?? random.pick(SCREENS);
  const radiusMm = random.range(38, 65);
  const halfAngle = random.range(0.5, 0.72);
  const wallMm = random.range(9, 28);
  const centre = { x: random.normal(0, 10), y: wallMm + down + random.range(4, 14) };
  const depthMm = centre.y + down + random.range(4, 40);
  const rise = radiusMm * (1 - Math.cos(halfAngle));
  const margin = random.range(0.01, 0.06) * rows;
  const mmPerPixel = (depthMm + rise) / (rows * random.range(0.94, 1.04) - margin);
  const origin = { x: columns * random.range(0.46, 0.54), y: margin + rise / mmPerPixel };
  return {
    sector: { radiusMm, halfAngle, depthMm },
    window: { columns, rows, mmPerPixel, origin },
    centre,
    wallMm,
  };
}
