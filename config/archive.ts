import { z } from 'zod';
import {
  basicAuthorization,
  bearerAuthorization,
  httpTlsSchema,
  noAuthorization,
} from './http-access.ts';
import { aeTitle, name } from './names.ts';
import { nodeTlsSchema } from './tls-schema.ts';

const port = z.number().int().min(0).max(65535);

/** An archive that is asked and gives by DIMSE (PS3.4 C). */
const dicomArchiveSchema = z.strictObject({
  type: z.literal('dicom'),
  name,
  host: z.string().min(1),
  port,
  aeTitle,
  callingAeTitle: aeTitle.optional(),
  /** `c-get`: over our own association; `c-move`: the archive sends to our listener. */
  retrieve: z.enum(['c-get', 'c-move']).default('c-get'),
  /** Our AE title as the archive knows it, for `c-move`. */
  moveTo: aeTitle.optional(),
  tls: nodeTlsSchema.optional(),
  timeoutSeconds: z.number().positive().default(30),
});

/** An archive that is asked by QIDO-RS and gives by WADO-RS (PS3.18). */
const dicomwebArchiveSchema = z.strictObject({
  type: z.literal('dicomweb'),
  name,
  /** What `/studies` is appended to. */
  baseUrl: z.url({ protocol: /^https?$/ }),
  authorization: z
    .discriminatedUnion('type', [noAuthorization, bearerAuthorization, basicAuthorization])
    .default({ type: 'none' }),
  tls: httpTlsSchema.optional(),
  timeoutSeconds: z.number().positive().default(30),
});

/** Where studies are looked up and fetched from. */
export const archiveSchema = z.discriminatedUnion('type', [
  dicomArchiveSchema,
  dicomwebArchiveSchema,
]);
export type ArchiveSettings = z.infer<typeof archiveSchema>;
export type DicomArchiveSettings = Extract<ArchiveSettings, { type: 'dicom' }>;
export type DicomwebArchiveSettings = Extract<ArchiveSettings, { type: 'dicomweb' }>;

/** How a source's studies are held against what an archive has of them. */
export const expectedCountSchema = z.strictObject({
  archive: name,
  /** Longest that a study waits for objects that the archive has and we lack. */
  waitSeconds: z.number().positive().default(120),
  askEverySeconds: z.number().positive().default(5),
  fetchMissing: z.boolean().default(false),
});
export type ExpectedCount = z.infer<typeof expectedCountSchema>;

/** Which earlier examinations of the patient go along with a study. */
export const priorsSchema = z.strictObject({
  /** Archives that are asked in turn, until one has some. */
  from: z.array(name).min(1),
  /** At most so many studies, the newest. */
  studies: z.number().int().min(1).max(10).default(2),
  withinDays: z.number().int().positive().default(300),
  modality: z.string().min(1).max(16).default('US'),
  /** Regular expression on the Study Description, case ignored. */
  description: z
    .string()
    .refine((text) => {
      try {
        new RegExp(text, 'i');
        return true;
      } catch {
        return false;
      }
    }, 'a regular expression')
    .optional(),
  /** `reports`: structured reports alone; `all`: images too. */
  objects: z.enum(['reports', 'all']).default('reports'),
  /** Longest that the study waits for them; then it goes without, and says so. */
  waitSeconds: z.number().positive().default(60),
});
export type PriorsSettings = z.infer<typeof priorsSchema>;
