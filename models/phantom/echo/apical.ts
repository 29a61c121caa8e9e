import type { Screen } from '../acquisition.ts';
import type { HeartShot } from '../heart/frame.ts';
import { drawLook } from '../heart/look.ts';
import { drawMachine, drawSector } from '../heart/machine.ts';
import { type ApicalView, apicalPlane } from '../heart/planes.ts';
import type { HeartSizes } from '../heart/sizes.ts';
import type { Random } from '../random.ts';

/** How carefully the clip was taken: 0 as widely as for training, 1 a good window and a steady hand. */
export interface Care {
  clarity: number;
}

/**
 * An apical view: the sector is as deep as the atria or cuts them off, and in a quarter of the
 * training images the mitral plane lies deep (dilated ventricles do).
 */
export function apicalShot(
  view: ApicalView,
  sizes: HeartSizes,
  screen: Screen,
  random: Random,
  { clarity }: Care = { clarity: 0 },
): HeartShot {
  const hand = random.fork('hand');
  const { lengthMm } = sizes.ventricle;
  const loose = 1 - clarity;
  const apexDepthMm = lengthMm * hand.range(0.14 + 0.1 * clarity, 0.32 + 0.2 * loose);
  const share = hand.chance(0.25 * loose) ? hand.range(0.84, 1.02) : hand.range(0.5, 0.8);
  const depthMm = Math.min(260, Math.max(85, (apexDepthMm + lengthMm) / share));
  const sector = drawSector(random.fork('sector'), depthMm, clarity);
  const plane = apicalPlane(view, sizes, {
    apexDepthMm,
    apexRightMm: hand.normal(0, 0.03 + 0.04 * loose) * depthMm,
    lean: Math.max(-28, Math.min(34, hand.normal(4, 3 + 7 * loose))),
    turn: hand.normal(0, 2 + 5 * loose),
    sweep: hand.normal(0, 0.5 + 2.5 * loose),
  });
  return {
    plane,
    acquisition: drawMachine(sector, screen, random.fork('machine'), clarity),
    look: drawLook(random.fork('look'), clarity),
    lines: 128,
    samples: 288,
  };
}
