import type { GrayImage } from '../../contract/image.ts';
import type { ModelSession } from '../../inference/session.ts';
import { locateOutline, type Outline } from './outline.ts';

/** The outer skin (ISUOG 2019) on the abdominal circumference plane, by `fetal-abdomen`. */
export function locateAbdomenOutline(
  session: ModelSession,
  images: readonly GrayImage[],
): Promise<(Outline | null)[]> {
  return locateOutline(session, images);
}
