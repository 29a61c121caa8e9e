import { z } from 'zod';
import { address, aeTitle, expectedCountSchema, name, port } from './peers.ts';
import { certificateSchema } from './tls.ts';

const completionSchema = z.strictObject({
  signal: z.enum(['quiet-time', 'association-release']).default('quiet-time'),
  quietSeconds: z.number().positive().default(30),
  afterReleaseSeconds: z.number().positive().default(5),
  /** Makes a study complete once all of its objects in an archive have arrived. */
  expectedCount: expectedCountSchema.optional(),
});

/** A cart or archive that sends objects: who may send, and when its studies are complete. */
export const sourceSchema = z.strictObject({
  name,
  callingAeTitles: z.array(z.union([z.literal('*'), aeTitle])).min(1),
  addresses: z.array(address).min(1),
  /**
   * Names of API keys that may send objects by STOW-RS for this source; `*` allows every key with
   * the scope `store`.
   */
  apiKeys: z.array(z.string().min(1)).default([]),
  /** Whether studies uploaded in the console belong to this source. */
  consoleUploads: z.boolean().default(false),
  /** The certificate that the machine must present, in addition to what `dicom.tls` requires. */
  certificate: certificateSchema.optional(),
  /** Objects above these limits are refused temporarily: the machine keeps them and tries again. */
  limits: z
    .strictObject({
      associations: z.number().int().positive().optional(),
      objectsPerMinute: z.number().int().positive().optional(),
      bytesPerMinute: z.number().int().positive().optional(),
    })
    .optional(),
  idleTimeoutSeconds: z.number().positive().default(300),
  /**
   * Address where the source listens, for storage commitment reports sent over a new association.
   */
  node: z.strictObject({ host: z.string().min(1), port, aeTitle }).optional(),
  completion: completionSchema.prefault({}),
  /**
   * Whether objects that arrive after a study was interpreted start a new interpretation. `always`:
   * even if the gateway already has these objects.
   */
  rerun: z.enum(['never', 'when-content-changed', 'always']).default('when-content-changed'),
});
