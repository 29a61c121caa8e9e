import type { GrayImage } from '../../contract/image.ts';
import { bestFrames } from './key-frames.ts';
import type { FramePlane, Plane } from './plane.ts';
import type { ReaderInput } from './reader.ts';
import type { UterineMaps, UterineUncertainty } from './uterine-maps.ts';

/** The model that segments fluid, placenta and cervix. Each reader uses the maps that it needs. */
export interface UterineModels {
  uterus: ((images: readonly GrayImage[]) => Promise<UterineMaps[]>) | null;
  uncertainty: { uterus?: UterineUncertainty | null };
}

/** Maximum number of frames examined per view. It bounds the time spent on a long sweep. */
const FRAMES = 24;
const BATCH = 8;

export interface MappedFrame {
  at: FramePlane;
  image: GrayImage;
  drawn: UterineMaps;
}

/**
 * Applies `read` to the frames of the wanted planes, starting with the best frame of every clip.
 * Returns null if no permitted model segments the uterus. Frames for which `read` returns null are
 * left out.
 */
export async function readUterineFrames<T>(
  { planes, locator, signal }: ReaderInput<UterineModels>,
  wanted: readonly Plane[],
  read: (frame: MappedFrame) => T | null,
): Promise<T[] | null> {
  const draw = locator.uterus;
  if (!draw) return null;
  const frames = bestFrames(planes, wanted, FRAMES);
  const found: T[] = [];
  for (let start = 0; start < frames.length; start += BATCH) {
    signal.throwIfAborted();
    const batch = frames.slice(start, start + BATCH);
    const images = await Promise.all(batch.map(({ frame }) => frame.gray()));
    const drawn = await draw(images);
    for (const [index, at] of batch.entries()) {
      const image = images[index];
      const maps = drawn[index];
      const one = image && maps ? read({ at, image, drawn: maps }) : null;
      if (one !== null) found.push(one);
    }
  }
  return found;
}
