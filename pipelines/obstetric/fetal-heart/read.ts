import type { Clip } from '../../contract/study.ts';
import { viewWords } from '../../contract/view-words.ts';
import { type MModeRhythm, mModeRhythm } from '../../measure/m-mode/heart-rate.ts';
import type { FramePlane } from '../shared/key-frames.ts';
import { bestFrames } from '../shared/key-frames.ts';
import type { LocatedChest, Plane } from '../shared/locator.ts';
import type { Reader, ReaderInput } from '../shared/reader.ts';

/** Frames looked at: more than are measured, since most real ones do not show the whole chest. */
const CHEST_FRAMES = 12;

export const CARDIAC_VIEWS = [
  'four-chamber',
  'left-outflow-tract',
  'right-outflow-tract',
  'three-vessel',
  'three-vessel-trachea',
] as const;
export type CardiacView = (typeof CARDIAC_VIEWS)[number];

/** An image on which a view of the heart was found, and by whom. */
export interface CardiacViewReading {
  view: CardiacView;
  file: string;
  /** 0-based. */
  frame: number;
  /** `named`: by the machine only, what the image shows was not verified. */
  by: 'classifier' | 'named';
  confidence: number | null;
}

export interface MModeReading {
  file: string;
  sopInstanceUid: string | null;
  /** 0-based. */
  frame: number;
  rhythm: MModeRhythm;
  /** The machine calls it fetal, or another image of the study shows a fetus: else whose it is? */
  fetal: boolean;
}

/** One frame of the chest; `located` null: heart or thorax was not found there. */
export type ChestReading = FramePlane & { located: LocatedChest | null };

export interface FetalHeartReadings {
  /** Null where no permitted model outlines the heart. */
  chests: readonly ChestReading[] | null;
  views: CardiacViewReading[];
  /** Chest sections that were not told to be a four-chamber view. */
  chestFrames: number;
  mMode: MModeReading[];
}

/** Words of operators and presets in View Name and Stage Name. */
const WORDS: Readonly<Record<CardiacView, RegExp>> = {
  'four-chamber': /\b(4 ?ch(amber)?|4cv|four ?chamber)/,
  'left-outflow-tract': /\blvot\b|left (ventricular )?outflow/,
  'right-outflow-tract': /\brvot\b|right (ventricular )?outflow/,
  'three-vessel': /\b3vv\b|three ?vessels?( view)?$/,
  'three-vessel-trachea': /\b3vtv?\b|trachea/,
};

function namedViews({ clips }: ReaderInput['study']): CardiacViewReading[] {
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

/** The frame of each clip that the classifier is surest of. */
function classifiedViews({ planes }: ReaderInput): CardiacViewReading[] {
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

/** The cervix is the mother's; what is `other` may be any organ. */
const NO_FETUS: ReadonlySet<Plane> = new Set(['other', 'cervix']);

const isFetal = (clip: Clip, { planes }: ReaderInput) =>
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

/** Heart and thorax on the best frames of either class: real four-chamber views are `thorax`. */
async function readChests({
  planes,
  locator,
  signal,
}: ReaderInput): Promise<ChestReading[] | null> {
  if (!locator.chest) return null;
  const chests: ChestReading[] = [];
  for (const at of bestFrames(planes, ['four-chamber', 'thorax'], CHEST_FRAMES)) {
    signal.throwIfAborted();
    const [located = null] = await locator.chest([await at.frame.gray()]);
    chests.push({ ...at, located });
  }
  return chests;
}

/** Views of the heart, and the rhythm of M-mode sweeps; cines of the chest: presentation reader. */
export const fetalHeartReader: Reader<FetalHeartReadings> = {
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
