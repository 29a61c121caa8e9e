import { readFile } from 'node:fs/promises';
import type { DicomwebDestination, FhirDestination } from '../../config/schema.ts';
import { SonogateError } from '../../src/platform/errors/catalogue.ts';
import type { ClientCertificates } from '../../src/platform/tls/client-files.ts';
import { backendToken, type TokenEndpoint } from './backend-token.ts';
import { FhirFailure, failureOf } from './outcome.ts';
import { sufficientScopes } from './required-capabilities.ts';
import { tlsDispatcher } from './tls-dispatcher.ts';

/** Our credentials for a destination, in addition to a client certificate. */
export interface Credentials {
  /**
   * Returns the value of the `Authorization` header; null if the destination does not need it.
   * @throws FhirFailure `ehr_unauthorized`, `ehr_unavailable`.
   */
  header(signal?: AbortSignal): Promise<string | null>;
  /**
   * Discards the credentials after a 401.
   * @returns true if `header` will supply fresh ones.
   */
  renew(): boolean;
}

/**
 * Creates the credentials for a destination. Secrets are read from their files for each request, so
 * that a rotated secret needs no restart. They never become part of an error.
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

/**
 * Returns a function that creates the credentials for a DICOMweb server. Each request reads their
 * files again, so there is nothing to renew after a 401. `header` and `dispatcherNow` throw
 * SonogateError `peer_unauthorized` if a file cannot be read.
 */
export const httpAccess =
  (certificates: ClientCertificates) =>
  ({
    baseUrl,
    authorization,
    tls,
  }: Pick<DicomwebDestination, 'baseUrl' | 'authorization' | 'tls'>) => {
    const dispatcherNow = tlsDispatcher(tls, certificates);
    const { header } = credentialsOf(authorization, { baseUrl, dispatcherNow });
    return {
      header: () => ofPeer(() => header()),
      dispatcherNow: () => ofPeer(dispatcherNow),
    };
  };

async function ofPeer<Answer>(read: () => Promise<Answer>): Promise<Answer> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof FhirFailure)) throw error;
    throw new SonogateError('peer_unauthorized', error.reason.detail, { cause: error });
  }
}
