import { z } from 'zod';
import { LONGEST_INDICATION } from '../../contract/job.ts';

const optionsSchema = z.strictObject({
  report: z.boolean().default(false),
  report_language: z.enum(['en']).default('en'),
  return: z.array(z.enum(['json'])).default(['json']),
});

/**
 * Clinical context: the sex selects the normal ranges; height and weight give the body surface
 * area.
 */
const clinicalContextSchema = z.strictObject({
  age_years: z.number().int().min(0).max(130).optional(),
  sex: z.enum(['female', 'male', 'other', 'unknown']).optional(),
  height_cm: z.number().min(30).max(250).optional(),
  weight_kg: z.number().min(1).max(400).optional(),
  indication: z.string().max(LONGEST_INDICATION).optional(),
});

/** `input` of us/echo/interpret 1.0.0 (api 2.4); unknown fields are refused. */
export const echoInputSchema = z.strictObject({
  files: z.array(z.string().min(1)).min(1),
  prior_files: z.array(z.string().min(1)).optional(),
  options: optionsSchema.optional(),
  clinical_context: clinicalContextSchema.optional(),
});

export type EchoOptions = z.infer<typeof optionsSchema>;
export type EchoContext = z.infer<typeof clinicalContextSchema>;

/** Options and context of a job, with their defaults. Throws where they break the schema. */
export function parseRequest(
  options: unknown,
  context: unknown,
): { options: EchoOptions; context: EchoContext } {
  return {
    options: optionsSchema.parse(options ?? {}),
    context: clinicalContextSchema.parse(context ?? {}),
  };
}
