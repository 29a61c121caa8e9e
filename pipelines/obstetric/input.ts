import { z } from 'zod';
import { PATIENT_CONTEXT, REPORT_OPTIONS, STUDY_FILES } from '../contract/study-input.ts';
import { FINEST_MM_PER_PIXEL } from '../input/dicom/calibration.ts';
import { described } from '../result/envelope.ts';
import { DATING_BASIS } from '../result/render/obstetric/shared.ts';

/** Scale in mm per pixel. The maximum of 5 is defined by the API (api 2.3). */
const scaleSchema = z.number().min(FINEST_MM_PER_PIXEL).max(5);

const optionsSchema = z.strictObject({
  dating: described(
    z
      .strictObject({
        ga_days: described(
          z.number().int().min(42).max(301),
          'Gestational age on the day of the examination, in days',
          196,
        ),
        basis: described(
          z.enum(DATING_BASIS).default('lmp'),
          'Method by which the pregnancy was dated: last menstrual period, CRL, earlier scan or IVF',
          'crl',
        ),
      })
      .optional(),
    'Dating of the pregnancy; growth is not judged without it',
  ),
  mm_per_px: described(
    z.union([scaleSchema, z.array(scaleSchema.nullable()).min(1)]).optional(),
    'Scale in mm per pixel, for stills and videos that do not state one: one number for all files, or a list with one entry for each file in the same order, null if the scale of that file is not known',
    0.1413,
  ),
  ...REPORT_OPTIONS,
  previews: described(
    z.boolean().default(true),
    'True: previews with calipers are made for viewers',
    true,
  ),
});

const clinicalContextSchema = z.strictObject(PATIENT_CONTEXT);

/** The `input` of us/obstetric/interpret 1.0.0 (api 2.3); unknown fields are rejected. */
export const obstetricInputSchema = z
  .strictObject({
    ...STUDY_FILES,
    options: optionsSchema.optional().meta({ description: 'Options of the interpretation' }),
    clinical_context: clinicalContextSchema
      .optional()
      .meta({ description: 'Clinical context of the patient, without identity' }),
  })
  .refine(
    ({ files, options }) =>
      !Array.isArray(options?.mm_per_px) || options.mm_per_px.length === files.length,
    { path: ['options', 'mm_per_px'], message: 'a list of scales has one entry for each file' },
  );

export type ObstetricInput = z.infer<typeof obstetricInputSchema>;
export type ObstetricOptions = z.infer<typeof optionsSchema>;

/**
 * Returns a function that looks up the scale of a file by name. The request gives either one scale
 * for all files or a list in the order of the files. A file in an archive has the scale given for
 * the archive.
 */
export function scaleByFile(
  scale: ObstetricOptions['mm_per_px'],
  files: readonly string[],
): (file: string) => number | null {
  if (!Array.isArray(scale)) return () => scale ?? null;
  return (file) => {
    const place = files.findIndex((name) => file === name || file.startsWith(`${name}/`));
    return scale[place] ?? null;
  };
}

/**
 * Parses the options of a job and fills in the defaults.
 * @throws if the options do not match the schema.
 */
export function parseOptions(options: unknown): ObstetricOptions {
  return optionsSchema.parse(options ?? {});
}
