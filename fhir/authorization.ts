import { readFile } from 'node:fs/promises';
import type { FhirDestination } from '../config/schema.ts';
import { FhirFailure, failureOf } from './outcome.ts';

/**
 * Value of the `Authorization` header; null for none. The secret is read again for each call, so
 * that a rotated one needs no restart, and it is never part of an error.
 * @throws FhirFailure `ehr_unauthorized` when the secret's file cannot be read.
 */
export async function authorizationHeader(
  authorization: FhirDestination['authorization'],
): Promise<string | null> {
  switch (authorization.type) {
    case 'none':
      return null;
    case 'bearer':
      return `Bearer ${await secret(authorization.tokenFile)}`;
    case 'basic': {
      const password = await secret(authorization.passwordFile);
      return `Basic ${Buffer.from(`${authorization.user}:${password}`).toString('base64')}`;
    }
  }
}

async function secret(file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch {
    throw new FhirFailure(failureOf('ehr_unauthorized', `The secret file ${file} cannot be read`));
  }
}
