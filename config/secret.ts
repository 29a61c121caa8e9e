import { z } from 'zod';

/**
 * Where a secret is stored: a file or an environment variable. Secrets are never part of the
 * settings themselves.
 */
export const secretSchema = z.union([
  z.strictObject({ file: z.string().min(1) }),
  z.strictObject({ env: z.string().min(1) }),
]);
export type SecretPlace = z.infer<typeof secretSchema>;
