import type { Screen } from '../acquisition.ts';
import type { HeartShot } from '../heart/frame.ts';
import { drawLook } from '../heart/look.ts';
import { drawMachine, drawSector } from '../heart/machine.ts';
import {
  type ApicalView,
  apicalPlane,
  longAxisPlane,
  shortAxisPlane,
  subcostalPlane,
} from '../heart/planes.ts';
import type { HeartSizes } from '../heart/sizes.ts';
import type { ImagePlane } from '../heart/space.ts';
import type { Random } from '../random.ts';

/**
 * Recording quality of a clip. With 0, it varies as widely as in the training images; 1 is a good
 * window and a steady hand.
 */
export interface Care {
  clarity: number;
}

/**
 * Randomly picks an apical view. The sector either includes the whole atria or cuts them off. In a
 * quarter of the training images, the mitral plane is deep, as in dilated ventricles.
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

/** Distance in mm below the long axis that must be visible: posterior wall, fluid and a margin. */
const belowAxisMm = ({ ventricle, effusionMm }: HeartSizes) =>
  1.2 * ventricle.radiusMm + ventricle.lateralWallMm + effusionMm + 32;

/** Distance in mm above the long axis that must be visible: right ventricle and chest wall. */
const aboveAxisMm = ({ ventricle, rightVentricle, effusionMm }: HeartSizes) =>
  ventricle.radiusMm + ventricle.septalWallMm + 0.55 * rightVentricle.basalMm + effusionMm / 2 + 16;

function shotOf(
  plane: ImagePlane,
  depthMm: number,
  screen: Screen,
  random: Random,
  clarity: number,
): HeartShot {
  const sector = drawSector(random.fork('sector'), depthMm, clarity);
  const look = drawLook(random.fork('look'), clarity);
  return {
    plane,
    acquisition: drawMachine(sector, screen, random.fork('machine'), clarity),
    // In this view the apex is beside the near field, not in it.
    look: { ...look, apexDark: { ...look.apexDark, strength: 0 } },
    lines: 128,
    samples: 288,
  };
}

/**
 * Randomly picks a parasternal long axis. The probe is over the mitral valve. The left atrium and
 * the aorta are on the right of the screen.
 */
export function longAxisShot(
  sizes: HeartSizes,
  screen: Screen,
  random: Random,
  { clarity }: Care,
): HeartShot {
  const hand = random.fork('hand');
  const loose = 1 - clarity;
  const axisDepthMm = aboveAxisMm(sizes) * hand.range(1, 1.1 + 0.25 * loose);
  const plane = longAxisPlane({
    axisDepthMm,
    aboveZ: sizes.ventricle.lengthMm * hand.range(0.05, 0.25),
    lean: hand.normal(-4, 2 + 6 * loose),
    turn: hand.normal(0, 0.5 + 5 * loose),
    asideMm: hand.normal(0, 0.3 + 2 * loose),
  });
  const depthMm = axisDepthMm + belowAxisMm(sizes) * hand.range(1, 1.15 + 0.2 * loose);
  return shotOf(plane, depthMm, screen, random, clarity);
}

/** Randomly picks a parasternal short axis at height `z` of the heart. */
export function shortAxisShot(
  z: number,
  sizes: HeartSizes,
  screen: Screen,
  random: Random,
  { clarity }: Care,
): HeartShot {
  const hand = random.fork('hand');
  const loose = 1 - clarity;
  const axisDepthMm = aboveAxisMm(sizes) * hand.range(0.9, 1 + 0.25 * loose);
  const plane = shortAxisPlane(z, {
    axisDepthMm,
    lean: hand.normal(0, 1 + 6 * loose),
    turn: hand.normal(0, 3 + 9 * loose),
    asideMm: hand.normal(0, 2 + 6 * loose),
  });
  const depthMm = axisDepthMm + belowAxisMm(sizes) * hand.range(0.85, 1 + 0.25 * loose);
  return shotOf(plane, depthMm, screen, random, clarity);
}

/** Randomly picks a subcostal view of the four chambers through a few centimetres of liver. */
export function subcostalShot(
  sizes: HeartSizes,
  screen: Screen,
  random: Random,
  { clarity }: Care,
): HeartShot {
  const hand = random.fork('hand');
  const loose = 1 - clarity;
  const { ventricle, rightVentricle } = sizes;
  const depthMm =
    ventricle.radiusMm + ventricle.septalWallMm + rightVentricle.basalMm + hand.range(28, 42);
  const plane = subcostalPlane(sizes, {
    depthMm,
    lean: hand.normal(18, 4 + 4 * loose),
    turn: hand.normal(0, 3 + 6 * loose),
  });
  const shot = shotOf(plane, depthMm + belowAxisMm(sizes), screen, random, clarity);
  // There is liver, not lung, in front of the heart.
  const { look } = shot;
  return {
    ...shot,
    look: { ...look, outside: look.myocardium - 1, texture: { ...look.texture, outside: 2 } },
  };
}
