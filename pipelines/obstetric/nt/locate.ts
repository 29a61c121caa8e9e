import type { GrayImage } from '../../contract/image.ts';
import type { Rectangle } from '../../contract/study.ts';
import { type Placement, toSource } from '../../inference/letterbox.ts';
import { mirroredMaps } from '../../inference/mirrored-maps.ts';
import type { ModelSession } from '../../inference/session.ts';
import { largestRegion, type Region, type SoftMask } from '../../measure/soft-mask.ts';
import {
  type LocatedBox,
  type LocatedMidsagittal,
  MIDSAGITTAL_STRUCTURES,
  type MidsagittalStructure,
} from './evidence.ts';

/**
 * Name of the model's channel for each structure, which is the name of the structure in the data
 * set.
 */
const CHANNEL_OF: Readonly<Record<MidsagittalStructure, string>> = {
  thalami: 'thalami',
  midbrain: 'midbrain',
  palate: 'palate',
  'intracranial-translucency': 'IT',
  'cisterna-magna': 'CM',
  'nuchal-translucency': 'NT',
  'nasal-bone': 'nasal bone',
  'nasal-tip': 'nasal tip',
  'nasal-skin': 'nasal skin',
};

/**
 * Returns the boxes of the structures on each first-trimester mid-sagittal image, located by the
 * model `fetal-midsagittal`.
 */
export async function locateMidsagittal(
  session: ModelSession,
  images: readonly GrayImage[],
): Promise<LocatedMidsagittal[]> {
  const maps = await mirroredMaps(session, images);
  return maps.map(({ placement, map }) => {
    const found: LocatedMidsagittal = {};
    for (const structure of MIDSAGITTAL_STRUCTURES) {
      const box = boxOfMask(map(CHANNEL_OF[structure]), placement, session.model.gate);
      if (box) found[structure] = box;
    }
    return found;
  });
}

/**
 * Returns the box of a mask; null for an empty mask. The model was trained to draw the ellipse that
 * touches the four sides of the box. For a filled ellipse, the half width is two standard
 * deviations, so the box is calculated from the standard deviations of the mask. The confidence is
 * the mean of the mask over its region.
 */
function boxOfMask(mask: SoftMask, placement: Placement, gate: number): LocatedBox | null {
  const region = largestRegion(mask);
  if (!region) return null;
  const { mean, xx, yy } = region;
  // A pixel is a square rather than a point, which adds a variance of 1/12 along each axis.
  const halfWidth = 2 * Math.sqrt(xx + 1 / 12);
  const halfHeight = 2 * Math.sqrt(yy + 1 / 12);
  const from = toSource(placement, { x: mean.x - halfWidth, y: mean.y - halfHeight });
  const to = toSource(placement, { x: mean.x + halfWidth, y: mean.y + halfHeight });
  const box: Rectangle = { minX: from.x, minY: from.y, maxX: to.x, maxY: to.y };
  const confidence = meanInside(region);
  return { box, confidence, accepted: confidence >= gate };
}

function meanInside({ mask }: Region): number {
  const inside = mask.values.filter((value) => value >= 0.5);
  return inside.reduce((sum, value) => sum + value, 0) / inside.length;
}
