import { z } from 'zod';

/** Where a secret is: in a file, or in a variable of the environment. Never in the settings themselves. */
export const secretSchema = z.union([
  z.strictObject({ file: z.string().min(1) }),
  z.strictObject({ env: z.string().min(1) }),
]);
export type SecretPlace = z.infer<typeof secretSchema>;
