import { createWriteStream } from 'node:fs';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Dispatcher } from 'undici';
import type { Config } from '../../../config/schema.ts';
import type { OutboundClient } from '../../platform/outbound/client.ts';
import { UrlNotPermittedError } from '../../platform/outbound/url-guard.ts';

const MOST_REDIRECTS = 3;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Thrown if a hosted file cannot be fetched. The message is shown to the client that supplied the
 * URL.
 */
export class HostedFileError extends Error {
  override name = 'HostedFileError';
}

/**
 * Fetches a file from a client-supplied URL to `path`.
 * @throws HostedFileError; the system error if the file cannot be written; the abort reason of
 * `signal`.
 */
export type FetchHostedFile = (url: string, path: string, signal: AbortSignal) => Promise<void>;

/** Creates the fetcher. The rules for the URL itself also apply to every redirect. */
export function createHostedFileFetcher(
  client: Pick<OutboundClient, 'call'>,
  { maxFileBytes, fetchTimeoutSeconds }: Config['outbound'],
): FetchHostedFile {
  return async (url, path, signal) => {
    const patience = AbortSignal.timeout(fetchTimeoutSeconds * 1000);
    const either = AbortSignal.any([signal, patience]);
    try {
      const response = await follow(client, url, either);
      await store(response, path, maxFileBytes, either);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof HostedFileError || isOwnFault(error)) throw error;
      if (error instanceof UrlNotPermittedError) throw new HostedFileError('URL not permitted');
      if (patience.aborted) throw new HostedFileError(`it took more than ${fetchTimeoutSeconds} s`);
      throw new HostedFileError('the connection failed', { cause: error });
    }
  };
}

async function follow(
  client: Pick<OutboundClient, 'call'>,
  first: string,
  signal: AbortSignal,
): Promise<Dispatcher.ResponseData> {
  let url = first;
  for (let redirects = 0; ; redirects += 1) {
    const response = await client.call(url, 'input-file', { method: 'GET', signal });
    const { statusCode, headers, body } = response;
    if (statusCode === 200) return response;
    body.on('error', () => {}).destroy();
    const { location } = headers;
    if (!REDIRECTS.has(statusCode) || typeof location !== 'string') {
      throw new HostedFileError(`the server answered ${statusCode}`);
    }
    if (redirects === MOST_REDIRECTS) throw new HostedFileError('too many redirects');
    const next = URL.parse(location, url);
    if (!next) throw new HostedFileError('a redirect without a target');
    if (url.startsWith('https:') && next.protocol !== 'https:') {
      throw new HostedFileError('a redirect from https to http');
    }
    url = next.href;
  }
}

async function store(
  { headers, body }: Dispatcher.ResponseData,
  path: string,
  limit: number,
  signal: AbortSignal,
): Promise<void> {
  const tooLarge = () => new HostedFileError(`it has more than ${limit} bytes`);
  const coding = headers['content-encoding'] ?? 'identity';
  const announced = Number(headers['content-length'] ?? 0);
  let bytes = 0;
  const measure = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      done(bytes > limit ? tooLarge() : null, chunk);
    },
  });
  try {
    if (coding !== 'identity') throw new HostedFileError('the server used a content coding');
    if (announced > limit) throw tooLarge();
    await pipeline(body, measure, createWriteStream(path, { flags: 'wx' }), { signal });
  } catch (error) {
    body.on('error', () => {}).destroy();
    throw error;
  }
}

/** Returns true if an error comes from our own disk rather than from the client's URL. */
function isOwnFault(error: unknown): boolean {
  return error instanceof Error && 'code' in error && ('path' in error || error.code === 'ENOSPC');
}
