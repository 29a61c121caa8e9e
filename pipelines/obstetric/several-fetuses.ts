import type { ObstetricEvidence } from './section.ts';
import { readPresentation } from './sections/presentation.ts';

/** Why images that name no fetus are not put together; `null`: nothing tells of more than one. */
export function severalFetuses({
  study,
  views,
}: Pick<ObstetricEvidence, 'study' | 'views'>): string | null {
  const named = new Set((study.cart ?? []).flatMap(({ fetus }) => fetus ?? []));
  const swept = (views.presentation?.sweeps ?? [])
    .filter(({ direction }) => direction !== null)
    .map((sweep) => readPresentation(sweep).fetuses);
  const told =
    named.size > 1
      ? 'the reports of the ultrasound machine name several fetuses'
      : Math.max(0, ...swept) > 1
        ? 'a sweep shows more than one fetus'
        : null;
  return told && `${told}, and the images do not say which one they show`;
}
