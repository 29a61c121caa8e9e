import { z } from 'zod';
import { LONGEST_INDICATION } from './job.ts';

/** Fields of `input` that the endpoints for whole studies have in common (api 2.3, 2.4). */

export const STUDY_FILES = {
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
      description:
        'Files of earlier examinations of the same patient: ids of uploads, or URLs of hosted files',
      examples: [[]],
    }),
};

/** Options that select the form of the result. */
export const REPORT_OPTIONS = {
  report: z
    .boolean()
    .default(false)
    .meta({ description: 'True: the result includes a draft report as text', examples: [true] }),
  report_language: z
    .enum(['en'])
    .default('en')
    .meta({ description: 'Language of the report', examples: ['en'] }),
  return: z
    .array(z.enum(['json']))
    .default(['json'])
    .meta({ description: 'Formats of the result', examples: [['json']] }),
};

/** Clinical context that is useful to every endpoint; it never contains an identity. */
export const PATIENT_CONTEXT = {
  age_years: z
    .number()
    .int()
    .min(0)
    .max(130)
    .optional()
    .meta({
      description:
        'Age of the patient in years; if it is missing, an echo is read as that of an adult',
      examples: [31],
    }),
  sex: z
    .enum(['female', 'male', 'other', 'unknown'])
    .optional()
    .meta({
      description: 'Sex of the patient; selects the reference ranges of an echo',
      examples: ['female'],
    }),
  indication: z
    .string()
    .max(LONGEST_INDICATION)
    .optional()
    .meta({
      description: 'Reason for the examination, without names, identifiers and dates',
      examples: ['shortness of breath'],
    }),
};
