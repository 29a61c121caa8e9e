import { type Clip, type Frame, scaleFor } from '../../contract/study.ts';
import { extent } from '../../measure/ellipse.ts';
import { type CardiacActivity, cardiacActivity } from '../../measure/periodicity.ts';
import { grayFrames, type Reader, type ReaderInput } from '../shared/reader.ts';
import { namedView } from '../shared/view-names.ts';
import type { EarlyClip, EarlyFrame } from './evidence.ts';
import { EMBRYO_CLIP } from './evidence.ts';
import { locateContents } from './locate-contents.ts';
import { locateSacs } from './locate-sac.ts';

/**
 * Number of frames per clip on which sizes are measured. Cardiac activity is read from all frames.
 */
const FRAMES_PER_CLIP = 3;
const CLIPS = 8;
/**
 * Last day (13+6) on which a transvaginal view is examined for a sac even if the classifier assigns
 * another plane.
 */
const LAST_DAY = 97;

/**
 * Returns clips that may show an early pregnancy: those that the plane classifier assigns to it
 * and, if the age is given, those labelled transvaginal. Empty after `LAST_DAY`.
 */
function candidates({ study, planes, options }: ReaderInput<object>): Clip[] {
  const labelled = new Set(
    planes.filter(({ estimate }) => estimate.label === 'early-pregnancy').map(({ clip }) => clip),
  );
  const days = options.dating?.ga_days;
  if (days !== undefined && days > LAST_DAY) return [];
  const early = days !== undefined;
  const named = study.clips.filter((clip) => early && namedView(clip).route === 'transvaginal');
  return study.clips.filter((clip) => labelled.has(clip) || named.includes(clip)).slice(0, CLIPS);
}

/**
 * Chooses the sac from the candidate regions, which are sorted most likely first. An accepted
 * region with contents is the sac; if there are several, none is chosen. If no accepted region has
 * contents, the choice is unclear and none is chosen, unless the most likely region is the only
 * accepted one. If every region was rejected, the most likely one is returned, with `accepted`
 * false.
 */
export function chooseSac(
  found: readonly Pick<EarlyFrame, 'sac' | 'contents'>[],
): Pick<EarlyFrame, 'sac' | 'contents' | 'bodies'> {
  const none = { sac: null, contents: null };
  const accepted = found.filter(({ sac }) => sac?.accepted);
  const filled = accepted.filter(({ contents }) => contents?.yolkSac || contents?.embryo);
  if (filled.length > 1) return { ...none, bodies: 'several' };
  const [first] = accepted;
  const doubtful = accepted.length > 1 || (first !== undefined && first !== found[0]);
  if (filled.length === 0 && doubtful) return { ...none, bodies: 'unclear' };
  return { ...(filled[0] ?? first ?? found[0] ?? none), bodies: 'one' };
}

/** Locates the sac and its contents on one frame, by image analysis only. */
export async function readEarlyFrame(clip: Clip, frame: Frame): Promise<EarlyFrame> {
  const image = await frame.gray();
  const found = locateSacs(image).map((sac) => {
    const region = scaleFor(clip, extent(sac.ellipse));
    const contents = sac.accepted && region ? locateContents(image, sac, region.scale) : null;
    return { sac, contents };
  });
  return { clip, frame, ...chooseSac(found) };
}

/** Returns why a clip is not examined for embryonic cardiac activity; null if it is examined. */
export function unfitForActivity(times: readonly number[]): CardiacActivity | null {
  if (times.length < 2) return { status: 'not-assessable', reason: 'still' };
  if (times.length < EMBRYO_CLIP.frames) return { status: 'not-assessable', reason: 'too-short' };
  const seconds = (times.at(-1) ?? 0) - (times[0] ?? 0);
  const slow = (times.length - 1) / seconds < EMBRYO_CLIP.framesPerSecond * (1 - 1e-6);
  return slow ? { status: 'not-assessable', reason: 'too-slow' } : null;
}

async function readClip(clip: Clip, signal: AbortSignal): Promise<EarlyClip> {
  const step = Math.max(1, Math.floor(clip.frames.length / FRAMES_PER_CLIP));
  const chosen = clip.frames.filter((_, index) => index % step === 0).slice(0, FRAMES_PER_CLIP);
  const frames: EarlyFrame[] = [];
  for (const frame of chosen) {
    signal.throwIfAborted();
    frames.push(await readEarlyFrame(clip, frame));
  }
  const seen = frames.find(({ sac }) => sac?.accepted)?.sac;
  const view = namedView(clip);
  if (!seen) return { clip, ...view, frames, cardiac: null };
  const [low, high] = extent(seen.ellipse);
  const area = {
    minX: Math.max(0, Math.floor(low.x)),
    minY: Math.max(0, Math.floor(low.y)),
    maxX: Math.min(clip.width - 1, Math.ceil(high.x)),
    maxY: Math.min(clip.height - 1, Math.ceil(high.y)),
  };
  const times = clip.timing === 'none' ? [] : clip.frames.map(({ time }) => time);
  const cardiac =
    unfitForActivity(times) ??
    (await cardiacActivity(grayFrames(clip.frames, signal), times, area));
  return { clip, ...view, frames, cardiac };
}

/** Finds sac, yolk sac, embryo and cardiac activity on the views of an early pregnancy. */
export const earlyPregnancyReader: Reader<readonly EarlyClip[]> = {
  stage: 'early-pregnancy',
  label: 'Looking for an early pregnancy',
  read: async (input) => {
    const clips: EarlyClip[] = [];
    for (const clip of candidates(input)) clips.push(await readClip(clip, input.signal));
    return clips;
  },
};
