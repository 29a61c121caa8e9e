import type { GrayImage } from '../../contract/image.ts';
import type { Rectangle } from '../../contract/study.ts';
import { cropped } from '../../inference/cropped.ts';
import { letterbox } from '../../inference/letterbox.ts';
import type { ModelSession } from '../../inference/session.ts';
import { labelsOf, withoutSpecks } from './label-map.ts';

/** Structures of a parasternal or subcostal frame, in the order of their labels from 1 on. */
export const PARASTERNAL_STRUCTURES = [
  'lv',
  'myocardium',
  'la',
  'rv',
  'ra',
  'aorta',
  'pulmonary-artery',
  'effusion',
] as const;
export type ParasternalStructure = (typeof PARASTERNAL_STRUCTURES)[number];

/** Labels lie on stored pixels, from the upper left corner of `area`. */
export interface ParasternalMasks {
  area: Rectangle;
  width: number;
  height: number;
  /** Row by row: 0 ground, then the structures. */
  labels: Uint8Array;
  /** Mean probability over the pixels of a structure; 0 where it was not found. */
  confidence: Readonly<Record<ParasternalStructure, number>>;
  /** Whether the LV cavity reaches the gate of the model. */
  accepted: boolean;
}

/** The label of a structure in `ParasternalMasks.labels`. */
export const parasternalLabel = (structure: ParasternalStructure): number =>
  PARASTERNAL_STRUCTURES.indexOf(structure) + 1;

/** Septum and posterior wall are apart where the picture does not reach the apex. */
const TWOFOLD = [parasternalLabel('myocardium'), parasternalLabel('effusion')];

/**
 * The structures of each frame of a parasternal (long or short axis) or subcostal view by
 * `echo-parasternal`. `area` is the fan (sector.ts), the same for all frames of a clip.
 */
export async function segmentParasternal(
  session: ModelSession,
  images: readonly GrayImage[],
  area: Rectangle,
): Promise<ParasternalMasks[]> {
  const { input, output, gate } = session.model;
  const grid = { width: input.width, height: input.height, classes: output.channels.length };
  const width = area.maxX - area.minX + 1;
  const height = area.maxY - area.minY + 1;
  const boxes = images.map((image) => letterbox(cropped(image, area), input.width, input.height));
  const outputs = await session.run(boxes.map(({ pixels }) => pixels));
  return boxes.map(({ placement }, n) => {
    const found = labelsOf(outputs[n] ?? new Float32Array(), grid, placement, width, height);
    const { labels, confidence: shares } = withoutSpecks(found, TWOFOLD);
    const entries = PARASTERNAL_STRUCTURES.map((structure) => [
      structure,
      shares[parasternalLabel(structure)] ?? 0,
    ]);
    const confidence: Record<ParasternalStructure, number> = Object.fromEntries(entries);
    return { area, width, height, labels, confidence, accepted: confidence.lv >= gate };
  });
}
