import { z } from 'zod';
import { fhirDestinationSettings } from './fhir-destination.ts';
import { nodeTlsSchema } from './tls-schema.ts';

/** Where the audit is told, beside the database (docs/security.md). */
export const auditSchema = z.strictObject({
  /** Name of this gateway at the repository; the name of the machine unless it is given. */
  sourceId: z.string().min(1).optional(),
  /** Of the hospital (AuditEnterpriseSiteID). */
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
