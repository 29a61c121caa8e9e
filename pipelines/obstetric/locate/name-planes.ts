import type { GrayImage } from '../../contract/image.ts';
import type { ModelSession } from '../../inference/session.ts';
import { headPlaneShares, withHeadPlane } from './brain-plane.ts';
import { locateOutline } from './outline.ts';
import { classifyPlanes, type GatedPlane, HEAD_PLANES } from './plane.ts';

export interface PlaneSessions {
  plane: ModelSession;
  /** Without these two the axial head planes are told apart by the whole image alone. */
  head: ModelSession | null;
  brainPlane: ModelSession | null;
}

/** Share of one axial plane among the three from which a second look is not worth its time. */
const CERTAIN = 0.95;

/** Whether an image is a head, and which of the axial planes it is stands open. */
function isOpen({ label, confidence, groupConfidence }: GatedPlane): boolean {
  return HEAD_PLANES.includes(label) && confidence < CERTAIN * groupConfidence;
}

/**
 * The plane of each image. A head whose axial plane stands open is looked at again: it is outlined,
 * and the plane is decided on the head alone, which shows more of it than the whole image does.
 */
export async function namePlanes(
  { plane, head, brainPlane }: PlaneSessions,
  images: readonly GrayImage[],
): Promise<GatedPlane[]> {
  const estimates = await classifyPlanes(plane, images);
  if (!head || !brainPlane) return estimates;
  const open = estimates.map(isOpen);
  const outlines = await locateOutline(
    head,
    images.filter((_, n) => open[n]),
  );
  const named: GatedPlane[] = [];
  for (const [n, estimate] of estimates.entries()) {
    const image = images[n];
    const outline = open[n] ? outlines.shift() : null;
    named.push(
      image && outline
        ? withHeadPlane(estimate, await headPlaneShares(brainPlane, image, outline.ellipse))
        : estimate,
    );
  }
  return named;
}
