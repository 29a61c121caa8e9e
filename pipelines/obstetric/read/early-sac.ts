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

/** What looks like a sac in an image, the likeliest first; empty where nothing does. */
export function locateSacs(image: GrayImage): LocatedSac[] {
  const factor = Math.max(1, Math.round(Math.max(image.width, image.height) / SAC.searchSide));
  const small = smoothed(reduced(image, factor), 1);
  const ellipses = findSacEllipses(small);
  if (ellipses.length === 0) return [];
  const fine = smoothed(image, Math.max(1, Math.round(factor / 2)));
  return ellipses.flatMap((ellipse) => traced(ellipse, small, fine, factor) ?? []);
}

/** A candidate of the small image as a sac of the fine one; null where it proves to be none. */
function traced(
  candidate: Ellipse,
  small: GrayImage,
  fine: GrayImage,
  factor: number,
): LocatedSac | null {
  const levels = ringLevels(small, candidate);
  if (levels.outside - levels.inside < CONTRAST) return null;
  const half = (levels.inside + levels.outside) / 2;
  if (embedded(small, candidate, half) < SAC.embedded) return null;
  const { centre, a, b, angle } = candidate;
  const found: Ellipse = {
    centre: { x: (centre.x + 0.5) * factor - 0.5, y: (centre.y + 0.5) * factor - 0.5 },
    a: a * factor,
    b: b * factor,
    angle,
  };
  const border = traceSac(fine, found, levels);
  if (!border) return null;
  const { ellipse, met } = border;
  const contrast = Math.min(1, (levels.outside - levels.inside) / (2 * CONTRAST));
  const round = ellipse.b / ellipse.a >= ROUNDNESS ? 1 : 0;
  const confidence = met * contrast * round;
  return { ellipse, levels, confidence, accepted: confidence >= SAC.gate };
}
