import { scaleFor } from '../../contract/study.ts';
import { type NuchalLines, nuchalLines } from '../../measure/nuchal-lines.ts';
import type { FramePlane } from '../shared/key-frames.ts';
import { bestFrames } from '../shared/key-frames.ts';
import type { LocatedMidsagittal } from '../shared/locator.ts';
import type { Reader } from '../shared/reader.ts';

/** Frames looked at: the largest of several good measurements counts (FMF protocol). */
const CANDIDATES = 6;

/** One mid-sagittal frame: the structures, and the nuchal lines inside the box of the nuchal region. */
export type MidsagittalReading = FramePlane & {
  located: LocatedMidsagittal;
  /** Millimetres where the lines lie in a calibrated region, else pixels; null: not seen. */
  lines: NuchalLines | null;
};

export interface NuchalReadings {
  /** Null where no permitted model locates the structures. */
  frames: readonly MidsagittalReading[] | null;
}

/** Structures and nuchal lines on the best first-trimester mid-sagittal frames. */
export const nuchalReader: Reader<NuchalReadings> = {
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
