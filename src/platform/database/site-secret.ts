import { randomBytes } from 'node:crypto';
import type { Queryable } from './port.ts';

const SECRET_BYTES = 32;

/**
 * Returns a secret shared by all processes of an installation, creating it on first use.
 * @throws if the secret cannot be read back after its creation: an empty secret would protect
 * nothing.
 */
export async function loadSiteSecret(database: Queryable, name: string): Promise<Buffer> {
  await database.query(
    'INSERT INTO secrets (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING',
    [name, randomBytes(SECRET_BYTES).toString('base64')],
  );
  const { rows } = await database.query<{ value: string }>(
    'SELECT value FROM secrets WHERE name = $1',
    [name],
  );
  const secret = Buffer.from(rows[0]?.value ?? '', 'base64');
  if (secret.length < SECRET_BYTES) throw new Error(`the database has no secret ${name}`);
  return secret;
}
