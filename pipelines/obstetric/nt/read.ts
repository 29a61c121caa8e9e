import type { GrayImage } from '../../contract/image.ts';
import { scaleFor } from '../../contract/study.ts';
import { nuchalLines } from '../../measure/nuchal-lines.ts';
import { bestFrames } from '../shared/key-frames.ts';
import type { Reader } from '../shared/reader.ts';
import type { LocatedMidsagittal, MidsagittalReading, NuchalReadings } from './evidence.ts';

export interface MidsagittalModels {
  midsagittal: ((images: readonly GrayImage[]) => Promise<LocatedMidsagittal[]>) | null;
}

/**
 * Maximum number of frames examined. There are several because the largest of the good measurements
 * is used (FMF protocol).
 */
const CANDIDATES = 6;

/** Locates structures and nuchal lines on the best first-trimester mid-sagittal frames. */
export const nuchalReader: Reader<NuchalReadings, MidsagittalModels> = {
  stage: 'nt',
  label: 'Looking at the nuchal region',
  read: async ({ planes, locator, signal }) => {
    if (!locator.midsagittal) return { frames: null };
    const frames: MidsagittalReading[] = [];
    for (const frame of bestFrames(planes, ['midsagittal'], CANDIDATES)) {
      signal.throwIfAborted();
      const image = await frame.frame.gray();
      const [located = {}] = await locator.midsagittal([image]);
      const nuchal = located['nuchal-translucency'];
      const corners = nuchal
        ? [
            { x: nuchal.box.minX, y: nuchal.box.minY },
            { x: nuchal.box.maxX, y: nuchal.box.maxY },
          ]
        : [];
      const scale = scaleFor(frame.clip, corners)?.scale;
      const lines = nuchal?.accepted ? nuchalLines(image, nuchal.box, scale) : null;
      frames.push({ ...frame, located, lines });
    }
    return { frames };
  },
};
