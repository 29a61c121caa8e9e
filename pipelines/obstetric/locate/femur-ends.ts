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

/**
 * The pair of peaks of the end map with the most bone between them: each pixel on the line counts
 * for it where bone is likelier than not, against it elsewhere. So the pair spans the whole shaft,
 * and no more than the shaft.
 */
export function endsOfMaps(
  shaft: SoftMask,
  ends: SoftMask,
  placement: Placement,
  gate: number,
): FemurEnds | null {
  const peaks = highestPeaks(ends);
  const pairs = peaks.flatMap((one, i) =>
    peaks.slice(i + 1).map((other) => pairOf(shaft, one, other)),
  );
  const candidates = pairs.filter(({ length }) => length >= SHORTEST);
  if (candidates.length === 0) return null;
  const best = candidates.reduce((a, b) => (b.score > a.score ? b : a));
  const first = toSource(placement, centreOfMass(ends, best.one));
  const second = toSource(placement, centreOfMass(ends, best.other));
  return {
    ends: first.x <= second.x ? [first, second] : [second, first],
    confidence: best.confidence,
    accepted: best.confidence >= gate,
  };
}

type Peak = Point & { value: number };

function pairOf(shaft: SoftMask, one: Peak, other: Peak) {
  const length = Math.hypot(one.x - other.x, one.y - other.y);
  const bone = meanAlong(shaft, one, other);
  const ends = one.value * other.value;
  const score = Math.sqrt(ends) * length * (2 * bone - 1);
  return { one, other, length, score, confidence: Math.cbrt(ends * bone) };
}

function highestPeaks(map: SoftMask): Peak[] {
  const peaks: Peak[] = [];
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
