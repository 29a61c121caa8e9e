import type { EchoEvidence } from '../section.ts';
import { familyOf } from '../view-names.ts';

/** Why nothing was measured on a parasternal long axis, as a sentence; null where something was. */
export function parasternalGap({
  clips,
  views,
}: Pick<EchoEvidence, 'clips' | 'views'>): string | null {
  const { parasternal } = views;
  if (parasternal === null) {
    return 'The parasternal clips could not be analysed because of an internal error.';
  }
  if (!clips.some(({ view }) => view !== null && familyOf(view) === 'PLAX')) {
    return 'No PLAX clip was found.';
  }
  if (parasternal.clips === null) return 'No permitted model measures the parasternal long axis.';
  const own = parasternal.clips.filter(({ family }) => family === 'PLAX');
  if (own.some(({ frames }) => frames.some(({ lines }) => lines.cavity))) return null;
  return 'The PLAX clips show no lines that can be relied on.';
}
