import { z } from 'zod';
import { alertsSchema } from './alerts.ts';
import { hl7v2Schema } from './hl7v2.ts';
import {
  address,
  aeTitle,
  archiveSchema,
  type DeidentificationSettings,
  dicomDestinationSchema,
  dicomwebDestinationSchema,
  fhirDestinationSettings,
  hl7v2DestinationSchema,
  httpUrl,
  localDestinationSchema,
  name,
  noAlternate,
  ordersSchema,
  port,
  repeatedNames,
} from './peers.ts';
import { type Routing, routingSchema } from './routing.ts';
import { secretSchema } from './secret.ts';
import { sourceSchema } from './sources.ts';
import { certificateSchema, listenerTlsSchema, nodeTlsSchema } from './tls.ts';

/**
 * Returns the default number of studies interpreted at the same time. A run uses about two cores,
 * and one long run must not delay other studies. The number of cores comes from `navigator` rather
 * than `node:os`, because the console's pages use the types of this file and it must therefore
 * import nothing from Node.js.
 */
const studiesAtOnce = () => (navigator.hardwareConcurrency >= 4 ? 2 : 1);

const names = z.array(z.string().min(1)).min(1);

/**
 * Address of an OpenID Connect issuer. TLS is optional for a loopback address, because the traffic
 * does not leave the host.
 */
const issuer = httpUrl.refine((text) => {
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || ['127.0.0.1', 'localhost', '[::1]'].includes(hostname);
}, 'https, or http on this machine');

const oidcSchema = z.strictObject({
  issuer,
  clientId: z.string().min(1),
  /**
   * Without a secret, the gateway is a public client, and only PKCE proves that it sent the
   * request.
   */
  clientSecret: secretSchema.optional(),
  /** Certificate authority of the provider, if it is not a public one. */
  caFile: z.string().min(1).optional(),
  /** Text of the button: "Sign in with …". */
  label: z.string().min(1).max(60).default('OpenID Connect'),
  scopes: z.array(z.string().min(1)).default(['openid', 'profile']),
  /** The ID token claims that contain the person's name and roles. */
  nameClaim: z.string().min(1).default('name'),
  roleClaim: z.string().min(1).default('groups'),
  /** Maps each console role to the values of the role claim that grant it. */
  roles: z.partialRecord(z.enum(['viewer', 'clinician', 'operator', 'administrator']), names),
});

const consoleSchema = z.strictObject({
  enabled: z.boolean(),
  signInsPerMinute: z.number().int().positive(),
  /** Whether other programs may open a study in the console (IHE Invoke Image Display, RAD-106). */
  invokeImageDisplay: z.boolean(),
  /** A viewer in the hospital, such as OHIF or Weasis, that opens a study by URL. */
  viewer: z
    .strictObject({
      label: z.string().min(1).max(40).default('Open in viewer'),
      /** URL with the placeholders `{StudyInstanceUID}`, `{AccessionNumber}` and `{PatientID}`. */
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
 * Traces of each study's way through the gateway, sent to an OpenTelemetry collector (OTLP over
 * HTTP).
 */
const tracingSchema = z.strictObject({
  /** URL to which traces are posted: http://collector.example:4318/v1/traces. */
  endpoint: httpUrl,
  /** A file with one `name: value` header per line, such as an authorization. */
  headersFile: z.string().optional(),
  serviceName: z.string().min(1).default('sonogate'),
  /**
   * Share of studies that are traced. An HTTP request with a traceparent header is traced if that
   * header says so.
   */
  sampleRatio: z.number().min(0).max(1).default(1),
});

export type Tracing = z.infer<typeof tracingSchema>;

/** Receivers of audit messages in addition to the database (docs/security.md). */
export const auditSchema = z.strictObject({
  /** Name of this gateway in the audit record repository; by default the name of the host. */
  sourceId: z.string().min(1).optional(),
  /** Name of the hospital (AuditEnterpriseSiteID). */
  siteId: z.string().min(1).optional(),
  /** DICOM audit messages over syslog (PS3.15 A.5 to A.7). */
  syslog: z
    .strictObject({
      transport: z.enum(['udp', 'tls']),
      host: z.string().min(1),
      /** The registered ports are 514 and 6514. */
      port: z.number().int().min(1).max(65535),
      tls: nodeTlsSchema.optional(),
    })
    .optional(),
  /** FHIR AuditEvents to an audit record repository. */
  fhir: fhirDestinationSettings
    .pick({ baseUrl: true, authorization: true, tls: true, timeoutSeconds: true })
    .optional(),
});

export interface S3Location {
  /** `https://host[:port]` or `http://…`. */
  endpoint: string;
  bucket: string;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
}

/**
 * Parses `s3://key:secret@host[:port]/bucket[?region=…]`. `s3` and `https` use TLS; `http` is for a
 * server inside the hospital. Key and secret are percent-encoded if they contain `/`, `@` or `:`.
 * Returns null for any other text.
 */
export function parseS3Url(text: string): S3Location | null {
  // `URL` parses the host and port only for web schemes, so the scheme is replaced.
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

/**
 * Checks what depends on several settings: names of sources, destinations and archives are unique
 * and defined where they are used, and settings that another setting needs are present.
 */
function checkReferences(config: Config, context: Context): void {
  checkNames(config, context);
  checkRules(config, context);
  checkCertificates(config, context);
  checkArchives(config, context);
  checkSubmission(config, context);
  checkAlternates(config, context);
  checkAlerts(config, context);
}

const complain = (context: Context, path: Path, message: string): void =>
  context.addIssue({ code: 'custom', path, message });

/**
 * Returns the error text for a name that is not defined.
 * @param none the text shown if no name at all is allowed.
 */
const notAllowed = (found: string, allowed: readonly string[], none: string): string =>
  `found "${found}"; allowed: ${allowed.join(', ') || none}`;

function checkNames({ sources, destinations, archives }: Config, context: Context): void {
  for (const [list, entries] of Object.entries({ sources, destinations, archives })) {
    for (const { index, message } of repeatedNames(entries)) {
      complain(context, [list, index, 'name'], message);
    }
  }
}

function checkRules({ routing, destinations }: Config, context: Context): void {
  for (const { path, message } of misnamedDestinations(routing, destinations)) {
    complain(context, ['routing', ...path], message);
  }
}

/**
 * Returns an error for each destination in a rule that is not configured, or whose type the list of
 * the rule does not accept. The path of each error is relative to `routing`.
 */
export function misnamedDestinations(
  { rules }: Routing,
  destinations: readonly Destination[],
): { path: Path; message: string }[] {
  const named = (accepts: (destination: Destination) => boolean) => [
    ...new Set(destinations.filter(accepts).map(({ name }) => name)),
  ];
  const ehrs = named(({ type }) => type === 'fhir');
  const lists = [
    ['deliverTo', named((each) => !isDeidentifying(each)), 'no destination is configured'],
    ['forwardTo', named(sendsIdentity), 'no destination is configured'],
    ['deidentifyTo', named(isDeidentifying), 'no destination has `deidentification`'],
  ] as const;
  return rules.flatMap((rule, r) =>
    lists.flatMap(([list, ofType, none]) => {
      const translated = list === 'deliverTo' && rule.translate;
      const allowed = translated ? ehrs : ofType;
      const otherwise = translated ? 'translate needs a destination of type fhir' : none;
      return rule[list].flatMap((name, d) =>
        allowed.includes(name)
          ? []
          : [{ path: ['rules', r, list, d], message: notAllowed(name, allowed, otherwise) }],
      );
    }),
  );
}

function checkCertificates({ sources, queryRetrieve, dicom }: Config, context: Context): void {
  const { caFile, clientCertificate } = dicom.tls ?? {};
  if (caFile !== undefined && clientCertificate !== 'none') return;
  const message = 'needs dicom.tls with caFile, the authority that issues the certificates';
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

function checkSubmission({ http, archives, destinations }: Config, context: Context): void {
  const named = http.fhirSubmission;
  const check = (list: 'archives' | 'ehrs', allowed: readonly string[], none: string) => {
    named?.[list].forEach((found, n) => {
      if (allowed.includes(found)) return;
      complain(context, ['http', 'fhirSubmission', list, n], notAllowed(found, allowed, none));
    });
  };
  const web = archives.flatMap(({ type, name }) => (type === 'dicomweb' ? [name] : []));
  check('archives', web, 'no archive of type dicomweb is configured');
  const ehrs = destinations.flatMap(({ type, name }) => (type === 'fhir' ? [name] : []));
  check('ehrs', ehrs, 'no destination of type fhir is configured');
}

function checkAlternates(config: Config, context: Context): void {
  const pacs = config.destinations.filter(sendsIdentity).map(({ name }) => name);
  config.destinations.forEach((destination, d) => {
    if (!isPacs(destination) || destination.alternate === undefined) return;
    if (isDeidentifying(destination)) {
      const message = 'a destination for de-identified objects cannot have an alternate';
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
    const message = 'needs http.publicUrl, because mails link to the study in the console';
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
 * The schemas below define every setting of an installation. `default.yaml` has the same keys, each
 * with a comment; a test compares the two. Unknown keys are rejected, so that a misspelt setting is
 * noticed.
 */

/** The error text does not repeat the value, which contains a secret. */
const s3Location = z.string().transform((text, context) => {
  const location = parseS3Url(text);
  if (location) return location;
  context.addIssue({ code: 'custom', message: 'allowed: s3://key:secret@host/bucket?region=…' });
  return z.NEVER;
});

const outboundHostSchema = z.strictObject({
  host: z.string().min(1),
  /** Addresses outside the public internet that this name may resolve to. */
  addresses: z.array(address).default([]),
  ports: z.array(port).min(1).default([443]),
  /** Whether HTTP without TLS is allowed. */
  http: z.boolean().default(false),
});

/** Paper size of the PDF report: ISO 216 A4, or US Letter. */
export const PAPERS = ['a4', 'letter'] as const;
export type Paper = (typeof PAPERS)[number];

/**
 * Evidence that a method needs before its values are accepted: real images or, for research and the
 * demo, simulated images as well.
 */
export const EVIDENCE_SETTINGS = ['real', 'simulated'] as const;
export type AcceptedEvidence = (typeof EVIDENCE_SETTINGS)[number];

/**
 * Execution provider of the models. `auto`: chosen by a self-test (see default.yaml). Any other
 * value: that provider, or `cpu` if it cannot be used.
 */
export const PROVIDER_SETTINGS = ['auto', 'cpu', 'cuda', 'webgpu'] as const;
export type ProviderSetting = (typeof PROVIDER_SETTINGS)[number];

export const ROLES = ['api', 'dimse', 'worker', 'delivery'] as const;

const settingsSchema = z.strictObject({
  dataDir: z.string().min(1),
  roles: z.array(z.enum(ROLES)).min(1),
  databaseUrl: z
    .url({ protocol: /^postgres(ql)?$/, error: 'postgres://user:password@host/database' })
    .optional(),
  redisUrl: z.url({ protocol: /^rediss?$/, error: 'redis://host:6379' }).optional(),
  blobUrl: s3Location.optional(),
  http: z.strictObject({
    host: z.string().min(1),
    port,
    publicUrl: httpUrl.optional(),
    tls: listenerTlsSchema.optional(),
    maxBodyBytes: z.number().int().positive(),
    maxUploadBytes: z.number().int().positive(),
    maxFileBytes: z.number().int().positive(),
    uploadPartBytes: z.number().int().positive(),
    callsPerMinute: z.number().int().positive(),
    openStreamsPerKey: z.number().int().positive(),
    queuedPerKey: z.number().int().positive(),
    /** Whether requests can be read and searched as FHIR R4 Tasks under `/fhir`. */
    fhirTasks: z.boolean(),
    /**
     * Whether clients can subscribe to reports under `/fhir` (Subscriptions R5 Backport,
     * rest-hook).
     */
    fhirSubscriptions: z.boolean(),
    /** Studies can be submitted as FHIR Tasks whose focus is an ImagingStudy. */
    fhirSubmission: z
      .strictObject({
        /**
         * DICOMweb archives from which studies may be fetched. The first one is used for studies
         * that do not specify an archive.
         */
        archives: z.array(name).min(1),
        /** Destinations of the type fhir from which ImagingStudy and Endpoint may be read. */
        ehrs: z.array(name).default([]),
      })
      .optional(),
    /**
     * Whether requests are available as Unified Procedure Steps at `/dicomweb/workitems` (UPS-RS,
     * PS3.18 11).
     */
    workitems: z.boolean(),
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
    /** Minimum free disk space for `dataDir` in bytes. If less is free, C-STORE returns A700H. */
    minFreeBytes: z.number().int().nonnegative(),
  }),
  /** Search and retrieval of the studies in this gateway (PS3.4 C, PS3.18 10.4 and 10.6). */
  queryRetrieve: z.strictObject({
    /** Whether QIDO-RS and WADO-RS are available, for keys with the scope `retrieve`. */
    dicomweb: z.boolean(),
    /** Who may query and retrieve by DIMSE (Study Root C-FIND, C-GET, C-MOVE). */
    callers: z.array(
      z.strictObject({
        callingAeTitles: z.array(aeTitle).min(1),
        addresses: z.array(address).min(1),
        /**
         * The certificate that the caller must present, in addition to what `dicom.tls` requires.
         */
        certificate: certificateSchema.optional(),
      }),
    ),
    /** Nodes that a C-MOVE may send to, by AE title. */
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
  hl7v2: hl7v2Schema.optional(),
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
    openModelsAtStart: z.boolean(),
  }),
  models: z.strictObject({
    allow: z.enum(['all', 'permissive']),
    provider: z.enum(PROVIDER_SETTINGS),
    threads: z.number().int().positive(),
  }),
  evidence: z.strictObject({ accept: z.enum(EVIDENCE_SETTINGS) }),
  report: z.strictObject({ paper: z.enum(PAPERS) }),
  review: z.strictObject({
    /**
     * The organisation on whose behalf results are signed: Verifying Organization (PS3.3 C.17.2).
     */
    organization: z.string().min(1).max(64),
    /** Number of signatures that a result needs, each from a different person. */
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
    /**
     * Seconds for which readiness returns 503 before the ports close, so that a load balancer can
     * react.
     */
    readinessSeconds: z.number().nonnegative(),
    graceSeconds: z.number().positive(),
  }),
  /** A separate port for probes and scrapes, for processes in every role. */
  monitoring: z.strictObject({ host: z.string().min(1), port }).optional(),
  tracing: tracingSchema.optional(),
  logging: z.strictObject({
    level: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']),
  }),
});

export type Config = z.infer<typeof settingsSchema>;

/** The settings of an installation, with the checks that concern several of them. */
export const configSchema = settingsSchema.superRefine(checkReferences);

export type QueryCaller = Config['queryRetrieve']['callers'][number];
export type MoveDestination = Config['queryRetrieve']['moveDestinations'][number];
export type Source = Config['sources'][number];
export type Destination = Config['destinations'][number];
export type DicomDestination = Extract<Destination, { type: 'dicom' }>;
export type DicomwebDestination = Extract<Destination, { type: 'dicomweb' }>;
type LocalDestination = Extract<Destination, { type: 'local' }>;
/** A destination that stores DICOM objects. */
export type ObjectDestination = DicomDestination | DicomwebDestination | LocalDestination;
/** A system on another host that receives DICOM objects. */
export type PacsDestination = Exclude<ObjectDestination, LocalDestination>;

export const isPacs = (destination: Destination): destination is PacsDestination =>
  destination.type === 'dicom' || destination.type === 'dicomweb';

/** A destination that receives only de-identified copies. */
type DeidentifyingDestination = PacsDestination & {
  deidentification: DeidentificationSettings;
};
export const isDeidentifying = (
  destination: Destination,
): destination is DeidentifyingDestination =>
  isPacs(destination) && destination.deidentification !== undefined;
/** Returns true if a destination is a PACS that receives objects with the patient's identity. */
export const sendsIdentity = (destination: Destination): destination is PacsDestination =>
  isPacs(destination) && destination.deidentification === undefined;
export type FhirDestination = Extract<Destination, { type: 'fhir' }>;
export type Hl7v2Destination = Extract<Destination, { type: 'hl7v2' }>;
