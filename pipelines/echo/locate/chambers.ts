import type { GrayImage } from '../../contract/image.ts';
import type { Rectangle } from '../../contract/study.ts';
import { cropped } from '../../inference/cropped.ts';
import { letterbox } from '../../inference/letterbox.ts';
import type { ModelSession } from '../../inference/session.ts';
import { labelsOf, sizeOf, withoutSpecks } from './label-map.ts';
import { mirroredImage } from './sector.ts';
import { completeVentricle } from './ventricle-hull.ts';

/** Structures of a frame, in the order of their labels (1 to 5; 0 is the ground). */
export const CHAMBERS = ['lv', 'myocardium', 'la', 'rv', 'ra'] as const;
export type Chamber = (typeof CHAMBERS)[number];

/** Chambers of one frame. Labels lie on stored pixels, from the upper left corner of `area`. */
export interface ChamberMasks {
  area: Rectangle;
  width: number;
  height: number;
  /** Row by row: 0 ground, 1 LV cavity, 2 LV myocardium, 3 LA, 4 RV, 5 RA. */
  labels: Uint8Array;
  /** Mean probability over a chamber's pixels; 0 where it was not found. */
  confidence: Readonly<Record<Chamber, number>>;
  /** Whether the LV cavity reaches the gate of the model. */
  accepted: boolean;
}

/** The label of a chamber in `ChamberMasks.labels`. */
export const labelOf = (chamber: Chamber): number => CHAMBERS.indexOf(chamber) + 1;

/** Cavity and myocardium first. */
const LEFT_HEART = [labelOf('lv'), labelOf('myocardium'), labelOf('la')] as const;

/** Pixels of a chamber. */
export function areaOf(masks: ChamberMasks, chamber: Chamber): number {
  return sizeOf(masks, labelOf(chamber));
}

/**
 * The chambers of each frame by `echo-chambers`, which knows the fan apex up with the right heart on
 * the left (`mirrored`: the display shows it on the right). `area` is the fan (sector.ts), the same
 * for all frames of a clip.
 */
export async function segmentChambers(
  session: ModelSession,
  images: readonly GrayImage[],
  area: Rectangle,
  mirrored = false,
): Promise<ChamberMasks[]> {
  const { input, output, gate } = session.model;
  const grid = { width: input.width, height: input.height, classes: output.channels.length };
  const width = area.maxX - area.minX + 1;
  const height = area.maxY - area.minY + 1;
  const boxes = images.map((image) => {
    const crop = cropped(image, area);
    return letterbox(mirrored ? mirroredImage(crop) : crop, input.width, input.height);
  });
  const outputs = await session.run(boxes.map(({ pixels }) => pixels));
  return boxes.map(({ placement }, n) => {
    const shares = outputs[n] ?? new Float32Array();
    completeVentricle(shares, grid, LEFT_HEART);
    const found = labelsOf(shares, grid, placement, width, height);
    const { labels, confidence } = withoutSpecks(found);
    if (mirrored) mirrorRows(labels, width);
    const of = (chamber: Chamber) => confidence[labelOf(chamber)] ?? 0;
    return {
      area,
      width,
      height,
      labels,
      confidence: {
        lv: of('lv'),
        myocardium: of('myocardium'),
        la: of('la'),
        rv: of('rv'),
        ra: of('ra'),
      },
      accepted: of('lv') >= gate,
    };
  });
}

function mirrorRows(labels: Uint8Array, width: number): void {
  for (let start = 0; start < labels.length; start += width) {
    labels.subarray(start, start + width).reverse();
  }
}
