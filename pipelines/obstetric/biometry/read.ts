import { inParallel } from '../../../src/platform/in-parallel.ts';
import type { GrayImage } from '../../contract/image.ts';
import { DECODING } from '../../input/decode-frames.ts';
import { candidateFrames } from '../shared/key-frames.ts';
import type {
  FramePlane,
  FrameReading,
  LocatedEnds,
  LocatedOutline,
  Structure,
} from '../shared/plane.ts';

type Locate<Found> = (images: readonly GrayImage[]) => Promise<(Found | null)[]>;

/** Models that outline a structure or find its ends; null if no permitted model locates it. */
export interface StructureModels {
  head: Locate<LocatedOutline> | null;
  abdomen: Locate<LocatedOutline> | null;
  femur: Locate<LocatedEnds> | null;
}

/**
 * Maximum number of frames examined per structure. It is twice the number measured, because some
 * frames fail the gate.
 */
const CANDIDATES = 6;

const STRUCTURES: readonly Structure[] = ['head', 'abdomen', 'femur'];

async function readStructure(
  structure: Structure,
  frames: readonly FramePlane[],
  images: readonly GrayImage[],
  locator: StructureModels,
): Promise<FrameReading[]> {
  if (structure === 'femur') {
    const located = await locator.femur?.(images);
    return frames.map((frame, n) => ({ ...frame, structure, located: located?.[n] ?? null }));
  }
  const located = await locator[structure]?.(images);
  return frames.map((frame, n) => ({ ...frame, structure, located: located?.[n] ?? null }));
}

/** Locates head, abdomen and femur on the best frames of their planes. */
export async function readStructures(
  planes: readonly FramePlane[],
  locator: StructureModels,
  signal: AbortSignal,
  progress: (structure: Structure, share: number) => void,
): Promise<{ readings: FrameReading[]; withoutModel: Structure[] }> {
  const withoutModel = STRUCTURES.filter((structure) => !locator[structure]);
  let begun = 0;
  const readings = await inParallel(STRUCTURES, DECODING.clips, async (structure) => {
    progress(structure, begun++ / STRUCTURES.length);
    if (!locator[structure]) return [];
    signal.throwIfAborted();
    const frames = candidateFrames(planes, structure, CANDIDATES);
    const images = await Promise.all(frames.map(({ frame }) => frame.gray()));
    return readStructure(structure, frames, images, locator);
  });
  return { readings: readings.flat(), withoutModel };
}
