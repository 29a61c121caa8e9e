import type { GrayImage } from '../../contract/image.ts';
import type { Clip, Study } from '../../contract/study.ts';
import { viewWords } from '../../contract/view-words.ts';
import { mModeRhythm } from '../../measure/m-mode/heart-rate.ts';
import { bestFrames } from '../shared/key-frames.ts';
import type { Plane } from '../shared/plane.ts';
import type { Reader, ReaderInput } from '../shared/reader.ts';
import type {
  CardiacView,
  CardiacViewReading,
  ChestReading,
  FetalHeartReadings,
  LocatedChest,
  MModeReading,
} from './evidence.ts';
import { CARDIAC_VIEWS } from './evidence.ts';

/**
 * Maximum number of frames examined. More frames are examined than measured, because most real
 * frames do not show the whole chest.
 */
const CHEST_FRAMES = 12;

type Planes = Pick<ReaderInput<object>, 'planes'>;

/** The model that outlines heart and thorax; absent or null if no such model is permitted. */
export interface ChestModels {
  chest?: ((images: readonly GrayImage[]) => Promise<(LocatedChest | null)[]>) | null;
}

/** Patterns for the words that operators and presets use in View Name and Stage Name. */
const WORDS: Readonly<Record<CardiacView, RegExp>> = {
  'four-chamber': /\b(4 ?ch(amber)?|4cv|four ?chamber)/,
  'left-outflow-tract': /\blvot\b|left (ventricular )?outflow/,
  'right-outflow-tract': /\brvot\b|right (ventricular )?outflow/,
  'three-vessel': /\b3vv\b|three ?vessels?( view)?$/,
  'three-vessel-trachea': /\b3vtv?\b|trachea/,
};

function namedViews({ clips }: Study): CardiacViewReading[] {
  return clips
    .filter(({ mode }) => mode !== 'spectral' && mode !== 'm-mode')
    .flatMap((clip) =>
      CARDIAC_VIEWS.filter((view) => WORDS[view].test(viewWords(clip))).map((view) => ({
        view,
        file: clip.file,
        frame: 0,
        by: 'named' as const,
        confidence: null,
      })),
    );
}

function classifiedViews({ planes }: Planes): CardiacViewReading[] {
  const seen = planes.filter(({ estimate }) => estimate.label === 'four-chamber');
  return Map.groupBy(seen, ({ clip }) => clip)
    .values()
    .map((frames) =>
      frames.reduce((best, next) =>
        next.estimate.confidence > best.estimate.confidence ? next : best,
      ),
    )
    .map(({ clip, frame, estimate }) => ({
      view: 'four-chamber' as const,
      file: clip.file,
      frame: frame.index,
      by: 'classifier' as const,
      confidence: estimate.confidence,
    }))
    .toArray();
}

/**
 * Planes that do not prove that the image shows a fetus. The cervix is the mother's, and `other`
 * may be any organ.
 */
const NO_FETUS: ReadonlySet<Plane> = new Set(['other', 'cervix']);

const isFetal = (clip: Clip, { planes }: Planes) =>
  /\bfo?etal\b|\bfh[rm]?\b/.test(viewWords(clip)) ||
  planes.some(({ estimate }) => !NO_FETUS.has(estimate.label));

async function readMMode(clip: Clip, fetal: boolean): Promise<MModeReading[]> {
  const sweeps = clip.sweeps.filter(({ kind }) => kind === 'm-mode' || kind === 'colour-m-mode');
  const frame = clip.frames.at(-1);
  if (!frame || sweeps.length === 0) return [];
  const image = await frame.gray();
  const { file, sopInstanceUid } = clip;
  return sweeps.map((sweep) => ({
    file,
    sopInstanceUid,
    frame: frame.index,
    rhythm: mModeRhythm(image, sweep),
    fetal,
  }));
}

/**
 * Locates heart and thorax on the best four-chamber views: those found by the classifier, and chest
 * sections that the machine labels as four-chamber views. Other chest sections cut the heart at a
 * different level, where its ratio to the thorax does not reflect the size of the heart: 6 of 172
 * such sections on real images appeared abnormal.
 */
async function readChests({
  planes,
  locator,
  signal,
}: ReaderInput<ChestModels>): Promise<ChestReading[] | null> {
  if (!locator.chest) return null;
  const chests: ChestReading[] = [];
  const shown = planes.filter(
    ({ clip, estimate }) =>
      estimate.label === 'four-chamber' || WORDS['four-chamber'].test(viewWords(clip)),
  );
  for (const at of bestFrames(shown, ['four-chamber', 'thorax'], CHEST_FRAMES)) {
    signal.throwIfAborted();
    const [located = null] = await locator.chest([await at.frame.gray()]);
    chests.push({ ...at, located });
  }
  return chests;
}

/**
 * Reads the cardiac views, heart and thorax on them, and the rhythm of M-mode sweeps. Cines of the
 * chest are left to the presentation reader.
 */
export const fetalHeartReader: Reader<FetalHeartReadings, ChestModels> = {
  stage: 'fetal-heart',
  label: 'Looking at the fetal heart',
  async read(input) {
    const mMode: MModeReading[] = [];
    for (const clip of input.study.clips) {
      input.signal.throwIfAborted();
      mMode.push(...(await readMMode(clip, isFetal(clip, input))));
    }
    return {
      chests: await readChests(input),
      views: [...classifiedViews(input), ...namedViews(input.study)],
      chestFrames: input.planes.filter(({ estimate }) => estimate.label === 'thorax').length,
      mMode,
    };
  },
};
