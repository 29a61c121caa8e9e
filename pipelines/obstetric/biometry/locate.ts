import type { GrayImage } from '../../contract/image.ts';
import { type Placement, toSource } from '../../inference/letterbox.ts';
import { mirroredMaps } from '../../inference/mirrored-maps.ts';
import type { ModelSession } from '../../inference/session.ts';
import { centreOfMass, highestPeaks, meanAlong, type Peak } from '../../measure/peaks.ts';
import type { SoftMask } from '../../measure/soft-mask.ts';
import type { LocatedEnds } from '../shared/plane.ts';

const CANDIDATES = 8;
/** Minimum distance between the ends of a femur, in pixels of the network's grid. */
const SHORTEST = 8;

/**
 * Locates the ends of the femur on each image with the model `fetal-femur`; null if no pair of ends
 * was found.
 */
export async function locateFemurEnds(
  session: ModelSession,
  images: readonly GrayImage[],
): Promise<(LocatedEnds | null)[]> {
  const maps = await mirroredMaps(session, images);
  return maps.map(({ placement, map }) =>
    endsOfMaps(map('femur-shaft'), map('femur-ends'), placement, session.model.gate),
  );
}

/**
 * Returns the two peaks in the map of ends that have the most bone between them. On the line
 * between the peaks, each pixel raises the score if it is probably bone and lowers it otherwise, so
 * the best pair spans exactly the whole shaft. The method works for any structure measured from end
 * to end.
 */
export function endsOfMaps(
  shaft: SoftMask,
  ends: SoftMask,
  placement: Placement,
  gate: number,
  shortest = SHORTEST,
): LocatedEnds | null {
  const peaks = highestPeaks(ends, CANDIDATES);
  const pairs = peaks.flatMap((one, i) =>
    peaks.slice(i + 1).map((other) => pairOf(shaft, one, other)),
  );
  const candidates = pairs.filter(({ length }) => length >= shortest);
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

function pairOf(shaft: SoftMask, one: Peak, other: Peak) {
  const length = Math.hypot(one.x - other.x, one.y - other.y);
  const bone = meanAlong(shaft, one, other);
  const ends = one.value * other.value;
  const score = Math.sqrt(ends) * length * (2 * bone - 1);
  return { one, other, length, score, confidence: Math.cbrt(ends * bone) };
}
