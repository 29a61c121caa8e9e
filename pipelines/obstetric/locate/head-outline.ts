import type { GrayImage } from '../../contract/image.ts';
import type { ModelSession } from '../../inference/session.ts';
import { locateOutline, type Outline } from './outline.ts';

/** The outer border of the skull (ISUOG 2019) on axial head planes, by `fetal-head`. */
export function locateHeadOutline(
  session: ModelSession,
  images: readonly GrayImage[],
): Promise<(Outline | null)[]> {
  return locateOutline(session, images);
}
