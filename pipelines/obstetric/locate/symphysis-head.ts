import type { GrayImage } from '../../contract/image.ts';
import type { ModelSession } from '../../inference/session.ts';
import type { LocatedSymphysisHead } from '../locator.ts';
import { mirroredMaps } from './mirrored-maps.ts';
import { outlineOfMask } from './outline.ts';

/**
 * Pubic symphysis and fetal head of each transperineal image by `symphysis-head`; null where one of
 * them was not found. The less certain of the two decides whether both are accepted.
 */
export async function locateSymphysisHead(
  session: ModelSession,
  images: readonly GrayImage[],
): Promise<(LocatedSymphysisHead | null)[]> {
  const { model } = session;
  const { width, height } = model.input;
  const maps = await mirroredMaps(session, images);
  return maps.map(({ placement, channels }) => {
    const outlineOf = (name: string) => {
      const values = channels[model.output.channels.indexOf(name)] ?? new Float32Array();
      return outlineOfMask({ width, height, values }, placement, model.gate);
    };
    const symphysis = outlineOf('symphysis');
    const head = outlineOf('head');
    if (!symphysis || !head) return null;
    return {
      symphysis: symphysis.ellipse,
      head: head.ellipse,
      skull: head.boundary,
      confidence: Math.min(symphysis.confidence, head.confidence),
      accepted: symphysis.accepted && head.accepted,
    };
  });
}
