import type { FramePlane } from '../shared/key-frames.ts';
import { bestFrames } from '../shared/key-frames.ts';
import type { LocatedBrain } from '../shared/locator.ts';
import type { Reader } from '../shared/reader.ts';

/** Frames of each plane looked at: more than are measured, since some fail the gate. */
const CANDIDATES = 5;

/** One axial head frame; `located` null: the head was not outlined surely enough to look into it. */
export type BrainReading = FramePlane & { located: LocatedBrain | null };

export interface BrainReadings {
  /** Null where no permitted model locates brain structures, or none outlines heads. */
  frames: readonly BrainReading[] | null;
}

/** Cerebellum, cisterna magna and atrium on the planes on which each is measured. */
export const fetalBrainReader: Reader<BrainReadings> = {
  stage: 'fetal-brain',
  label: 'Measuring structures of the brain',
  read: async ({ planes, locator, signal }) => {
    const { brain, head } = locator;
    if (!brain || !head) return { frames: null };
    const frames = (['transcerebellar', 'transventricular'] as const).flatMap((plane) =>
      bestFrames(planes, [plane], CANDIDATES),
    );
    const readings: BrainReading[] = [];
    for (const at of frames) {
      signal.throwIfAborted();
      const image = await at.frame.gray();
      const [outline] = await head([image]);
      const located = outline?.accepted ? await brain(image, outline.ellipse) : null;
      readings.push({ ...at, located });
    }
    return { frames: readings };
  },
};
