import type { GrayImage } from '../../contract/image.ts';
import { type Placement, toSource } from '../../inference/letterbox.ts';
import { mirroredMaps } from '../../inference/mirrored-maps.ts';
import type { ModelSession } from '../../inference/session.ts';
import { outlineOf } from '../../measure/outline.ts';
import { insideOf, type SoftMask } from '../../measure/soft-mask.ts';
import { type Outline, outlineOfMask } from '../shared/outline.ts';
import type { LocatedBorder, LocatedSymphysisHead, LocatedTransperineal } from './evidence.ts';

/**
 * The border of the mask itself, whose overlap with the reference the model card states; the
 * ellipse used for the geometry cuts off whatever is not elliptic. Null where the mask is too
 * small.
 */
function borderOf(
  mask: SoftMask,
  placement: Placement,
  { confidence, accepted }: Outline,
): LocatedBorder | null {
  const border = outlineOf(insideOf(mask), mask.width, mask.height);
  return border && { border: border.map((p) => toSource(placement, p)), confidence, accepted };
}

/**
 * Locates pubic symphysis and fetal head on each transperineal image by `symphysis-head`. The less
 * certain of the two decides whether the pair is accepted; each border is judged separately.
 */
export async function locateTransperineal(
  session: ModelSession,
  images: readonly GrayImage[],
): Promise<LocatedTransperineal[]> {
  const { model } = session;
  const { width, height } = model.input;
  const maps = await mirroredMaps(session, images);
  return maps.map(({ placement, channels }) => {
    const found = (name: string) => {
      const values = channels[model.output.channels.indexOf(name)] ?? new Float32Array();
      const mask = { width, height, values };
      const outline = outlineOfMask(mask, placement, model.gate);
      return outline && { outline, border: borderOf(mask, placement, outline) };
    };
    const symphysis = found('symphysis');
    const head = found('head');
    return {
      pair: symphysis && head && pairOf(symphysis.outline, head.outline),
      borders: {
        ...(symphysis?.border && { symphysis: symphysis.border }),
        ...(head?.border && { 'fetal-head': head.border }),
      },
    };
  });
}

function pairOf(symphysis: Outline, head: Outline): LocatedSymphysisHead {
  return {
    symphysis: symphysis.ellipse,
    head: head.ellipse,
    skull: head.boundary,
    confidence: Math.min(symphysis.confidence, head.confidence),
    accepted: symphysis.accepted && head.accepted,
  };
}

/** Locates both structures as a pair; null where one of them was not found. */
export async function locateSymphysisHead(
  session: ModelSession,
  images: readonly GrayImage[],
): Promise<(LocatedSymphysisHead | null)[]> {
  const located = await locateTransperineal(session, images);
  return located.map(({ pair }) => pair);
}
