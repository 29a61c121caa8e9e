import { z } from 'zod';
import type { GrayImage } from '../../contract/image.ts';
import type { Placement } from '../../inference/letterbox.ts';
import { mirroredMaps } from '../../inference/mirrored-maps.ts';
import { type RegisteredModel, readMetrics } from '../../inference/model-registry.ts';
import type { ModelSession } from '../../inference/session.ts';
import type { SoftMask } from '../../measure/soft-mask.ts';
import { bestFrames } from './key-frames.ts';
import type { FramePlane, Plane } from './plane.ts';
import type { ReaderInput } from './reader.ts';

/** Structures for which the model `uterine-structures` returns a map, in channel order. */
export const UTERINE_STRUCTURES = [
  'fluid',
  'placenta',
  'lacuna',
  'bladder',
  'funnel',
  'part',
  'canal',
  'internal-os',
  'external-os',
  'placenta-edge',
] as const;
export type UterineStructure = (typeof UTERINE_STRUCTURES)[number];

/**
 * Maps of one image on the network's grid, from which areas and landmarks are read. No gate has
 * been applied yet.
 */
export interface UterineMaps {
  placement: Placement;
  maps: Readonly<Record<UterineStructure, SoftMask>>;
  /** Minimum confidence of a reading taken from the maps. */
  gate: number;
  /**
   * Gate for the body of a placenta. It is separate because the model finds placentas too readily
   * on images of other planes.
   */
  placentaGate: number;
  /**
   * Gate for the lower placental edge. Only a confident reading shows on which side of the os the
   * edge is.
   */
  edgeGate: number;
}

const halfWidth = z.number().positive().nullable().default(null);
const metricsSchema = z.looseObject({
  halfWidths95Mm: z.object({
    pocket: halfWidth,
    cervicalLength: halfWidth,
    placentaToOs: halfWidth,
    placentalThickness: halfWidth,
  }),
});

/** Half widths of 95 % intervals measured on unseen phantoms, mm; null if unknown. */
export type UterineUncertainty = z.infer<typeof metricsSchema>['halfWidths95Mm'];

/** Reads the half widths that models/evaluate.ts measured. */
export async function uterineUncertainty(model: RegisteredModel): Promise<UterineUncertainty> {
  return metricsSchema.parse(await readMetrics(model)).halfWidths95Mm;
}

export async function drawUterineMaps(
  session: ModelSession,
  images: readonly GrayImage[],
): Promise<UterineMaps[]> {
  const { gate, class_gates } = session.model;
  const found = await mirroredMaps(session, images);
  return found.map(({ placement, map }) => ({
    placement,
    maps: {
      fluid: map('fluid'),
      placenta: map('placenta'),
      lacuna: map('lacuna'),
      bladder: map('bladder'),
      funnel: map('funnel'),
      part: map('part'),
      canal: map('canal'),
      'internal-os': map('internal-os'),
      'external-os': map('external-os'),
      'placenta-edge': map('placenta-edge'),
    },
    gate,
    placentaGate: class_gates?.placenta ?? gate,
    edgeGate: class_gates?.['placenta-edge'] ?? gate,
  }));
}

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
