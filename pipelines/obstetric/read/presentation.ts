import type { GrayImage } from '../../contract/image.ts';
import type { Clip, Frame } from '../../contract/study.ts';
import { type CardiacActivity, cardiacActivity } from '../../measure/periodicity.ts';
import type { FramePlane } from '../frame-plane.ts';
import type { Plane } from '../locator.ts';
import type { Reader, ReaderInput } from '../reader.ts';
import { namedSweep, type PartRun, partRuns, type SweepDirection } from '../sweep-runs.ts';

export interface ReadRun extends PartRun {
  /** A head whose skull was outlined with confidence; trunks are not outlined. */
  confirmed: boolean;
}

export interface SweepReading {
  clip: Clip;
  direction: SweepDirection | null;
  runs: readonly ReadRun[];
}

export interface CardiacReading {
  clip: Clip;
  activity: CardiacActivity;
}

export interface PresentationReadings {
  sweeps: readonly SweepReading[];
  /** Cines of the chest or the trunk that are no sweeps. */
  cardiac: readonly CardiacReading[];
}

/** Frames of a head run on which the skull is looked for. */
const CHECKED = 3;
const CARDIAC_CLIPS = 3;
const CHEST: ReadonlySet<Plane> = new Set(['thorax', 'four-chamber']);

const wordsOf = ({ viewName, stageName }: Clip) => `${viewName ?? ''} ${stageName ?? ''}`;

async function confirm(
  run: PartRun,
  frames: readonly FramePlane[],
  { locator, signal }: ReaderInput,
): Promise<ReadRun> {
  const find = locator.head;
  if (run.part !== 'head' || !find) return { ...run, confirmed: false };
  const heads = frames
    .slice(run.from, run.to + 1)
    .toSorted((one, other) => other.estimate.confidence - one.estimate.confidence)
    .slice(0, CHECKED);
  for (const { frame } of heads) {
    signal.throwIfAborted();
    const [located] = await find([await frame.gray()]);
    if (located?.accepted) return { ...run, confirmed: true };
  }
  return { ...run, confirmed: false };
}

async function readSweep(
  clip: Clip,
  direction: SweepDirection | null,
  input: ReaderInput,
): Promise<SweepReading> {
  const frames = input.planes
    .filter((plane) => plane.clip === clip)
    .toSorted((one, other) => one.frame.index - other.frame.index);
  const runs: ReadRun[] = [];
  for (const run of partRuns(frames.map(({ estimate }) => estimate.label))) {
    runs.push(await confirm(run, frames, input));
  }
  return { clip, direction, runs };
}

async function* grayFrames(
  frames: readonly Frame[],
  signal: AbortSignal,
): AsyncGenerator<GrayImage> {
  for (const frame of frames) {
    signal.throwIfAborted();
    yield await frame.gray();
  }
}

/** Cines of which most frames show the chest: where a heart that beats would be seen. */
function chestCines({ study, planes }: ReaderInput, sweeps: ReadonlySet<Clip>): Clip[] {
  const chest = Map.groupBy(
    planes.filter(({ estimate }) => CHEST.has(estimate.label)),
    ({ clip }) => clip,
  );
  return study.clips
    .filter(
      (clip) =>
        clip.frames.length > 1 &&
        !sweeps.has(clip) &&
        2 * (chest.get(clip)?.length ?? 0) > clip.frames.length,
    )
    .slice(0, CARDIAC_CLIPS);
}

/** Parts of the fetus along named sweeps, and cardiac activity on cines of the chest. */
export const presentationReader: Reader<PresentationReadings> = {
  stage: 'presentation',
  label: 'Following the sweeps of the uterus',
  read: async (input) => {
    const named = input.study.clips.flatMap((clip) => {
      const { sweep, direction } = namedSweep(wordsOf(clip));
      return sweep && clip.frames.length > 1 ? [{ clip, direction }] : [];
    });
    const sweeps: SweepReading[] = [];
    for (const { clip, direction } of named) sweeps.push(await readSweep(clip, direction, input));
    const cardiac: CardiacReading[] = [];
    for (const clip of chestCines(input, new Set(named.map(({ clip }) => clip)))) {
      const times = clip.timing === 'none' ? [] : clip.frames.map(({ time }) => time);
      const frames = grayFrames(clip.frames, input.signal);
      const area = clip.ultrasoundAreas[0] ?? clip.regions[0]?.area;
      cardiac.push({ clip, activity: await cardiacActivity(frames, times, area) });
    }
    return { sweeps, cardiac };
  },
};
