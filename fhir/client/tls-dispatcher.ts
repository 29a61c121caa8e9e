import { readFile, stat } from 'node:fs/promises';
import type { Agent } from 'undici';
import type { FhirDestination } from '../../config/schema.ts';
import { FhirFailure, failureOf } from './outcome.ts';

type TlsSettings = NonNullable<FhirDestination['tls']>;

/**
 * Returns a function that supplies the connection pool for a destination with its own certificate
 * authority or a client certificate. If neither is configured, the function returns undefined. The
 * files are checked for each request, so that a renewed certificate is used without a restart.
 * @throws FhirFailure `ehr_unauthorized` if a file cannot be read.
 */
export function tlsDispatcher(settings: TlsSettings | undefined): () => Promise<Agent | undefined> {
  if (!settings) return async () => undefined;
  let open: { written: string; agent: Agent } | null = null;
  return async () => {
    const written = await readable(() => timesOf(settings));
    if (open?.written !== written) {
      const connect = await readable(() => contents(settings));
      const { Agent } = await import('undici');
      // The old pool closes once its requests in progress have ended.
      void open?.agent.close();
      open = { written, agent: new Agent({ connect }) };
    }
    return open.agent;
  };
}

async function timesOf({ certFile, keyFile, caFile }: TlsSettings): Promise<string> {
  const files = [certFile, keyFile, caFile].filter((file) => file !== undefined);
  const times = await Promise.all(files.map(async (file) => (await stat(file)).mtimeMs));
  return times.join();
}

async function contents({ certFile, keyFile, caFile }: TlsSettings) {
  const [cert, key, ca] = await Promise.all(
    [certFile, keyFile, caFile].map((file) => (file === undefined ? undefined : readFile(file))),
  );
  return { cert, key, ca };
}

async function readable<Answer>(read: () => Promise<Answer>): Promise<Answer> {
  try {
    return await read();
  } catch {
    throw new FhirFailure(failureOf('ehr_unauthorized', 'A file of `tls` cannot be read'));
  }
}
