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

/**
 * The plane of each image. An image named a head is looked at again: the head is outlined, and the
 * axial plane is decided on the head alone, which shows more of it than the whole image does.
 */
export async function namePlanes(
  { plane, head, brainPlane }: PlaneSessions,
  images: readonly GrayImage[],
): Promise<GatedPlane[]> {
  const estimates = await classifyPlanes(plane, images);
  if (!head || !brainPlane) return estimates;
  const isHead = estimates.map(({ label }) => HEAD_PLANES.includes(label));
  const outlines = await locateOutline(
    head,
    images.filter((_, n) => isHead[n]),
  );
  const named: GatedPlane[] = [];
  for (const [n, estimate] of estimates.entries()) {
    const image = images[n];
    const outline = isHead[n] ? outlines.shift() : null;
    named.push(
      image && outline
        ? withHeadPlane(estimate, await headPlaneShares(brainPlane, image, outline.ellipse))
        : estimate,
    );
  }
  return named;
}
