import type { GrayImage, Point } from '../../contract/image.ts';
import { type Placement, toSource } from '../../inference/letterbox.ts';
import type { ModelSession } from '../../inference/session.ts';
import { mirroredMaps } from './mirrored-maps.ts';
import type { SoftMask } from './soft-mask.ts';

export interface FemurEnds {
  /** Outer ends of the ossified diaphysis, pixel coordinates of the image, left one first. */
  ends: [Point, Point];
  /** Geometric mean of the evidence for either end and for bone between them, 0 to 1. */
  confidence: number;
  /** Whether the confidence reaches the gate of the model's card. Below it: do not measure. */
  accepted: boolean;
}

const CANDIDATES = 8;
const LOWEST_PEAK = 0.05;
const SHORTEST = 8;
const WINDOW = 4;

/** The ends of the femur of each image by `fetal-femur`; null where no pair was found. */
export async function locateFemurEnds(
  session: ModelSession,
  images: readonly GrayImage[],
): Promise<(FemurEnds | null)[]> {
  const { width, height } = session.model.input;
  const maps = await mirroredMaps(session, images);
  return maps.map(({ placement, channels: [shaft, ends] }) =>
    endsOfMaps(
      { width, height, values: shaft ?? new Float32Array() },
      { width, height, values: ends ?? new Float32Array() },
      placement,
      session.model.gate,
    ),
  );
}

/** The pair of peaks of the end map with the most bone between them. */
export function endsOfMaps(
  shaft: SoftMask,
  ends: SoftMask,
  placement: Placement,
  gate: number,
): FemurEnds | null {
  const peaks = highestPeaks(ends);
  let best: { pair: [Point, Point]; confidence: number } | null = null;
  peaks.forEach((one, i) => {
    for (const other of peaks.slice(i + 1)) {
      if (Math.hypot(one.x - other.x, one.y - other.y) < SHORTEST) continue;
      const bone = meanAlong(shaft, one, other);
      const confidence = Math.cbrt(one.value * other.value * bone);
      if (!best || confidence > best.confidence) best = { pair: [one, other], confidence };
    }
  });
  if (!best) return null;
  const { pair, confidence }: { pair: [Point, Point]; confidence: number } = best;
  const [first, second] = pair.map((point) => toSource(placement, centreOfMass(ends, point)));
  if (!first || !second) return null;
  return {
    ends: first.x <= second.x ? [first, second] : [second, first],
    confidence,
    accepted: confidence >= gate,
  };
}

function highestPeaks(map: SoftMask): (Point & { value: number })[] {
  const peaks: (Point & { value: number })[] = [];
  for (let y = 1; y < map.height - 1; y++) {
    for (let x = 1; x < map.width - 1; x++) {
      const value = at(map, x, y);
      if (value < LOWEST_PEAK) continue;
      let highest = true;
      for (let dy = -1; dy <= 1; dy++) {
        for (let dx = -1; dx <= 1; dx++) highest &&= at(map, x + dx, y + dy) <= value;
      }
      if (highest) peaks.push({ x, y, value });
    }
  }
  return peaks.sort((a, b) => b.value - a.value).slice(0, CANDIDATES);
}

const at = (map: SoftMask, x: number, y: number) => map.values[y * map.width + x] ?? 0;

function meanAlong(map: SoftMask, from: Point, to: Point): number {
  const steps = Math.max(2, Math.ceil(Math.hypot(to.x - from.x, to.y - from.y)));
  let sum = 0;
  for (let i = 0; i <= steps; i++) {
    const x = Math.round(from.x + ((to.x - from.x) * i) / steps);
    const y = Math.round(from.y + ((to.y - from.y) * i) / steps);
    sum += at(map, x, y);
  }
  return sum / (steps + 1);
}

/** A peak to a fraction of a pixel; squared, so that the window's edge does not pull. */
function centreOfMass(map: SoftMask, peak: Point): Point {
  let sum = 0;
  let x = 0;
  let y = 0;
  for (let dy = -WINDOW; dy <= WINDOW; dy++) {
    for (let dx = -WINDOW; dx <= WINDOW; dx++) {
      const px = peak.x + dx;
      if (px < 0 || px >= map.width) continue;
      const value = at(map, px, peak.y + dy) ** 2;
      sum += value;
      x += value * px;
      y += value * (peak.y + dy);
    }
  }
  return { x: x / sum, y: y / sum };
}
