import type { Ellipse, GrayImage } from '../../contract/image.ts';
import { bestFrames } from '../shared/key-frames.ts';
import type { LocatedOutline } from '../shared/plane.ts';
import type { Reader } from '../shared/reader.ts';
import type { BrainReading, BrainReadings, LocatedBrain } from './evidence.ts';

/** Models that outline a head and locate brain structures within it. */
export interface BrainModels {
  head: ((images: readonly GrayImage[]) => Promise<(LocatedOutline | null)[]>) | null;
  brain?: ((image: GrayImage, head: Ellipse) => Promise<LocatedBrain>) | null;
}

/**
 * Number of frames examined per plane. It exceeds the number measured, because some frames fail the
 * gate.
 */
const CANDIDATES = 5;

/** Locates cerebellum, cisterna magna and atrium, each on its measuring plane. */
export const fetalBrainReader: Reader<BrainReadings, BrainModels> = {
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
