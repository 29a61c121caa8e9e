import { z } from 'zod';
import { archiveSchema, expectedCountSchema } from './archive.ts';
import { auditSchema } from './audit-schema.ts';
import { consoleSchema } from './console-schema.ts';
import { checkReferences } from './cross-checks.ts';
import { fhirDestinationSettings, noAlternate } from './fhir-destination.ts';
import { aeTitle, name } from './names.ts';
import { dicomDestinationSchema, dicomwebDestinationSchema } from './pacs-destination.ts';
import { routingSchema } from './routing-schema.ts';
import { parseS3Url } from './s3-location.ts';
import { certificateSchema, listenerTlsSchema } from './tls-schema.ts';
import { tracingSchema } from './tracing-schema.ts';

/**
 * Every setting of a site. `default.yaml` holds the same keys with a comment each; a test keeps the
 * two in step. Unknown keys are refused, so that a misspelt setting never goes unnoticed.
 */

const port = z.number().int().min(0).max(65535);
/** What was found is not repeated in the complaint: it holds a secret. */
const s3Location = z.string().transform((text, context) => {
  const location = parseS3Url(text);
  if (location) return location;
  context.addIssue({ code: 'custom', message: 'allowed: s3://key:secret@host/bucket?region=…' });
  return z.NEVER;
});

const completionSchema = z.strictObject({
  signal: z.enum(['quiet-time', 'association-release']),
  quietSeconds: z.number().positive(),
  afterReleaseSeconds: z.number().positive(),
  /** Complete when all is here that an archive has of the study. */
  expectedCount: expectedCountSchema.optional(),
});

const sourceSchema = z.strictObject({
  name,
  callingAeTitles: z.array(z.union([z.literal('*'), aeTitle])).min(1),
  addresses: z.array(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()])).min(1),
  /** Names of API keys that bring objects by STOW-RS for this source; `*` is any with that scope. */
  apiKeys: z.array(z.string().min(1)).default([]),
  /** The certificate that the machine must show, over `dicom.tls`. */
  certificate: certificateSchema.optional(),
  /** What is over them is refused for now: the machine keeps it and tries again. */
  limits: z
    .strictObject({
      associations: z.number().int().positive().optional(),
      objectsPerMinute: z.number().int().positive().optional(),
      bytesPerMinute: z.number().int().positive().optional(),
    })
    .optional(),
  idleTimeoutSeconds: z.number().positive().default(300),
  /** Where the source listens itself: for reports of storage commitment over a new association. */
  node: z.strictObject({ host: z.string().min(1), port, aeTitle }).optional(),
  completion: completionSchema.default({
    signal: 'quiet-time',
    quietSeconds: 30,
    afterReleaseSeconds: 5,
  }),
  /** What late objects of a study that was interpreted lead to; `always` also when they are known. */
  rerun: z.enum(['never', 'when-content-changed', 'always']).default('when-content-changed'),
});

const outboundHostSchema = z.strictObject({
  host: z.string().min(1),
  /** Addresses outside the public internet that this name may have. */
  addresses: z.array(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()])).default([]),
  ports: z.array(port).min(1).default([443]),
  /** Also without TLS. */
  http: z.boolean().default(false),
});

/** Paper of the PDF report: ISO 216 A4, or US Letter. */
export const PAPERS = ['a4', 'letter'] as const;
export type Paper = (typeof PAPERS)[number];

/** What models run on: what is found to be best, or the one named (with `cpu` standing in). */
export const PROVIDER_SETTINGS = ['auto', 'cpu', 'cuda', 'webgpu'] as const;
export type ProviderSetting = (typeof PROVIDER_SETTINGS)[number];

export const ROLES = ['api', 'dimse', 'worker', 'delivery'] as const;

const settingsSchema = z.strictObject({
  dataDir: z.string().min(1),
  roles: z.array(z.enum(ROLES)).min(1),
  databaseUrl: z.url({ protocol: /^postgres(ql)?$/ }).optional(),
  redisUrl: z.url({ protocol: /^rediss?$/ }).optional(),
  blobUrl: s3Location.optional(),
  http: z.strictObject({
    host: z.string().min(1),
    port,
    publicUrl: z.url({ protocol: /^https?$/ }).optional(),
    tls: listenerTlsSchema.optional(),
    maxBodyBytes: z.number().int().positive(),
    maxUploadBytes: z.number().int().positive(),
    maxFileBytes: z.number().int().positive(),
    uploadPartBytes: z.number().int().positive(),
    callsPerMinute: z.number().int().positive(),
    openStreamsPerKey: z.number().int().positive(),
  }),
  console: consoleSchema,
  outbound: z.strictObject({
    hosts: z.array(outboundHostSchema),
    inputFiles: z.enum(['listed-hosts', 'public-hosts']),
    maxFileBytes: z.number().int().positive(),
    fetchTimeoutSeconds: z.number().positive(),
  }),
  dicom: z.strictObject({
    host: z.string().min(1),
    port,
    aeTitle,
    tls: listenerTlsSchema.optional(),
    maxPduBytes: z.number().int().min(4096).max(1_048_576),
    maxAssociations: z.number().int().positive(),
    maxObjectBytes: z.number().int().positive(),
    /** C-STORE answers A700H while less than this is free on the disk of `dataDir`. */
    minFreeBytes: z.number().int().nonnegative(),
  }),
  sources: z.array(sourceSchema),
  archives: z.array(archiveSchema),
  routing: routingSchema,
  destinations: z.array(
    z.discriminatedUnion('type', [
      dicomDestinationSchema,
      dicomwebDestinationSchema,
      fhirDestinationSettings.extend({ name, alternate: noAlternate }),
    ]),
  ),
  delivery: z.strictObject({
    retryBaseSeconds: z.number().positive(),
    retryCapSeconds: z.number().positive(),
    giveUpAfterHours: z.number().positive(),
    breaker: z.strictObject({
      failures: z.number().int().positive(),
      openSeconds: z.number().positive(),
      longestOpenSeconds: z.number().positive(),
    }),
    alternateAfterMinutes: z.number().nonnegative(),
  }),
  worker: z.strictObject({
    concurrency: z.number().int().positive(),
    timeoutSeconds: z.number().positive(),
    childMemoryMegabytes: z.number().int().positive(),
  }),
  models: z.strictObject({
    allow: z.enum(['all', 'permissive']),
    provider: z.enum(PROVIDER_SETTINGS),
    threads: z.number().int().positive(),
  }),
  report: z.strictObject({ paper: z.enum(PAPERS) }),
  audit: auditSchema.default({}),
  retention: z.strictObject({
    days: z.number().positive(),
    intakeDays: z.number().positive().optional(),
    quarantineDays: z.number().positive().optional(),
  }),
  shutdown: z.strictObject({
    /** Readiness is 503 for so long before doors close, for a load balancer to see it. */
    readinessSeconds: z.number().nonnegative(),
    graceSeconds: z.number().positive(),
  }),
  /** A port of its own for probes and scrapes, for processes of every role. */
  monitoring: z.strictObject({ host: z.string().min(1), port }).optional(),
  tracing: tracingSchema.optional(),
  logging: z.strictObject({
    level: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']),
  }),
});

export type Config = z.infer<typeof settingsSchema>;

/** A site's settings; what one names another must have. */
export const configSchema = settingsSchema.superRefine(checkReferences);

export type Source = Config['sources'][number];
export type Destination = Config['destinations'][number];
export type DicomDestination = Extract<Destination, { type: 'dicom' }>;
export type DicomwebDestination = Extract<Destination, { type: 'dicomweb' }>;
export type PacsDestination = DicomDestination | DicomwebDestination;
export type FhirDestination = Extract<Destination, { type: 'fhir' }>;
