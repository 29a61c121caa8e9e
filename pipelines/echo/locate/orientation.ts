import type { GrayImage } from '../../contract/image.ts';
import type { Rectangle } from '../../contract/study.ts';
import type { ModelSession } from '../../inference/session.ts';
import { CHAMBERS, type ChamberMasks, segmentChambers } from './chambers.ts';

/** How much surer the mirror image must be: the usual display is believed where the two are alike. */
const MARGIN = 0.01;

/**
 * Whether the display shows an apical view mirrored (right heart on the right, as some laboratories
 * do): whichever way `echo-chambers` outlines LV, myocardium and LA more surely. A few frames of a
 * clip are enough.
 */
export async function isMirrored(
  session: ModelSession,
  frames: readonly GrayImage[],
  area: Rectangle,
): Promise<boolean> {
  const straight = await segmentChambers(session, frames, area);
  const mirrored = await segmentChambers(session, frames, area, true);
  return certainty(mirrored) > certainty(straight) + MARGIN;
}

const LEFT_HEART = CHAMBERS.slice(0, 3);

function certainty(masks: readonly ChamberMasks[]): number {
  const values = masks.flatMap(({ confidence }) => LEFT_HEART.map((one) => confidence[one]));
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}
