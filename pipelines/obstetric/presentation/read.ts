import { inParallel } from '../../../src/platform/in-parallel.ts';
import type { GrayImage } from '../../contract/image.ts';
import type { Clip } from '../../contract/study.ts';
import { DECODING } from '../../input/decode-frames.ts';
import { cardiacActivity } from '../../measure/periodicity.ts';
import type { StructureModels } from '../biometry/read.ts';
import type { CardiacReading } from '../fetal-heart/evidence.ts';
import type { FramePlane, Plane } from '../shared/plane.ts';
import { grayFrames, type Reader, type ReaderInput } from '../shared/reader.ts';
import type { SweepReading } from '../shared/sweeps.ts';
import {
  examinedFrames,
  partRuns,
  type SweepDirection,
  type SweptFrame,
} from '../shared/sweeps.ts';
import { namedSweep } from '../shared/view-names.ts';
import type { PresentationReadings } from './judge.ts';

type OutlineModels = Pick<StructureModels, 'head' | 'abdomen'>;

const CARDIAC_CLIPS = 3;
const CHEST: ReadonlySet<Plane> = new Set(['thorax', 'four-chamber']);

async function isOutlined(find: StructureModels['head'], image: GrayImage): Promise<boolean> {
  const [located] = (await find?.([image])) ?? [];
  return located?.accepted ?? false;
}

async function readSweep(
  clip: Clip,
  direction: SweepDirection | null,
  { planes, locator, signal }: ReaderInput<OutlineModels>,
): Promise<SweepReading> {
  const look = async ({ frame, estimate }: FramePlane): Promise<SweptFrame> => {
    signal.throwIfAborted();
    const image = await frame.gray();
    const [head, abdomen] = await Promise.all([
      isOutlined(locator.head, image),
      isOutlined(locator.abdomen, image),
    ]);
    return { plane: estimate.label, head, abdomen };
  };
  const swept = await inParallel(examinedFrames(clip, planes), DECODING.batches, look);
  return { clip, direction, runs: partRuns(swept) };
}

/**
 * Returns the cines that show the chest in most frames; a beating heart would be visible on them.
 */
function chestCines(
  { study, planes }: Pick<ReaderInput<object>, 'study' | 'planes'>,
  sweeps: ReadonlySet<Clip>,
): Clip[] {
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

/**
 * Finds the parts of the fetus along labelled sweeps, and cardiac activity on cines of the chest.
 */
export const presentationReader: Reader<PresentationReadings, OutlineModels> = {
  stage: 'presentation',
  label: 'Following the sweeps of the uterus',
  read: async (input) => {
    const named = input.study.clips.flatMap((clip) => {
      const { sweep, direction } = namedSweep(clip);
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
