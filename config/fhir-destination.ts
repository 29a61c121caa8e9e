import { z } from 'zod';
import {
  basicAuthorization,
  bearerAuthorization,
  httpTlsSchema,
  noAuthorization,
} from './http-access.ts';

const file = z.string().min(1);

const authorizationSchema = z.discriminatedUnion('type', [
  noAuthorization,
  bearerAuthorization,
  basicAuthorization,
  /** SMART Backend Services: a token for a signed assertion. */
  z.strictObject({
    type: z.literal('smart-backend'),
    clientId: z.string().min(1),
    /** PEM, RSA (RS384) or P-384 (ES384); its public half is registered under `keyId`. */
    privateKeyFile: file,
    keyId: z.string().min(1),
    /** Read from `[base]/.well-known/smart-configuration` where it is not given. */
    tokenUrl: z.url({ protocol: /^https?$/ }).optional(),
    /** Those that suffice unless it is given (docs/fhir.md). */
    scope: z.string().min(1).optional(),
  }),
]);

/** What another EHR would hold is no copy of this one's, and who is meant there is decided anew. */
export const noAlternate = z
  .custom<undefined>(
    (value) => value === undefined,
    'an EHR has no alternate: its reports wait until it answers, or for a person (docs/fhir.md)',
  )
  .optional();

/** An EHR that takes results as FHIR R4; its name is added by the list of destinations. */
export const fhirDestinationSettings = z.strictObject({
  type: z.literal('fhir'),
  baseUrl: z.url({ protocol: /^https?$/ }),
  authorization: authorizationSchema.default({ type: 'none' }),
  tls: httpTlsSchema.optional(),
  /** Our own result namespace: the idempotency key of every resource. Never change it. */
  resultSystem: z.url(),
  organization: z.string().min(1).default('Sonogate'),
  /** (0010,0021) Issuer of Patient ID → FHIR identifier system; `*` for images without an issuer. */
  patientIdentifierSystems: z.record(z.string(), z.string()),
  createPatient: z.boolean().default(false),
  /** `required`: a report whose order is not found, or found twice, is held for a person. */
  order: z.enum(['optional', 'required']).default('optional'),
  inlinePdfMegabytes: z.number().nonnegative().default(2),
  timeoutSeconds: z.number().positive().default(30),
});
