import { readFile } from 'node:fs/promises';
import type { FhirDestination } from '../config/schema.ts';
import { backendToken, type TokenEndpoint } from './backend-token.ts';
import { sufficientScopes } from './client-capabilities.ts';
import { FhirFailure, failureOf } from './outcome.ts';

/** What a destination is shown of who we are, beside a client certificate. */
export interface Credentials {
  /**
   * Value of the `Authorization` header; null for none.
   * @throws FhirFailure `ehr_unauthorized`, `ehr_unavailable`.
   */
  header(signal?: AbortSignal): Promise<string | null>;
  /** Gives up what `header` answered, after a 401. @returns whether it will answer a fresh one. */
  renew(): boolean;
}

/**
 * Credentials of a destination. Secrets are read from their files for each call, so that a rotated
 * one needs no restart, and are never part of an error.
 */
export function credentialsOf(
  authorization: FhirDestination['authorization'],
  endpoint: TokenEndpoint,
): Credentials {
  switch (authorization.type) {
    case 'none':
      return fixed(async () => null);
    case 'bearer':
      return fixed(async () => `Bearer ${await secretIn(authorization.tokenFile)}`);
    case 'basic':
      return fixed(async () => {
        const password = await secretIn(authorization.passwordFile);
        return `Basic ${Buffer.from(`${authorization.user}:${password}`).toString('base64')}`;
      });
    case 'smart-backend': {
      const tokens = backendToken(
        {
          ...authorization,
          scope: authorization.scope ?? sufficientScopes().join(' '),
          privateKey: () => secretIn(authorization.privateKeyFile),
        },
        endpoint,
      );
      return {
        header: async (signal) => `Bearer ${await tokens.current(signal)}`,
        renew: tokens.forget,
      };
    }
  }
}

function fixed(header: Credentials['header']): Credentials {
  return { header, renew: () => false };
}

async function secretIn(file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch {
    throw new FhirFailure(failureOf('ehr_unauthorized', `The secret file ${file} cannot be read`));
  }
}
