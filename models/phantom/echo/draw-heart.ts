import { createHeart, type Heart } from '../heart/heart.ts';
import { drawHeart, type HeartRequest } from '../heart/sizes.ts';
import type { Random } from '../random.ts';

/**
 * Samples the motion of the 17 segments. One territory of one to three neighbouring walls, from
 * apex to base, hardly moves or moves outwards.
 */
function stillTerritory(random: Random): readonly number[] {
  const from = random.integer(0, 5);
  const wide = random.integer(1, 3);
  const motion = random.range(-0.15, 0.5);
  return Array.from({ length: 17 }, (_, i) => {
    const wall = i < 12 ? i % 6 : ((i - 12) * 6) / 4;
    return (wall - from + 6) % 6 < wide ? motion : 1;
  });
}

/**
 * Randomly picks the properties of a heart. Some hearts are surrounded by fluid, and some have a
 * territory that does not move.
 */
function drawRequest(random: Random): HeartRequest {
  const request: HeartRequest = {};
  if (random.chance(0.12)) request.effusionMm = random.range(4, 26);
  if (random.chance(0.3)) {
    request.segments = stillTerritory(random);
    request.ejectionFraction = random.range(0.1, 0.5);
  }
  return request;
}

const ATTEMPTS = 20;

/**
 * Randomly picks a heart for training. A few in a thousand cannot eject the requested volume with
 * so many akinetic segments. These are rejected, and another heart is picked.
 */
export function drawBeatingHeart(random: Random): Heart {
  for (let attempt = 0; ; attempt++) {
    const own = random.fork(`attempt ${attempt}`);
    try {
      return createHeart(drawHeart(own.fork('heart'), drawRequest(own.fork('request'))));
    } catch (error) {
      if (!(error instanceof RangeError) || attempt > ATTEMPTS) throw error;
    }
  }
}
