import { z } from 'zod';
import type { FramePlane } from './frame-plane.ts';
import { PLANES } from './locator.ts';

const plane = z.enum(PLANES);
const probability = z.number().min(0).max(1);

/** The plane of one frame, and what else it might be. */
export const framePlaneSchema = z.object({
  file: z.string(),
  /** 1-based. */
  frame: z.number().int().positive(),
  /** `other` below the gate. */
  plane,
  /** Of `plane` alone. The gate asks whether it is any axial head plane, so that a head may show less. */
  confidence: z.number(),
  /**
   * Whether `plane` is `other` only because the likeliest plane was not sure enough, or its own model
   * did not find its structure.
   */
  below_gate: z.boolean(),
  /** The plane that would have been named; null unless `below_gate`. */
  likeliest: z.object({ plane, probability: probability.nullable() }).nullable(),
  /** Of every plane, to three decimals; null where the classifier gives its answer alone. */
  probabilities: z.record(plane, probability).nullable(),
});

const criterion = z.object({ name: z.string(), met: z.boolean().nullable() });

/** `data` of the section `planes`. */
export const planesDataSchema = z.object({
  /** Frames of each plane. */
  counts: z.record(plane, z.number().int()),
  /** The best frame of each plane, with the criteria of its image score. */
  key_frames: z.array(framePlaneSchema.extend({ quality: z.array(criterion) })),
  frames: z.array(framePlaneSchema),
});
export type PlanesData = z.infer<typeof planesDataSchema>;

const thousandth = (value: number) => Math.round(1000 * value) / 1000;

/** A frame as the section lists it. */
export function describedPlane({
  clip,
  frame,
  estimate: { label, confidence, probabilities, belowGate = null },
}: FramePlane): z.infer<typeof framePlaneSchema> {
  const of = (name: typeof label) => (probabilities ? thousandth(probabilities[name]) : null);
  return {
    file: clip.file,
    frame: frame.index + 1,
    plane: label,
    confidence,
    below_gate: belowGate !== null,
    likeliest: belowGate && { plane: belowGate, probability: of(belowGate) },
    probabilities: probabilities
      ? (Object.fromEntries(
          PLANES.map((name) => [name, thousandth(probabilities[name])]),
        ) as Record<typeof label, number>)
      : null,
  };
}
