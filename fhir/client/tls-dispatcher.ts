import { stat } from 'node:fs/promises';
import type { Agent } from 'undici';
import type { FhirDestination } from '../../config/schema.ts';
import type { ClientCertificates } from '../../src/platform/tls/client-files.ts';
import { FhirFailure, failureOf } from './outcome.ts';

type TlsSettings = NonNullable<FhirDestination['tls']>;

/**
 * Returns a function that supplies the connection pool for a destination with its own certificate
 * authority or a client certificate. If neither is configured, the function returns undefined. The
 * files are checked for each request, so that a renewed certificate is used without a restart.
 * Simultaneous callers share one check, and thus one pool.
 * @throws FhirFailure `ehr_unauthorized` if the files cannot be used and no usable content of them
 * is known from an earlier call.
 */
export function tlsDispatcher(
  settings: TlsSettings | undefined,
  certificates: ClientCertificates,
): () => Promise<Agent | undefined> {
  if (!settings) return async () => undefined;
  let open: { written: string; agent: Agent } | null = null;
  let coming: Promise<Agent> | null = null;

  async function current(tls: TlsSettings): Promise<Agent> {
    const written = await timesOf(tls).catch(() => 'missing');
    if (open?.written !== written) {
      const connect = await usable(() => certificates.read(tls));
      const { Agent } = await import('undici');
      // The old pool is not closed here, because a caller that has it might not have sent its
      // request yet. Its connections close by themselves when they are idle.
      open = { written, agent: new Agent({ connect }) };
    }
    return open.agent;
  }

  return () => {
    coming ??= current(settings).finally(() => {
      coming = null;
    });
    return coming;
  };
}

async function timesOf({ certFile, keyFile, caFile }: TlsSettings): Promise<string> {
  const files = [certFile, keyFile, caFile].filter((file) => file !== undefined);
  const times = await Promise.all(files.map(async (file) => (await stat(file)).mtimeMs));
  return times.join();
}

async function usable<Answer>(read: () => Promise<Answer>): Promise<Answer> {
  try {
    return await read();
  } catch {
    throw new FhirFailure(failureOf('ehr_unauthorized', 'The files of `tls` cannot be used'));
  }
}
