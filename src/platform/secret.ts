import { readFile } from 'node:fs/promises';
import type { SecretPlace } from '../../config/secret.ts';

/**
 * Reads a secret anew on each call, so that a changed secret takes effect at once.
 * @throws Error if it is missing.
 */
export async function readSecret(place: SecretPlace): Promise<string> {
  if ('file' in place) return (await readFile(place.file, 'utf8')).trim();
  const secret = process.env[place.env];
  if (!secret) throw new Error(`the environment has no ${place.env}`);
  return secret;
}
