import type { GrayImage } from '../../contract/image.ts';
import type { Clip } from '../../contract/study.ts';
import { coverScreen } from '../../measure/picture.ts';
import { pictureBox } from '../../measure/picture-detector.ts';
import { bestFrames } from '../shared/key-frames.ts';
import type { Reader } from '../shared/reader.ts';
import type {
  LaborProgressReadings,
  LocatedTransperineal,
  TransperinealReading,
} from './evidence.ts';

/**
 * The model that outlines the pubic symphysis and the fetal head. `angleOfProgression` is the half
 * width of the interval of the angle, degrees.
 */
export interface SymphysisHeadModels {
  symphysisHead: ((images: readonly GrayImage[]) => Promise<LocatedTransperineal[]>) | null;
  uncertainty: { angleOfProgression?: number | null };
}

/**
 * Maximum number of frames examined. It is twice the number measured, because some frames fail the
 * gate.
 */
const CANDIDATES = 6;

/** Returns true if the regions in the header separate the picture from the rest of the screen. */
const isDelimited = (clip: Clip) =>
  clip.ultrasoundAreas.length > 0 && !coverScreen(clip.ultrasoundAreas, clip);

/** Locates symphysis and head on the best transperineal frames. */
export const laborProgressReader: Reader<LaborProgressReadings, SymphysisHeadModels> = {
  stage: 'labor-progress',
  label: 'Locating symphysis and fetal head',
  read: async ({ planes, locator, signal }) => {
    const uncertainty = locator.uncertainty.angleOfProgression ?? null;
    if (!locator.symphysisHead) return { uncertainty, frames: null };
    const frames: TransperinealReading[] = [];
    for (const frame of bestFrames(planes, ['transperineal'], CANDIDATES)) {
      signal.throwIfAborted();
      const image = await frame.frame.gray();
      const [found] = await locator.symphysisHead([image]);
      frames.push({
        ...frame,
        located: found?.pair ?? null,
        borders: found?.borders ?? {},
        picture: isDelimited(frame.clip) ? null : pictureBox(image),
      });
    }
    return { uncertainty, frames };
  },
};
