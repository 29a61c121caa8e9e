import { z } from 'zod';
import { LONGEST_INDICATION } from '../contract/job.ts';
import { FINEST_MM_PER_PIXEL } from '../input/dicom/calibration.ts';
import { DATING_BASIS } from '../result/render/obstetric/shared.ts';

const optionsSchema = z.strictObject({
  dating: z
    .strictObject({
      ga_days: z.number().int().min(42).max(301),
      basis: z.enum(DATING_BASIS).default('lmp'),
    })
    .optional(),
  /**
   * Scale of all stills and videos in the request that do not state one, mm per pixel; the
   * coarsest value accepted is that of the service.
   */
  mm_per_px: z.number().min(FINEST_MM_PER_PIXEL).max(5).optional(),
  report: z.boolean().default(false),
  report_language: z.enum(['en']).default('en'),
  return: z.array(z.enum(['json'])).default(['json']),
  previews: z.boolean().default(true),
});

const clinicalContextSchema = z.strictObject({
  age_years: z.number().int().min(0).max(130).optional(),
  sex: z.enum(['female', 'male', 'other', 'unknown']).optional(),
  indication: z.string().max(LONGEST_INDICATION).optional(),
});

/** The `input` of us/obstetric/interpret 1.0.0 (api 2.3); unknown fields are rejected. */
export const obstetricInputSchema = z.strictObject({
  files: z.array(z.string().min(1)).min(1),
  prior_files: z.array(z.string().min(1)).optional(),
  options: optionsSchema.optional(),
  clinical_context: clinicalContextSchema.optional(),
});

export type ObstetricInput = z.infer<typeof obstetricInputSchema>;
export type ObstetricOptions = z.infer<typeof optionsSchema>;

/** The options of a job, with defaults filled in; throws where they do not match the schema. */
export function parseOptions(options: unknown): ObstetricOptions {
  return optionsSchema.parse(options ?? {});
}
