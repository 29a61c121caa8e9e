import { z } from 'zod';
import { name } from './peers.ts';
import { secretSchema } from './secret.ts';

/**
 * The domain is converted to lower case, because the addresses in the mail server's responses have
 * a lower-case domain and are compared with this one (RFC 5321 2.4: case is ignored).
 */
const address = z
  .email()
  .overwrite((text) => text.replace(/@.*/, (domain) => domain.toLowerCase()));
const addresses = z.array(address).min(1);

/**
 * How the connection to the mail server is encrypted. `starttls`: by STARTTLS, which the server
 * must then offer (RFC 3207). `implicit`: from the first byte (RFC 8314). `none`: not at all.
 */
const MAIL_TLS = ['starttls', 'implicit', 'none'] as const;

const mailServerSchema = z
  .strictObject({
    host: z.string().min(1),
    port: z.number().int().min(1).max(65535).default(587),
    tls: z.enum(MAIL_TLS).default('starttls'),
    /** Certificate authority of the server, if it is not a public one. */
    caFile: z.string().min(1).optional(),
    /** Name in the server's certificate, if it differs from the host. */
    serverName: z.string().min(1).optional(),
    user: z.string().min(1).optional(),
    password: secretSchema.optional(),
  })
  .refine(({ user, password }) => !user === !password, 'user and password must be set together')
  .refine(({ user, tls }) => !user || tls !== 'none', 'a password is only sent with TLS');
export type MailServer = z.infer<typeof mailServerSchema>;

const alertListSchema = z.strictObject({
  name,
  to: addresses,
  /**
   * Only studies from these sources raise alerts. By default, all studies and all API requests do.
   */
  sources: z.array(z.string().min(1)).min(1).optional(),
  /** Only results of these endpoints raise alerts; by default, those of all endpoints. */
  endpoints: z.array(z.string().min(1)).min(1).optional(),
  /** Who receives a mail if nobody has acknowledged the flag within `afterMinutes`. */
  escalation: z.strictObject({ afterMinutes: z.number().positive(), to: addresses }).optional(),
});
export type AlertList = z.infer<typeof alertListSchema>;

/** Mails about critical flags (docs/alerts.md). */
export const alertsSchema = z
  .strictObject({
    server: mailServerSchema,
    from: z.email(),
    /** Whether mails identify the patient. Mail is seldom encrypted all the way to its reader. */
    identity: z.boolean().default(false),
    lists: z.array(alertListSchema).min(1),
  })
  .refine(
    ({ lists }) => new Set(lists.map((list) => list.name)).size === lists.length,
    'every list needs a different name',
  );
export type Alerts = z.infer<typeof alertsSchema>;
