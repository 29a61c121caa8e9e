import { z } from 'zod';

const file = z.string().min(1);

/** Ways to show a server of HTTP who we are, beside a client certificate; secrets stand in files. */
export const noAuthorization = z.strictObject({ type: z.literal('none') });
export const bearerAuthorization = z.strictObject({ type: z.literal('bearer'), tokenFile: file });
export const basicAuthorization = z.strictObject({
  type: z.literal('basic'),
  user: z.string(),
  passwordFile: file,
});

/** A client certificate with its key, the authority of the server, or both. */
export const httpTlsSchema = z
  .strictObject({ certFile: file.optional(), keyFile: file.optional(), caFile: file.optional() })
  .refine(({ certFile, keyFile }) => !certFile === !keyFile, 'certFile and keyFile go together');
