import { z } from 'zod';
import { LONGEST_INDICATION } from '../../contract/job.ts';

const optionsSchema = z.strictObject({
  report: z
    .boolean()
    .default(false)
    .meta({ description: 'Whether a narrative report is written', examples: [true] }),
  report_language: z
    .enum(['en'])
    .default('en')
    .meta({ description: 'Language of the report', examples: ['en'] }),
  return: z
    .array(z.enum(['json']))
    .default(['json'])
    .meta({ description: 'Form of the result', examples: [['json']] }),
});

/**
 * Schema of the clinical context. The sex selects the normal ranges; the body surface area is
 * calculated from height and weight.
 */
const clinicalContextSchema = z.strictObject({
  age_years: z
    .number()
    .int()
    .min(0)
    .max(130)
    .optional()
    .meta({ description: 'Age in years', examples: [64] }),
  sex: z
    .enum(['female', 'male', 'other', 'unknown'])
    .optional()
    .meta({ description: 'Sex; selects the normal ranges', examples: ['female'] }),
  height_cm: z
    .number()
    .min(30)
    .max(250)
    .optional()
    .meta({
      description: 'Height in cm; gives the body surface area with the weight',
      examples: [168],
    }),
  weight_kg: z
    .number()
    .min(1)
    .max(400)
    .optional()
    .meta({ description: 'Weight in kg', examples: [71] }),
  indication: z
    .string()
    .max(LONGEST_INDICATION)
    .optional()
    .meta({
      description: 'Why the examination is made; without names, identifiers and dates',
      examples: ['dyspnoea'],
    }),
});

/** Schema of `input` for us/echo/interpret 1.0.0 (api 2.4). Unknown fields are rejected. */
export const echoInputSchema = z.strictObject({
  files: z
    .array(z.string().min(1))
    .min(1)
    .meta({
      description: 'Files of the examination: ids of uploads, or URLs of hosted files',
      examples: [['file_06dvq2kz7h5m1n3p8r0s2t4v6w']],
    }),
  prior_files: z
    .array(z.string().min(1))
    .optional()
    .meta({
      description: 'Files of earlier examinations of the same patient',
      examples: [[]],
    }),
  options: optionsSchema.optional().meta({ description: 'How to interpret' }),
  clinical_context: clinicalContextSchema
    .optional()
    .meta({ description: 'What is known of the patient, without an identity' }),
});

export type EchoOptions = z.infer<typeof optionsSchema>;
export type EchoContext = z.infer<typeof clinicalContextSchema>;

/**
 * Returns the options and the context of a job, with defaults for missing values.
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
