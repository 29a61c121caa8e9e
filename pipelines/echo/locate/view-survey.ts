import { inParallel } from '../../../src/platform/in-parallel.ts';
import type { Clip, Rectangle, Study } from '../../contract/study.ts';
import { DECODING, spreadImages } from '../../input/decode-frames.ts';
import { headerView, isUnderStress } from './header-view.ts';
import type { HeartLocator } from './heart-locator.ts';
import { type HeartView, isPicture } from './names.ts';
import type { ClipView } from './reader.ts';
import { sectorOf } from './sector.ts';
import type { ViewEstimate } from './view.ts';

const FRAMES = 3;

/**
 * Returns the largest region with a scale, in which to search for the fan. Undefined if there is
 * none; the whole frame is then searched.
 */
function searched({ regions }: Clip): Rectangle | undefined {
  const size = ({ minX, minY, maxX, maxY }: Rectangle) => (maxX - minX) * (maxY - minY);
  return regions.map(({ area }) => area).toSorted((one, other) => size(other) - size(one))[0];
}

/**
 * A fan that covers at least this share of the frame's width and of its height counts as filling
 * the whole frame.
 */
const WHOLE = 0.98;

const coversFrame = (fan: Rectangle, { width, height }: Clip): boolean =>
  fan.maxX - fan.minX + 1 >= WHOLE * width && fan.maxY - fan.minY + 1 >= WHOLE * height;

const nameableView = (view: ViewEstimate['view'] | null): HeartView | null =>
  view === 'other' ? null : view;

async function surveyClip(
  clip: Clip,
  locator: HeartLocator,
  signal: AbortSignal,
): Promise<ClipView> {
  const named = headerView(clip);
  const none: ClipView = {
    clip,
    view: named,
    source: named && 'header',
    confidence: null,
    belowGate: null,
    unseparated: false,
    underStress: isUnderStress(clip),
    fan: null,
  };
  if (!isPicture(clip)) return none;
  const images = await spreadImages(clip, FRAMES, signal);
  if (images.length === 0) return none;
  const fan = sectorOf(images, searched(clip));
  if (named) {
    // Colour clips are not measured, so their names are not examined.
    const examine = clip.mode === 'colour' ? null : locator.contradictingView;
    const seen = (await examine?.(images, fan, named)) ?? null;
    return seen
      ? { ...none, fan, view: null, source: null, dispute: { named, seen } }
      : { ...none, fan };
  }
  if (!locator.nameView) return { ...none, fan };
  const { view, confidence, belowGate } = await locator.nameView(images, fan);
  const own = nameableView(view);
  return {
    ...none,
    fan,
    unseparated: clip.regions.length === 0 && coversFrame(fan, clip),
    view: own,
    source: own && 'model',
    confidence,
    belowGate: nameableView(belowGate),
  };
}

/**
 * Determines the view of every clip from the header or, if it states none, with the classifier on a
 * few frames. The classifier also examines whether the frames contradict the header. `progress`
 * receives the completed share.
 */
export async function surveyViews(
  study: Study,
  locator: HeartLocator,
  signal: AbortSignal,
  progress: (share: number) => void,
): Promise<ClipView[]> {
  let done = 0;
  return inParallel(study.clips, DECODING.clips, async (clip) => {
    signal.throwIfAborted();
    const view = await surveyClip(clip, locator, signal);
    progress(++done / study.clips.length);
    return view;
  });
}
