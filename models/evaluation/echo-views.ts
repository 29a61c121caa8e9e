import type { GrayImage } from '../../pipelines/contract/image.ts';
import { showsRightHeart } from '../../pipelines/echo/locate/chambers.ts';
import { familyOf } from '../../pipelines/echo/locate/names.ts';
import { sectorOf } from '../../pipelines/echo/locate/sector.ts';
import { nameView, type ViewEstimate } from '../../pipelines/echo/locate/view.ts';
import type { ModelSession } from '../../pipelines/inference/session.ts';
import { mean, round } from './agreement.ts';

/** One clip and its view. The view is `other` if the clip does not show a view of a heart. */
export interface ViewCase {
  view: string;
  frames: readonly GrayImage[];
}

interface Named {
  view: string;
  found: ViewEstimate;
}

/**
 * Identifies the view of each clip as the product does: within its fan, from the mean over its
 * frames. `chambers` outlines the right heart of doubtful clips.
 */
export async function nameClips(
  session: ModelSession,
  chambers: ModelSession,
  cases: readonly ViewCase[],
): Promise<Named[]> {
  const named: Named[] = [];
  for (const { view, frames } of cases) {
    const found = await nameView(session, frames, sectorOf(frames), (images, area) =>
      showsRightHeart(chambers, images, area),
    );
    named.push({ view, found });
  }
  return named;
}

/**
 * Returns the share of clips of each view that were identified correctly (`found`), the number of
 * clips below the gate, the share of all identifications that are correct, and the confusions. The
 * label PSAX is correct for every level of the short axis.
 */
export function viewAgreement(named: readonly Named[]) {
  const isRight = ({ view, found }: Named) =>
    found.view === view || (found.view !== 'other' && familyOf(found.view) === view);
  const views = [...new Set(named.map(({ view }) => view))];
  const shown = named.filter(({ found }) => found.view !== 'other');
  const recall = views.map((view) => {
    const own = named.filter((one) => one.view === view);
    return [view, round(mean(own.map((one) => (isRight(one) ? 1 : 0))), 4)];
  });
  const confusions: Record<string, number> = {};
  for (const one of shown) {
    if (isRight(one)) continue;
    const { view, found } = one;
    const key = `${view} as ${found.view}`;
    confusions[key] = (confusions[key] ?? 0) + 1;
  }
  return {
    clips: named.length,
    belowGate: named.filter(({ found }) => found.belowGate !== null).length,
    namedRightly:
      shown.length === 0 ? null : round(mean(shown.map((one) => (isRight(one) ? 1 : 0))), 4),
    found: Object.fromEntries(recall),
    confusions,
  };
}

/**
 * Returns the temperature with the smallest mean negative log likelihood on labelled clips (Guo
 * 2017).
 */
export function bestTemperature(
  logits: readonly (readonly number[])[],
  labels: readonly number[],
): number {
  const loss = (temperature: number) =>
    mean(
      logits.map((row, i) => {
        const highest = Math.max(...row);
        const sum = row.reduce((total, v) => total + Math.exp((v - highest) / temperature), 0);
        return Math.log(sum) - ((row[labels[i] ?? 0] ?? 0) - highest) / temperature;
      }),
    );
  const tried = Array.from({ length: 40 }, (_, i) => round(0.3 * 1.06 ** i, 2));
  return tried.reduce((best, one) => (loss(one) < loss(best) ? one : best));
}
