import { z } from 'zod';

const names = z.array(z.string().min(1)).min(1);

/** Loopback needs no TLS to keep what is said there among the programs of the machine. */
const issuer = z.url({ protocol: /^https?$/ }).refine((text) => {
  const { protocol, hostname } = new URL(text);
  return protocol === 'https:' || ['127.0.0.1', 'localhost', '[::1]'].includes(hostname);
}, 'https, or http on this machine');

const oidcSchema = z.strictObject({
  issuer,
  clientId: z.string().min(1),
  /** Without one the gateway is a public client: PKCE alone proves that it asked. */
  clientSecret: z
    .union([
      z.strictObject({ file: z.string().min(1) }),
      z.strictObject({ env: z.string().min(1) }),
    ])
    .optional(),
  /** Of the button: "Sign in with …". */
  label: z.string().min(1).max(60).default('OpenID Connect'),
  scopes: z.array(z.string().min(1)).default(['openid', 'profile']),
  /** Claims of the ID token. */
  nameClaim: z.string().min(1).default('name'),
  roleClaim: z.string().min(1).default('groups'),
  /** Role of the console → values of the role claim that give it. */
  roles: z.partialRecord(z.enum(['viewer', 'clinician', 'operator', 'administrator']), names),
});

/** The web console at `/console`. */
export const consoleSchema = z.strictObject({
  enabled: z.boolean(),
  signInsPerMinute: z.number().int().positive(),
  oidc: oidcSchema.optional(),
});
