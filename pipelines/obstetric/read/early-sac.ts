import type { Ellipse, GrayImage } from '../../contract/image.ts';
import { reduced, smoothed } from '../../measure/blobs.ts';
import { traceSac } from './sac-border.ts';
import { CONTRAST, embedded, type RingLevels, ringLevels } from './sac-ring.ts';
import { findSacEllipses, ROUNDNESS } from './sac-search.ts';

/**
 * A gestational sac by image analysis: echo-free, closed, with a bright ring all around it
 * (trophoblast and decidua), nearly elliptic. Developed on simulated images only.
 */
export interface LocatedSac {
  /** Inner border, in pixels of the image. */
  ellipse: Ellipse;
  levels: RingLevels;
  confidence: number;
  accepted: boolean;
}

const SAC = {
  /** Longer side of the image on which the search runs, pixels. */
  searchSide: 320,
  /** Share of directions in which the tissue behind the ring must be bright. */
  embedded: 0.86,
  gate: 0.7,
} as const;

/**
 * What looks like a sac in an image, the likeliest first; empty where nothing does. One that proves to
 * be none stays in its place, not accepted: what comes after it was less like a sac.
 */
export function locateSacs(image: GrayImage): LocatedSac[] {
  const factor = Math.max(1, Math.round(Math.max(image.width, image.height) / SAC.searchSide));
  const small = smoothed(reduced(image, factor), 1);
  const ellipses = findSacEllipses(small);
  if (ellipses.length === 0) return [];
  const fine = smoothed(image, Math.max(1, Math.round(factor / 2)));
  return ellipses.map((ellipse) => traced(ellipse, small, fine, factor));
}

/** A candidate of the small image as a sac of the fine one. */
function traced(candidate: Ellipse, small: GrayImage, fine: GrayImage, factor: number): LocatedSac {
  const levels = ringLevels(small, candidate);
  const { centre, a, b, angle } = candidate;
  const found: Ellipse = {
    centre: { x: (centre.x + 0.5) * factor - 0.5, y: (centre.y + 0.5) * factor - 0.5 },
    a: a * factor,
    b: b * factor,
    angle,
  };
  const none = { ellipse: found, levels, confidence: 0, accepted: false };
  if (levels.outside - levels.inside < CONTRAST) return none;
  const half = (levels.inside + levels.outside) / 2;
  if (embedded(small, candidate, half) < SAC.embedded) return none;
  const border = traceSac(fine, found, levels);
  if (!border) return none;
  const { ellipse, met } = border;
  const contrast = Math.min(1, (levels.outside - levels.inside) / (2 * CONTRAST));
  const round = ellipse.b / ellipse.a >= ROUNDNESS ? 1 : 0;
  const confidence = met * contrast * round;
  return { ellipse, levels, confidence, accepted: confidence >= SAC.gate };
}
