import type { EchoViewId } from '../../../../models/phantom/echo/view.ts';
import { ECHO_VIEWS } from '../../../../models/phantom/echo/views.ts';
import type { PhantomFrame } from '../../../../models/phantom/frame.ts';
import { createHeart } from '../../../../models/phantom/heart/heart.ts';
import { drawHeart } from '../../../../models/phantom/heart/sizes.ts';
import { createRandom } from '../../../../models/phantom/random.ts';
import type { GrayImage } from '../../../../pipelines/contract/image.ts';

/**
 * Simulates frames of a phantom in a good window, starting at the R wave, without the masks of its
 * structures: to calculate them takes as long as to calculate the images.
 */
export function phantomClip(view: EchoViewId, seed: number, frames = 1): PhantomFrame[] {
  const heart = createHeart(drawHeart(createRandom(seed), {}));
  return ECHO_VIEWS[view].simulate({ heart, seed, frames, frameTimeMs: 120, masks: false });
}

export const imageOf = ({ columns, rows, gray }: PhantomFrame): GrayImage => ({
  width: columns,
  height: rows,
  data: gray,
});
