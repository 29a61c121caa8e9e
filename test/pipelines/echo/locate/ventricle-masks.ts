import type { ChamberMasks } from '../../../../pipelines/echo/locate/chambers.ts';

export interface DrawnVentricle {
  /** Size of the cavity in pixels: its length from base to apex, and half its width. */
  length?: number;
  halfWidth?: number;
  /** Thickness of the wall; 0 for no wall. */
  wall?: number;
  /** Rotation of the apex from vertical, radians, clockwise. */
  lean?: number;
  centre?: { x: number; y: number };
}

/**
 * Draws masks of 240 × 240 pixels: a cavity shaped as half an ellipse and open at the base, with a
 * wall everywhere except at the base.
 */
export function drawVentricle({
  length = 110,
  halfWidth = 30,
  wall = 12,
  lean = 0,
  centre = { x: 120, y: 120 },
}: DrawnVentricle = {}): ChamberMasks {
  const size = 240;
  const labels = new Uint8Array(size * size);
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) {
      const dx = x - centre.x;
      const dy = y - centre.y;
      const across = dx * Math.cos(lean) + dy * Math.sin(lean);
      const up = dx * Math.sin(lean) - dy * Math.cos(lean) + length / 2;
      if (up < 0) continue;
      if (Math.hypot(across / halfWidth, up / length) <= 1) labels[y * size + x] = 1;
      else if (Math.hypot(across / (halfWidth + wall), up / (length + wall)) <= 1) {
        labels[y * size + x] = 2;
      }
    }
  }
  return {
    area: { minX: 0, minY: 0, maxX: size - 1, maxY: size - 1 },
    width: size,
    height: size,
    labels,
    confidence: { lv: 0.9, myocardium: 0.9, la: 0, rv: 0, ra: 0 },
    accepted: true,
  };
}
