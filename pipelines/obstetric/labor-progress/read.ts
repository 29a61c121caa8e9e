import type { FramePlane } from '../shared/key-frames.ts';
import { bestFrames } from '../shared/key-frames.ts';
import type { LocatedSymphysisHead, LocatedTransperineal } from '../shared/locator.ts';
import type { Reader } from '../shared/reader.ts';

/** Frames looked at: twice as many as are measured, since some fail the gate. */
const CANDIDATES = 6;

/** One transperineal frame; `located` null: symphysis or head was not found there. */
export type TransperinealReading = FramePlane & {
  located: LocatedSymphysisHead | null;
  borders: LocatedTransperineal['borders'];
};

export interface LaborProgressReadings {
  /** Half width of the 95 % interval of the angle in degrees; null: not known. */
  uncertainty: number | null;
  /** Null where no permitted model locates symphysis and head. */
  frames: readonly TransperinealReading[] | null;
}

/** Symphysis and head on the best transperineal frames. */
export const laborProgressReader: Reader<LaborProgressReadings> = {
  stage: 'labor-progress',
  label: 'Locating symphysis and fetal head',
  read: async ({ planes, locator, signal }) => {
    const uncertainty = locator.uncertainty.angleOfProgression ?? null;
    if (!locator.symphysisHead) return { uncertainty, frames: null };
    const frames: TransperinealReading[] = [];
    for (const frame of bestFrames(planes, ['transperineal'], CANDIDATES)) {
      signal.throwIfAborted();
      const [found] = await locator.symphysisHead([await frame.frame.gray()]);
      frames.push({ ...frame, located: found?.pair ?? null, borders: found?.borders ?? {} });
    }
    return { uncertainty, frames };
  },
};
