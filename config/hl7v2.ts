import { z } from 'zod';
import { headerField, name } from './peers.ts';
import { listenerTlsSchema } from './tls.ts';

/** Supported character sets in MSH-18 (table 0211). */
const CHARACTER_SET = /^(ASCII|UNICODE UTF-8|8859\/([1-9]|1[0-5]))$/;

const senderSchema = z.strictObject({
  name,
  addresses: z.array(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()])).min(1),
  /** Accepted sending applications (MSH-3); an empty list accepts every application. */
  applications: z.array(headerField).default([]),
});
export type Hl7Sender = z.infer<typeof senderSchema>;

/** Receives orders and patient updates as HL7 version 2 messages over MLLP (docs/hl7v2.md). */
export const hl7v2Schema = z.strictObject({
  host: z.string().min(1),
  port: z.number().int().min(0).max(65535),
  tls: listenerTlsSchema.optional(),
  senders: z.array(senderSchema).min(1),
  /** Accepted processing IDs (MSH-11): production, training, debugging. */
  processingIds: z
    .array(z.enum(['P', 'T', 'D']))
    .min(1)
    .default(['P']),
  /** Assigning authority (PID-3.4) for patient IDs without one, in messages and in images. */
  assigningAuthority: headerField.optional(),
  /**
   * Identifier types (CX.5, table 0203) that are patient IDs, the most important first. Identifiers
   * without a type are patient IDs too.
   */
  patientIdTypes: z
    .array(z.string().regex(/^[A-Z][A-Z0-9]{0,4}$/, 'a type from table 0203'))
    .min(1)
    .default(['MR', 'PI', 'PT']),
  /** Character set of messages without MSH-18. */
  characterSet: z
    .string()
    .regex(CHARACTER_SET, 'a character set from table 0211')
    .default('UNICODE UTF-8'),
  maxMessageBytes: z.number().int().min(4096).max(16_777_216).default(1_048_576),
  maxConnections: z.number().int().positive().default(20),
  /** Maximum time from the first to the last byte of a message. */
  messageSeconds: z.number().positive().default(30),
  /** Idle time after which a connection without a message is closed. */
  idleSeconds: z.number().positive().default(3600),
  /**
   * Number of days for which orders and responses are kept; for an order, after its last change.
   */
  keepDays: z.number().positive().default(180),
});
export type Hl7v2Listener = z.infer<typeof hl7v2Schema>;
