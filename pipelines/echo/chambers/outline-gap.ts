import type { EchoEvidence } from '../section.ts';
import { APICAL_VIEWS, type ApicalView } from './chamber-clip.ts';

/**
 * Why nothing was measured on the outlines of the chambers in some views, as a sentence; null where
 * something was.
 */
export function outlineGap(
  { clips, views, heart }: Pick<EchoEvidence, 'clips' | 'views' | 'heart'>,
  wanted: readonly ApicalView[] = APICAL_VIEWS,
): string | null {
  const names = wanted.join(', ').replace(/, ([^,]*)$/, ' or $1');
  if (wanted.some((view) => heart.clips[view] !== null)) return null;
  if (views.apical === null) {
    return 'The apical clips could not be analysed because of an internal error.';
  }
  if (views.apical.clips === null) return 'No permitted model outlines the chambers of the heart.';
  const own = clips.filter(({ view }) => wanted.some((one) => one === view));
  if (own.length === 0) return `Not assessed: no ${names} clip was found.`;
  return `The ${names} clips show no whole beat with outlines that can be relied on.`;
}
