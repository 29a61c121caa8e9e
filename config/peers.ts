import { z } from 'zod';
import { nodeTlsSchema } from './tls.ts';

export const name = z.string().regex(/^[a-z0-9][a-z0-9-]{0,39}$/, 'a name of a-z, 0-9 and hyphens');

/** Returns the entries whose name an earlier entry of the list already has. */
export function repeatedNames(
  entries: readonly { name: string }[],
): { index: number; message: string }[] {
  return entries.flatMap(({ name }, index) =>
    entries.findIndex((other) => other.name === name) < index
      ? [
          {
            index,
            message: `found "${name}" twice; every entry of this list needs a different name`,
          },
        ]
      : [],
  );
}

/** PS3.5 6.2, VR AE: 1 to 16 characters, no backslash, no control characters, not all spaces. */
export const aeTitle = z
  .string()
  .regex(/^(?=.*\S)[\x20-\x5b\x5d-\x7e]{1,16}$/, '1 to 16 printable characters without backslash');

/** Address of an HTTP server. */
export const httpUrl = z.url({
  protocol: /^https?$/,
  error: 'a URL that begins with http:// or https://',
});

const secretFile = z.string().min(1);

/**
 * How the gateway authenticates to an HTTP server, in addition to a client certificate if there is
 * one. Secrets are read from files.
 */
const noAuthorization = z.strictObject({ type: z.literal('none') });
const bearerAuthorization = z.strictObject({
  type: z.literal('bearer'),
  tokenFile: secretFile,
});
const basicAuthorization = z.strictObject({
  type: z.literal('basic'),
  user: z.string(),
  passwordFile: secretFile,
});

/** A client certificate with its key, the server's certificate authority, or both. */
const httpTlsSchema = z
  .strictObject({
    certFile: secretFile.optional(),
    keyFile: secretFile.optional(),
    caFile: secretFile.optional(),
  })
  .refine(
    ({ certFile, keyFile }) => !certFile === !keyFile,
    'certFile and keyFile must be set together',
  );

export const port = z.number().int().min(0).max(65535);

export const address = z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], {
  error: 'an IP address such as 10.1.2.3, or a range of them such as 10.1.0.0/16',
});

/** A DICOM node that we call. */
const calledNode = {
  host: z.string().min(1),
  port,
  aeTitle,
  /** Our AE title, if it is not that of the installation. */
  callingAeTitle: aeTitle.optional(),
  /** TLS (PS3.15 B.12). Without `caFile`, the certificate must come from a public authority. */
  tls: nodeTlsSchema.optional(),
};

/** A DICOMweb server (PS3.18). */
const dicomwebServer = {
  /** The base URL, to which `/studies` is appended. */
  baseUrl: httpUrl,
  authorization: z
    .discriminatedUnion('type', [noAuthorization, bearerAuthorization, basicAuthorization])
    .default({ type: 'none' }),
  tls: httpTlsSchema.optional(),
};

/** An archive accessed by DIMSE (PS3.4 C). */
const dicomArchiveSchema = z.strictObject({
  type: z.literal('dicom'),
  name,
  ...calledNode,
  /** `c-get`: over the association that we opened; `c-move`: the archive sends to our listener. */
  retrieve: z.enum(['c-get', 'c-move']).default('c-get'),
  /** Our AE title as configured in the archive, for `c-move`. */
  moveTo: aeTitle.optional(),
  timeoutSeconds: z.number().positive().default(30),
});

/** An archive accessed by QIDO-RS and WADO-RS (PS3.18). */
const dicomwebArchiveSchema = z.strictObject({
  type: z.literal('dicomweb'),
  name,
  ...dicomwebServer,
  timeoutSeconds: z.number().positive().default(30),
});

export const archiveSchema = z.discriminatedUnion('type', [
  dicomArchiveSchema,
  dicomwebArchiveSchema,
]);
export type ArchiveSettings = z.infer<typeof archiveSchema>;
export type DicomArchiveSettings = Extract<ArchiveSettings, { type: 'dicom' }>;
export type DicomwebArchiveSettings = Extract<ArchiveSettings, { type: 'dicomweb' }>;

/** A system that answers modality worklist queries (PS3.4 K). */
const dicomWorklistSchema = z.strictObject({
  type: z.literal('dicom'),
  name,
  ...calledNode,
  timeoutSeconds: z.number().positive().default(10),
});
export type DicomWorklistSettings = z.infer<typeof dicomWorklistSchema>;

/**
 * A study of the source counts as complete once all of its objects in this archive have arrived.
 */
export const expectedCountSchema = z.strictObject({
  archive: name,
  /** Maximum time that a study waits for objects that are in the archive but have not arrived. */
  waitSeconds: z.number().positive().default(120),
  askEverySeconds: z.number().positive().default(5),
  fetchMissing: z.boolean().default(false),
});
export type ExpectedCount = z.infer<typeof expectedCountSchema>;

/** Selects the patient's earlier examinations to retrieve with a study. */
export const priorsSchema = z.strictObject({
  /** Archives, queried in this order until one has a match. */
  from: z.array(name).min(1),
  /** Maximum number of studies; the newest ones are retrieved. */
  studies: z.number().int().min(1).max(10).default(2),
  withinDays: z.number().int().positive().default(300),
  modality: z.string().min(1).max(16).default('US'),
  /** Regular expression for the Study Description, ignoring case. */
  description: z
    .string()
    .refine((text) => {
      try {
        new RegExp(text, 'i');
        return true;
      } catch {
        return false;
      }
    }, 'is not a valid regular expression')
    .optional(),
  /** `reports`: structured reports only; `all`: images, too. */
  objects: z.enum(['reports', 'all']).default('reports'),
  /**
   * Maximum time that the study waits for the earlier examinations. If they have not arrived by
   * then, it is interpreted without them, and this is reported.
   */
  waitSeconds: z.number().positive().default(60),
});
export type PriorsSettings = z.infer<typeof priorsSchema>;

/** The parts of a result that can be sent to a PACS (docs/dicom-objects.md). */
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

/**
 * When results are sent to a destination. `at-once`: drafts immediately, and the signed result
 * later. `after-signature`: nothing until a person has signed.
 */
const release = z.enum(['at-once', 'after-signature']).default('at-once');

/**
 * How objects are de-identified for a destination (PS3.15 Annex E). A destination with this setting
 * receives nothing but de-identified copies.
 */
export const deidentificationSchema = z.strictObject({
  /**
   * `shifted`: each date is moved, by the same number of days in all objects of a patient.
   * `removed`: dates are removed.
   */
  dates: z.enum(['shifted', 'removed']).default('shifted'),
  /** Keeps sex, age, height and weight. */
  patientCharacteristics: z.boolean().default(false),
  /**
   * What to do with screens without ultrasound regions. `hold`: a person decides; `detect`: image
   * analysis locates the ultrasound picture.
   */
  withoutRegions: z.enum(['hold', 'detect']).default('hold'),
});
export type DeidentificationSettings = z.infer<typeof deidentificationSchema>;

/** Settings for the objects to send, shared by DIMSE and DICOMweb. */
const contents = {
  name,
  release,
  objects: z.array(dicomObject).default(['sr-tid1500', 'sr-tid5000', 'sr-echo']),
  /**
   * `auto` uses Comprehensive 3D SR if the peer accepts it, otherwise Comprehensive SR, otherwise
   * Enhanced SR.
   */
  measurementSopClass: z
    .enum(['auto', 'comprehensive3d', 'comprehensive', 'enhanced'])
    .default('auto'),
  /** `labelmap` falls back to `binary` if the peer does not accept it. */
  segmentation: z.enum(['binary', 'labelmap']).default('binary'),
  /**
   * True if the PACS acts on rejection notes (IHE RAD Imaging Object Change Management). A withdrawn
   * result is then rejected there by such a note. Off by default: a PACS without this profile stores
   * the note like any key object and keeps showing the rejected objects, so people must delete them.
   */
  rejectionNotes: z.boolean().default(false),
  /**
   * The destination that receives an object instead if its delivery to this one fails permanently
   * or for a long time.
   */
  alternate: name.optional(),
  timeoutSeconds: z.number().positive().default(60),
};

/** A PACS that receives objects by C-STORE. */
export const dicomDestinationSchema = z.strictObject({
  type: z.literal('dicom'),
  ...contents,
  ...calledNode,
  deidentification: deidentificationSchema.optional(),
  /** Requests storage commitment for the objects that the PACS accepted (PS3.4 J). */
  storageCommitment: z.boolean().default(false),
  /**
   * How long an association stays open after a delivery, for reuse by the next ones; 0 closes it
   * immediately.
   */
  associationIdleSeconds: z.number().nonnegative().default(2),
});

/** A PACS that receives objects by STOW-RS (PS3.18 10.5). */
export const dicomwebDestinationSchema = z.strictObject({
  type: z.literal('dicomweb'),
  ...contents,
  ...dicomwebServer,
  deidentification: deidentificationSchema.optional(),
});

/**
 * A destination inside this gateway: results are stored with their study, where others can query
 * and retrieve them.
 */
export const localDestinationSchema = z.strictObject({
  type: z.literal('local'),
  ...contents,
  alternate: z.undefined().optional(),
});

const file = z.string().min(1);

const authorizationSchema = z.discriminatedUnion('type', [
  noAuthorization,
  bearerAuthorization,
  basicAuthorization,
  /** SMART Backend Services: the gateway requests a token using a signed assertion. */
  z.strictObject({
    type: z.literal('smart-backend'),
    clientId: z.string().min(1),
    /**
     * Private key in PEM, RSA (RS384) or P-384 (ES384). Its public key is registered under `keyId`.
     */
    privateKeyFile: file,
    keyId: z.string().min(1),
    /** By default read from `[base]/.well-known/smart-configuration`. */
    tokenUrl: httpUrl.optional(),
    /** By default the minimum scopes needed (docs/fhir.md). */
    scope: z.string().min(1).optional(),
  }),
]);

/**
 * A field of a message header, without the separators of HL7 version 2 and without control
 * characters.
 */
export const headerField = z.string().regex(/^[^|^~\\&\p{Cc}]{1,227}$/u, 'text without | ^ ~ \\ &');

/** A receiver of results sent as HL7 version 2 messages, ORU^R01 over MLLP (docs/hl7v2.md). */
export const hl7v2DestinationSchema = z.strictObject({
  type: z.literal('hl7v2'),
  name,
  release,
  host: z.string().min(1),
  port: port.min(1),
  tls: nodeTlsSchema.optional(),
  /** MSH-3 to MSH-6. */
  sendingApplication: headerField.default('SONOGATE'),
  sendingFacility: headerField.optional(),
  receivingApplication: headerField.optional(),
  receivingFacility: headerField.optional(),
  /** MSH-11 (table 0103): production, training, debugging. */
  processingId: z.enum(['P', 'T', 'D']).default('P'),
  /** PID-3.4 for images whose patient ID has no issuer. */
  assigningAuthority: headerField.optional(),
  /** MSH-18. Messages with characters outside this set are sent in UNICODE UTF-8. */
  characterSet: z.enum(['UNICODE UTF-8', '8859/1']).default('UNICODE UTF-8'),
  pdf: z.boolean().default(true),
  timeoutSeconds: z.number().positive().default(30),
  alternate: z.undefined().optional(),
});

/** A FHIR server that stores orders as ServiceRequests. */
const fhirWorklistSchema = z.strictObject({
  type: z.literal('fhir'),
  name,
  baseUrl: httpUrl,
  authorization: authorizationSchema.default({ type: 'none' }),
  tls: httpTlsSchema.optional(),
  patientIdentifierSystems: z.record(z.string(), z.string()),
  timeoutSeconds: z.number().positive().default(10),
});
export type FhirWorklistSettings = z.infer<typeof fhirWorklistSchema>;

/** The worklists that are searched for the orders of studies (docs/orders.md). */
export const ordersSchema = z.strictObject({
  /** The worklists, queried one after another as listed until one has an order for the study. */
  worklists: z.array(z.discriminatedUnion('type', [dicomWorklistSchema, fhirWorklistSchema])),
  /**
   * Maximum time that a study waits for its order. If none has been found by then, it is
   * interpreted without an order, and this is reported.
   */
  waitSeconds: z.number().positive().max(300),
});

/**
 * Rejects an alternate for an EHR. Another EHR would not have the resources written to this one,
 * and it would match patients differently.
 */
export const noAlternate = z
  .custom<undefined>(
    (value) => value === undefined,
    'an EHR cannot have an alternate; its reports wait until it responds or a person decides (docs/fhir.md)',
  )
  .optional();

/**
 * The settings of an EHR that receives results as FHIR R4. A FHIR destination consists of these
 * settings and a name.
 */
export const fhirDestinationSettings = z.strictObject({
  type: z.literal('fhir'),
  release,
  baseUrl: httpUrl,
  authorization: authorizationSchema.default({ type: 'none' }),
  tls: httpTlsSchema.optional(),
  /**
   * Identifier system of our results. The EHR recognises a repeated write by it, so it must never
   * be changed.
   */
  resultSystem: z.url('a URL'),
  organization: z.string().min(1).default('Sonogate'),
  /**
   * Maps (0010,0021) Issuer of Patient ID to a FHIR identifier system; `*` is for images without an
   * issuer.
   */
  patientIdentifierSystems: z.record(z.string(), z.string()),
  createPatient: z.boolean().default(false),
  /** `required`: the report waits for a person if no order, or more than one, is found. */
  order: z.enum(['optional', 'required']).default('optional'),
  /**
   * Maximum size of a PDF sent inline. A string in FHIR R4 has at most 1 MB, and base64 needs four
   * characters for three bytes.
   */
  inlinePdfMegabytes: z.number().nonnegative().default(0.75),
  timeoutSeconds: z.number().positive().default(30),
});
