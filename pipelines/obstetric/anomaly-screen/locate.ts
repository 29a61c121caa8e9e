import { z } from 'zod';
import type { Ellipse, GrayImage, Point } from '../../contract/image.ts';
import type { Placement } from '../../inference/letterbox.ts';
import { type RegisteredModel, readMetrics } from '../../inference/model-registry.ts';
import type { ModelSession } from '../../inference/session.ts';
import { centreOfMass, highestPeaks } from '../../measure/peaks.ts';
import type { SoftMask } from '../../measure/soft-mask.ts';
import { endsOfMaps } from '../biometry/locate.ts';
import { cropHead, fromCrop, type Mirroring } from '../shared/head-crop.ts';
import type { LocatedEnds } from '../shared/plane.ts';
import type { BrainUncertainty, LocatedBrain } from './evidence.ts';

/** Structures for which the model `fetal-brain-structures` returns a probability map. */
const CHANNELS = [
  'cerebellum',
  'ventricle',
  'cerebellum-ends',
  'vermis',
  'occiput',
  'atrium-ends',
] as const;

const MIRRORINGS: readonly Mirroring[] = [
  { along: 1, across: 1 },
  { along: 1, across: -1 },
  { along: -1, across: 1 },
  { along: -1, across: -1 },
];

/**
 * Minimum distance between the two ends of a structure, in pixels of the network's grid. Closer
 * ends cannot be distinguished.
 */
const NARROWEST = 4;

/** Placement of the maps on the crop: they cover it exactly, without margins. */
const ON_CROP: Placement = { scaleX: 1, scaleY: 1, offsetX: 0, offsetY: 0 };

const halfWidth = z.number().positive().nullable().default(null);
const both = z.object({ mm: halfWidth, percent: halfWidth });
const metricsSchema = z.looseObject({
  halfWidths95: z.object({ cerebellum: both, cisternaMagna: both, atrium: both }),
});

/** Reads the half widths of the 95 % intervals from the model's metrics. */
export async function brainUncertainty(model: RegisteredModel): Promise<BrainUncertainty> {
  return metricsSchema.parse(await readMetrics(model)).halfWidths95;
}

/**
 * Finds the ends of cerebellum, cisterna magna and atrium on the cropped head with the model
 * `fetal-brain-structures`. The maps are averaged over the four mirror images of the head.
 */
export async function locateBrainStructures(
  session: ModelSession,
  image: GrayImage,
  head: Ellipse,
): Promise<LocatedBrain> {
  const { input, output, gate, class_gates: gates = {} } = session.model;
  const { width, height } = input;
  const crops = MIRRORINGS.map((way) =>
    halved(cropHead(image, head, 2 * width, 2 * height, way), width, height),
  );
  const outputs = await session.run(crops);
  const map = (name: (typeof CHANNELS)[number]): SoftMask => {
    const channel = output.channels.indexOf(name);
    const maps = outputs.map((values, n) =>
      turnedBack(values, channel, width, height, MIRRORINGS[n] ?? { along: 1, across: 1 }),
    );
    const values = new Float32Array(width * height).map(
      (_, i) => maps.reduce((sum, one) => sum + (one[i] ?? 0), 0) / maps.length,
    );
    return { width, height, values };
  };
  const toImage = fromCrop(head, width, height);
  const between = (area: SoftMask, ends: SoftMask, own: number): LocatedEnds | null => {
    const found = endsOfMaps(area, ends, ON_CROP, own, NARROWEST);
    return found && { ...found, ends: [toImage(found.ends[0]), toImage(found.ends[1])] };
  };
  return {
    cerebellum: between(map('cerebellum'), map('cerebellum-ends'), gates.cerebellum ?? gate),
    atrium: between(map('ventricle'), map('atrium-ends'), gates.atrium ?? gate),
    cisternaMagna: endsOfPeaks(
      map('vermis'),
      map('occiput'),
      toImage,
      gates['cisterna-magna'] ?? gate,
    ),
  };
}

function halved(crop: Float32Array, width: number, height: number): Float32Array {
  return new Float32Array(width * height).map((_, i) => {
    const at = 4 * width * Math.floor(i / width) + 2 * (i % width);
    const below = at + 2 * width;
    const sum = (crop[at] ?? 0) + (crop[at + 1] ?? 0) + (crop[below] ?? 0) + (crop[below + 1] ?? 0);
    return sum / 4;
  });
}

/**
 * Returns one channel of the model's output for a mirrored crop, mirrored back to match the
 * original.
 */
function turnedBack(
  values: Float32Array,
  channel: number,
  width: number,
  height: number,
  { along, across }: Mirroring,
): Float32Array {
  const start = channel * width * height;
  return new Float32Array(width * height).map((_, i) => {
    const column = i % width;
    const row = Math.floor(i / width);
    const x = along > 0 ? column : width - 1 - column;
    const y = across > 0 ? row : height - 1 - row;
    return values[start + y * width + x] ?? 0;
  });
}

function endsOfPeaks(
  one: SoftMask,
  other: SoftMask,
  toImage: (at: Point) => Point,
  gate: number,
): LocatedEnds | null {
  const [first] = highestPeaks(one, 1);
  const [second] = highestPeaks(other, 1);
  if (!first || !second) return null;
  const confidence = Math.sqrt(first.value * second.value);
  return {
    ends: [toImage(centreOfMass(one, first)), toImage(centreOfMass(other, second))],
    confidence,
    accepted: confidence >= gate,
  };
}
