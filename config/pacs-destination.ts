import { z } from 'zod';
import {
  basicAuthorization,
  bearerAuthorization,
  httpTlsSchema,
  noAuthorization,
} from './http-access.ts';
import { aeTitle, name } from './names.ts';
import { nodeTlsSchema } from './tls-schema.ts';

/** What a PACS can be sent of a result (docs/dicom-objects.md). */
const dicomObject = z.enum([
  'sr-tid1500',
  'sr-tid5000',
  'sr-echo',
  'seg',
  'key-objects',
  'pdf',
  'secondary-capture',
  'presentation-state',
]);

/** What is sent, however it is sent. */
const contents = {
  name,
  objects: z.array(dicomObject).default(['sr-tid1500', 'sr-tid5000', 'sr-echo']),
  /** `auto`: the highest that the peer takes. */
  measurementSopClass: z
    .enum(['auto', 'comprehensive3d', 'comprehensive', 'enhanced'])
    .default('auto'),
  /** `labelmap` falls back to `binary` where the peer does not take it. */
  segmentation: z.enum(['binary', 'labelmap']).default('binary'),
  /** The destination that takes the place of this one when it fails for good or for long. */
  alternate: name.optional(),
  timeoutSeconds: z.number().positive().default(60),
};

/** A PACS that takes objects by C-STORE. */
export const dicomDestinationSchema = z.strictObject({
  type: z.literal('dicom'),
  ...contents,
  host: z.string().min(1),
  port: z.number().int().min(0).max(65535),
  aeTitle,
  callingAeTitle: aeTitle.optional(),
  /** TLS (PS3.15 B.12); without `caFile` the certificate must be of a public authority. */
  tls: nodeTlsSchema.optional(),
  /** Asks the PACS to commit to the storage of what it took (PS3.4 J). */
  storageCommitment: z.boolean().default(false),
  /** An association is kept open so long after a delivery, for those that follow; 0: not at all. */
  associationIdleSeconds: z.number().nonnegative().default(2),
});

/** A PACS that takes objects by STOW-RS (PS3.18 10.5). */
export const dicomwebDestinationSchema = z.strictObject({
  type: z.literal('dicomweb'),
  ...contents,
  /** What `/studies` is appended to. */
  baseUrl: z.url({ protocol: /^https?$/ }),
  authorization: z
    .discriminatedUnion('type', [noAuthorization, bearerAuthorization, basicAuthorization])
    .default({ type: 'none' }),
  tls: httpTlsSchema.optional(),
});
