import { z } from 'zod';
import type { Clip } from '../contract/study.ts';
import { PATIENT_CONTEXT, REPORT_OPTIONS, STUDY_FILES } from '../contract/study-input.ts';
import { described } from '../result/envelope.ts';

const optionsSchema = z.strictObject(REPORT_OPTIONS);

/**
 * The sex selects the reference ranges. The body surface area is calculated from height and weight.
 */
const clinicalContextSchema = z.strictObject({
  ...PATIENT_CONTEXT,
  height_cm: described(
    z.number().min(30).max(250).optional(),
    'Height in cm; with the weight, it gives the body surface area',
    168,
  ),
  weight_kg: described(z.number().min(1).max(400).optional(), 'Weight in kg', 71),
});

/** Schema of `input` for us/echo/interpret 1.0.0 (api 2.4). Unknown fields are rejected. */
export const echoInputSchema = z.strictObject({
  ...STUDY_FILES,
  options: optionsSchema.optional().meta({ description: 'Options of the interpretation' }),
  clinical_context: clinicalContextSchema
    .optional()
    .meta({ description: 'Clinical context of the patient, without identity' }),
});

export type EchoOptions = z.infer<typeof optionsSchema>;
export type EchoContext = z.infer<typeof clinicalContextSchema>;

/**
 * Returns the options and the context of a job, with defaults for missing values.
 *
 * @throws if they do not match the schema.
 */
export function parseRequest(
  options: unknown,
  context: unknown,
): { options: EchoOptions; context: EchoContext } {
  return {
    options: optionsSchema.parse(options ?? {}),
    context: clinicalContextSchema.parse(context ?? {}),
  };
}

/** Number of handheld clips allowed in one request (api 2.4). */
const HANDHELD_CLIPS = { least: 1, most: 5 } as const;

type EchoInput = { kind: 'study' } | { kind: 'handheld' } | { kind: 'none'; reason: string };

function isVideo({ sopInstanceUid, timing, frames }: Clip): boolean {
  return sopInstanceUid === null && timing === 'container' && frames.length > 1;
}

/**
 * Determines what the clips are: an echo study (DICOM objects, with or without videos) or one to
 * five videos from a handheld scanner (MP4, MOV, AVI). Stills alone are neither, because they show
 * no heartbeat.
 */
export function echoInputOf(clips: readonly Clip[]): EchoInput {
  if (clips.some(({ sopInstanceUid }) => sopInstanceUid !== null)) return { kind: 'study' };
  const videos = clips.filter(isVideo).length;
  if (videos < HANDHELD_CLIPS.least) {
    return { kind: 'none', reason: 'there is neither a DICOM image nor a video among the files' };
  }
  if (videos > HANDHELD_CLIPS.most) {
    const reason = `${videos} videos are more than the ${HANDHELD_CLIPS.most} of a handheld study`;
    return { kind: 'none', reason };
  }
  return { kind: 'handheld' };
}
