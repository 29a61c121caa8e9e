import { z } from 'zod';

/** Versions that BCP 195 permits (RFC 9325 3.1.1). Older versions cannot be set. */
const TLS_VERSIONS = ['1.2', '1.3'] as const;
export type TlsVersion = (typeof TLS_VERSIONS)[number];

const file = z.string().min(1);
const minVersion = z.enum(TLS_VERSIONS).default('1.2');

/**
 * Whether a caller must present a certificate. `none`: it is not requested. `want`: it is verified
 * if presented. `require`: it is required.
 */
const CLIENT_CERTIFICATE = ['none', 'want', 'require'] as const;

/** TLS for a port we listen on. The PEM files are read again when they change. */
export const listenerTlsSchema = z
  .strictObject({
    certFile: file,
    keyFile: file,
    /** The certificate authority for client certificates. */
    caFile: file.optional(),
    /** By default `require` if there is a `caFile`, otherwise `none`. */
    clientCertificate: z.enum(CLIENT_CERTIFICATE).optional(),
    minVersion,
  })
  .refine(
    ({ caFile, clientCertificate = 'none' }) => clientCertificate === 'none' || caFile,
    'clientCertificate needs caFile, the authority that issues the certificates',
  );
export type ListenerTls = z.infer<typeof listenerTlsSchema>;

/**
 * TLS for a node we connect to. Without `caFile`, its certificate must come from a public
 * authority.
 */
export const nodeTlsSchema = z
  .strictObject({
    caFile: file.optional(),
    /** Our certificate, if the node requests one. */
    certFile: file.optional(),
    keyFile: file.optional(),
    /** Name in the node's certificate, if it differs from the host. */
    serverName: z.string().optional(),
    minVersion,
  })
  .refine(
    ({ certFile, keyFile }) => !certFile === !keyFile,
    'certFile and keyFile must be set together',
  );

/** Parts of a certificate that identify its holder. All configured parts must match. */
export const certificateSchema = z
  .strictObject({
    /** Attributes of the subject: `{ CN: voluson-3, O: Example Hospital }`. */
    subject: z.record(z.string(), z.string()).optional(),
    /** Subject alternative names (DNS or IP address); the certificate must have one of them. */
    san: z.array(z.string().min(1)).min(1).optional(),
    /**
     * SHA-256 of the certificate in hex, with or without colons. One match in the list is enough.
     */
    fingerprint256: z
      .array(z.string().regex(/^([0-9A-Fa-f]{2}:?){31}[0-9A-Fa-f]{2}$/))
      .min(1)
      .optional(),
  })
  .refine(
    (binding) => Object.values(binding).some((value) => value !== undefined),
    'allowed: at least one of subject, san, fingerprint256',
  );
export type CertificateBinding = z.infer<typeof certificateSchema>;
