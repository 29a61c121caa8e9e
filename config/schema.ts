import { z } from 'zod';
import { alertsSchema } from './alerts.ts';
import {
  aeTitle,
  archiveSchema,
  type DeidentificationSettings,
  dicomDestinationSchema,
  dicomwebDestinationSchema,
  expectedCountSchema,
  fhirDestinationSettings,
  hl7v2DestinationSchema,
  localDestinationSchema,
  name,
  noAlternate,
  ordersSchema,
} from './peers.ts';
import { routingSchema } from './routing.ts';
import { secretSchema } from './secret.ts';
import { certificateSchema, listenerTlsSchema, nodeTlsSchema } from './tls.ts';

/**
 * A run uses about two cores, and one study that takes long must not hold up the others. The console's
 * pages see the types of this file, so it imports nothing of Node.js.
 */
const studiesAtOnce = () => (navigator.hardwareConcurrency >= 4 ? 2 : 1);

const names = z.array(z.string().min(1)).min(1);

/** On loopback, TLS is not needed to keep traffic between programs of one machine private. */
const issuer = z.url({ protocol: /^https?$/ }).refine((text) => {
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || ['127.0.0.1', 'localhost', '[::1]'].includes(hostname);
}, 'https, or http on this machine');

const oidcSchema = z.strictObject({
  issuer,
  clientId: z.string().min(1),
  /** Without a secret the gateway is a public client: only PKCE proves that it sent the request. */
  clientSecret: secretSchema.optional(),
  /** Text of the button: "Sign in with …". */
  label: z.string().min(1).max(60).default('OpenID Connect'),
  scopes: z.array(z.string().min(1)).default(['openid', 'profile']),
  /** Claims of the ID token. */
  nameClaim: z.string().min(1).default('name'),
  roleClaim: z.string().min(1).default('groups'),
  /** Role of the console → values of the role claim that grant it. */
  roles: z.partialRecord(z.enum(['viewer', 'clinician', 'operator', 'administrator']), names),
});

/** The web console at `/console`. */
const consoleSchema = z.strictObject({
  enabled: z.boolean(),
  signInsPerMinute: z.number().int().positive(),
  /** Other programs may open a study in the console (IHE Invoke Image Display, RAD-106). */
  invokeImageDisplay: z.boolean(),
  /** A viewer of the hospital that opens a study by its address, such as OHIF or Weasis. */
  viewer: z
    .strictObject({
      label: z.string().min(1).max(40).default('Open in viewer'),
      /** `{StudyInstanceUID}`, `{AccessionNumber}` and `{PatientID}` are replaced. */
      url: z
        .string()
        .regex(/^(https?|weasis):/, 'an address that begins with https:, http: or weasis:')
        .regex(
          /\{(StudyInstanceUID|AccessionNumber)\}/,
          'an address with {StudyInstanceUID} or {AccessionNumber}',
        ),
    })
    .optional(),
  oidc: oidcSchema.optional(),
});

/**
 * Traces of each study through the gateway, sent to an OpenTelemetry collector (OTLP over HTTP).
 */
const tracingSchema = z.strictObject({
  /** Where traces are posted: http://collector.example:4318/v1/traces. */
  endpoint: z.url({ protocol: /^https?$/ }),
  /** A file with one `name: value` header per line, such as an authorization. */
  headersFile: z.string().optional(),
  serviceName: z.string().min(1).default('sonogate'),
  /** Share of studies that are traced; a caller that sends a traceparent decides for itself. */
  sampleRatio: z.number().min(0).max(1).default(1),
});

export type Tracing = z.infer<typeof tracingSchema>;

/** Where audit messages are sent, in addition to the database (docs/security.md). */
export const auditSchema = z.strictObject({
  /** Name by which the audit record repository knows this gateway; by default that of the machine. */
  sourceId: z.string().min(1).optional(),
  /** The hospital (AuditEnterpriseSiteID). */
  siteId: z.string().min(1).optional(),
  /** DICOM audit messages over syslog (PS3.15 A.5 to A.7). */
  syslog: z
    .strictObject({
      transport: z.enum(['udp', 'tls']),
      host: z.string().min(1),
      /** 514 and 6514 are the registered ones. */
      port: z.number().int().min(1).max(65535),
      tls: nodeTlsSchema.optional(),
    })
    .optional(),
  /** FHIR AuditEvents to an audit record repository. */
  fhir: fhirDestinationSettings
    .pick({ baseUrl: true, authorization: true, tls: true, timeoutSeconds: true })
    .optional(),
});

/** Address and credentials of an S3-compatible store. */
export interface S3Location {
  /** `https://host[:port]` or `http://…`. */
  endpoint: string;
  bucket: string;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
}

/**
 * Reads `s3://key:secret@host[:port]/bucket[?region=…]`. `s3` and `https` use TLS, `http` is for a
 * server inside the hospital. Key and secret are percent-encoded where they contain `/`, `@` or
 * `:`. Null for anything else.
 */
export function parseS3Url(text: string): S3Location | null {
  // `URL` parses a host and port only for the schemes of the web.
  const url = URL.parse(text.replace(/^s3:/i, 'https:'));
  const bucket = /^\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])\/?$/.exec(url?.pathname ?? '')?.[1];
  if (!url || !bucket || !/^https?:$/.test(url.protocol) || !url.username || !url.password) {
    return null;
  }
  try {
    return {
      endpoint: `${url.protocol}//${url.host}`,
      bucket,
      region: url.searchParams.get('region') ?? 'us-east-1',
      accessKeyId: decodeURIComponent(url.username),
      secretAccessKey: decodeURIComponent(url.password),
    };
  } catch {
    return null;
  }
}

type Context = z.RefinementCtx<Config>;
type Path = (string | number)[];

/** Names that one setting uses and another must define: destinations, archives, authorities. */
function checkReferences(config: Config, context: Context): void {
  checkNames(config, context);
  checkRules(config, context);
  checkCertificates(config, context);
  checkArchives(config, context);
  checkAlternates(config, context);
  checkAlerts(config, context);
}

const complain = (context: Context, path: Path, message: string): void =>
  context.addIssue({ code: 'custom', path, message });

/** @param none the text of the complaint where nothing is defined. */
const notAllowed = (found: string, allowed: readonly string[], none: string): string =>
  `found "${found}"; allowed: ${allowed.join(', ') || none}`;

const pacsNames = ({ destinations }: Config): string[] =>
  destinations.filter(isPacs).map(({ name }) => name);

function checkNames({ destinations }: Config, context: Context): void {
  const seen = new Set<string>();
  destinations.forEach(({ name }, d) => {
    if (seen.has(name)) {
      const message = `found "${name}" twice; every destination needs a different name`;
      complain(context, ['destinations', d, 'name'], message);
    }
    seen.add(name);
  });
}

function checkRules(config: Config, context: Context): void {
  const deidentifying = config.destinations.filter(isDeidentifying).map(({ name }) => name);
  const identified = (names: readonly string[]) =>
    names.filter((each) => !deidentifying.includes(each));
  const known = [...new Set(config.destinations.map(({ name }) => name))];
  const lists = [
    ['deliverTo', identified(known), 'no destination is configured'],
    ['forwardTo', identified(pacsNames(config)), 'no destination is configured'],
    ['deidentifyTo', deidentifying, 'no destination has `deidentification`'],
  ] as const;
  const ehrs = config.destinations.flatMap(({ type, name }) => (type === 'fhir' ? [name] : []));
  config.routing.rules.forEach((rule, r) => {
    rule.deliverTo.forEach((destination, d) => {
      if (!rule.translate || ehrs.includes(destination)) return;
      const message = notAllowed(destination, ehrs, 'translate needs a destination of type fhir');
      complain(context, ['routing', 'rules', r, 'deliverTo', d], message);
    });
    for (const [list, allowed, none] of lists) {
      rule[list].forEach((destination, d) => {
        if (allowed.includes(destination)) return;
        const message = notAllowed(destination, allowed, none);
        complain(context, ['routing', 'rules', r, list, d], message);
      });
    }
  });
}

function checkCertificates({ sources, queryRetrieve, dicom }: Config, context: Context): void {
  const { caFile, clientCertificate } = dicom.tls ?? {};
  if (caFile !== undefined && clientCertificate !== 'none') return;
  const message = 'needs dicom.tls with the authority of the certificates: caFile';
  sources.forEach(({ certificate }, s) => {
    if (certificate) complain(context, ['sources', s, 'certificate'], message);
  });
  queryRetrieve.callers.forEach(({ certificate }, c) => {
    if (certificate) complain(context, ['queryRetrieve', 'callers', c, 'certificate'], message);
  });
}

function checkArchives({ archives, sources, routing }: Config, context: Context): void {
  const known = archives.map(({ name }) => name);
  const requireArchive = (archive: string, path: Path) => {
    if (known.includes(archive)) return;
    complain(context, path, notAllowed(archive, known, 'no archive is configured'));
  };
  sources.forEach(({ completion: { expectedCount } }, s) => {
    if (!expectedCount) return;
    requireArchive(expectedCount.archive, ['sources', s, 'completion', 'expectedCount', 'archive']);
  });
  routing.rules.forEach(({ priors }, r) => {
    priors?.from.forEach((archive, a) => {
      requireArchive(archive, ['routing', 'rules', r, 'priors', 'from', a]);
    });
  });
}

function checkAlternates(config: Config, context: Context): void {
  const pacs = config.destinations.filter(sendsIdentity).map(({ name }) => name);
  config.destinations.forEach((destination, d) => {
    if (!isPacs(destination) || destination.alternate === undefined) return;
    if (isDeidentifying(destination)) {
      const message = 'a destination of de-identified objects has no alternate';
      complain(context, ['destinations', d, 'alternate'], message);
      return;
    }
    const others = pacs.filter((each) => each !== destination.name);
    if (others.includes(destination.alternate)) return;
    const message = notAllowed(destination.alternate, others, 'there is no other PACS');
    complain(context, ['destinations', d, 'alternate'], message);
  });
}

function checkAlerts({ alerts, http, sources }: Config, context: Context): void {
  if (!alerts) return;
  if (http.publicUrl === undefined) {
    const message = 'needs http.publicUrl: a mail links to the study in the console';
    complain(context, ['alerts'], message);
  }
  const known = sources.map(({ name }) => name);
  alerts.lists.forEach((list, l) => {
    list.sources?.forEach((source, s) => {
      if (known.includes(source)) return;
      const message = notAllowed(source, known, 'no source is configured');
      complain(context, ['alerts', 'lists', l, 'sources', s], message);
    });
  });
}

/**
 * Every setting of a site. `default.yaml` has the same keys with a comment each; a test compares
 * the two. Unknown keys are refused, so that a misspelt setting never goes unnoticed.
 */

const port = z.number().int().min(0).max(65535);
/** The complaint does not repeat the value, because it holds a secret. */
const s3Location = z.string().transform((text, context) => {
  const location = parseS3Url(text);
  if (location) return location;
  context.addIssue({ code: 'custom', message: 'allowed: s3://key:secret@host/bucket?region=…' });
  return z.NEVER;
});

const completionSchema = z.strictObject({
  signal: z.enum(['quiet-time', 'association-release']).default('quiet-time'),
  quietSeconds: z.number().positive().default(30),
  afterReleaseSeconds: z.number().positive().default(5),
  /** Complete when everything has arrived that an archive has of the study. */
  expectedCount: expectedCountSchema.optional(),
});

const sourceSchema = z.strictObject({
  name,
  callingAeTitles: z.array(z.union([z.literal('*'), aeTitle])).min(1),
  addresses: z.array(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()])).min(1),
  /** Names of API keys that send objects by STOW-RS for this source; `*` is any with that scope. */
  apiKeys: z.array(z.string().min(1)).default([]),
  /** Whether studies that are uploaded in the console belong to this source. */
  consoleUploads: z.boolean().default(false),
  /** The certificate that the machine must present, over `dicom.tls`. */
  certificate: certificateSchema.optional(),
  /** Anything above these limits is refused for now: the machine keeps it and tries again. */
  limits: z
    .strictObject({
      associations: z.number().int().positive().optional(),
      objectsPerMinute: z.number().int().positive().optional(),
      bytesPerMinute: z.number().int().positive().optional(),
    })
    .optional(),
  idleTimeoutSeconds: z.number().positive().default(300),
  /** Where the source itself listens: for reports of storage commitment over a new association. */
  node: z.strictObject({ host: z.string().min(1), port, aeTitle }).optional(),
  completion: completionSchema.prefault({}),
  /** What late objects of an interpreted study cause; `always` also when they are known. */
  rerun: z.enum(['never', 'when-content-changed', 'always']).default('when-content-changed'),
});

const outboundHostSchema = z.strictObject({
  host: z.string().min(1),
  /** Addresses outside the public internet that this name may resolve to. */
  addresses: z.array(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()])).default([]),
  ports: z.array(port).min(1).default([443]),
  /** Allowed without TLS. */
  http: z.boolean().default(false),
});

/** Paper of the PDF report: ISO 216 A4, or US Letter. */
export const PAPERS = ['a4', 'letter'] as const;
export type Paper = (typeof PAPERS)[number];

/**
 * What a method must have been shown on for its values to count: real images, or, for research and
 * the demo, simulated ones too.
 */
export const EVIDENCE_SETTINGS = ['real', 'simulated'] as const;
export type AcceptedEvidence = (typeof EVIDENCE_SETTINGS)[number];

/** What models run on: the provider that proves best, or the one named (`cpu` if it fails). */
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
    queuedPerKey: z.number().int().positive(),
    /** Requests can be read and searched as FHIR R4 Tasks under `/fhir`. */
    fhirTasks: z.boolean(),
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
    /** C-STORE returns A700H while less than this is free on the disk of `dataDir`. */
    minFreeBytes: z.number().int().nonnegative(),
  }),
  /** Search and retrieval of what this gateway holds (PS3.4 C, PS3.18 10.4 and 10.6). */
  queryRetrieve: z.strictObject({
    /** QIDO-RS and WADO-RS, for keys with the scope `retrieve`. */
    dicomweb: z.boolean(),
    /** Who may query and retrieve by DIMSE (Study Root C-FIND, C-GET, C-MOVE). */
    callers: z.array(
      z.strictObject({
        callingAeTitles: z.array(aeTitle).min(1),
        addresses: z.array(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()])).min(1),
        /** The certificate that the caller must present, over `dicom.tls`. */
        certificate: certificateSchema.optional(),
      }),
    ),
    /** Where a C-MOVE may send, by AE title. */
    moveDestinations: z.array(
      z.strictObject({
        aeTitle,
        host: z.string().min(1),
        port,
        tls: nodeTlsSchema.optional(),
        timeoutSeconds: z.number().positive().default(30),
      }),
    ),
  }),
  sources: z.array(sourceSchema),
  archives: z.array(archiveSchema),
  orders: ordersSchema,
  routing: routingSchema,
  destinations: z.array(
    z.discriminatedUnion('type', [
      dicomDestinationSchema,
      dicomwebDestinationSchema,
      localDestinationSchema,
      fhirDestinationSettings.extend({ name, alternate: noAlternate }),
      hl7v2DestinationSchema,
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
    concurrency: z.number().int().positive().default(studiesAtOnce()),
    timeoutSeconds: z.number().positive(),
    readSeconds: z.number().positive(),
    childMemoryMegabytes: z.number().int().positive(),
  }),
  models: z.strictObject({
    allow: z.enum(['all', 'permissive']),
    provider: z.enum(PROVIDER_SETTINGS),
    threads: z.number().int().positive(),
  }),
  evidence: z.strictObject({ accept: z.enum(EVIDENCE_SETTINGS) }),
  report: z.strictObject({ paper: z.enum(PAPERS) }),
  review: z.strictObject({
    /** The organisation in whose name results are signed: Verifying Organization (PS3.3 C.17.2). */
    organization: z.string().min(1).max(64),
    /** Signatures that a result needs, each of another person. */
    signatures: z.union([z.literal(1), z.literal(2)]),
  }),
  pictures: z.strictObject({ show: z.enum(['ultrasound', 'whole-frames']) }),
  alerts: alertsSchema.optional(),
  audit: auditSchema.default({}),
  retention: z.strictObject({
    days: z.number().positive(),
    intakeDays: z.number().positive().optional(),
    quarantineDays: z.number().positive().optional(),
  }),
  shutdown: z.strictObject({
    /** How long readiness is 503 before doors close, so that a load balancer notices. */
    readinessSeconds: z.number().nonnegative(),
    graceSeconds: z.number().positive(),
  }),
  /** A separate port for probes and scrapes, for processes of every role. */
  monitoring: z.strictObject({ host: z.string().min(1), port }).optional(),
  tracing: tracingSchema.optional(),
  logging: z.strictObject({
    level: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']),
  }),
});

export type Config = z.infer<typeof settingsSchema>;

/** A site's settings; every name that one uses must be defined by another. */
export const configSchema = settingsSchema.superRefine(checkReferences);

export type QueryCaller = Config['queryRetrieve']['callers'][number];
export type MoveDestination = Config['queryRetrieve']['moveDestinations'][number];
export type Source = Config['sources'][number];
export type Destination = Config['destinations'][number];
export type DicomDestination = Extract<Destination, { type: 'dicom' }>;
export type DicomwebDestination = Extract<Destination, { type: 'dicomweb' }>;
export type LocalDestination = Extract<Destination, { type: 'local' }>;
/** A destination that keeps DICOM objects. */
export type ObjectDestination = DicomDestination | DicomwebDestination | LocalDestination;
/** A system of another machine that receives DICOM objects. */
export type PacsDestination = Exclude<ObjectDestination, LocalDestination>;

export const isPacs = (destination: Destination): destination is PacsDestination =>
  destination.type === 'dicom' || destination.type === 'dicomweb';

/** Whether a destination gets de-identified copies, and nothing else. */
export type DeidentifyingDestination = PacsDestination & {
  deidentification: DeidentificationSettings;
};
export const isDeidentifying = (
  destination: Destination,
): destination is DeidentifyingDestination =>
  isPacs(destination) && destination.deidentification !== undefined;
/** A PACS that gets objects with the identity of the patient. */
export const sendsIdentity = (destination: Destination): destination is PacsDestination =>
  isPacs(destination) && destination.deidentification === undefined;
export type FhirDestination = Extract<Destination, { type: 'fhir' }>;
export type Hl7v2Destination = Extract<Destination, { type: 'hl7v2' }>;
