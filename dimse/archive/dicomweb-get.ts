import { type Dispatcher, request } from 'undici';
import { SonogateError } from '../../src/errors/catalogue.ts';
import type { HttpAccess } from '../dicomweb/stow-transport.ts';

/** Longest list of matches that is read. */
const MAX_TEXT_BYTES = 64 * 1024 * 1024;

/** For now: the service is not there, is busy or has failed (RFC 9110 15). */
const FOR_NOW: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504]);

/**
 * One GET of a DICOMweb service. Redirects are answers like any other: nothing but the address that
 * the site has set is called.
 * @returns the answer with status 200, 204, 206 or 404.
 * @throws SonogateError `peer_unreachable`, `peer_unauthorized`, `peer_unavailable`,
 * `archive_refused_query`.
 */
export async function dicomwebGet(
  url: string,
  access: HttpAccess,
  {
    accept,
    timeoutSeconds,
    signal,
  }: { accept: string; timeoutSeconds: number; signal?: AbortSignal | undefined },
): Promise<Dispatcher.ResponseData> {
  const authorization = await access.header(signal);
  const dispatcher = await access.dispatcherNow();
  const answer = await request(url, {
    ...(dispatcher && { dispatcher }),
    method: 'GET',
    headers: { accept, 'user-agent': 'sonogate', ...(authorization !== null && { authorization }) },
    headersTimeout: timeoutSeconds * 1000,
    bodyTimeout: timeoutSeconds * 1000,
    ...(signal && { signal }),
  }).catch((error: unknown) => {
    const detail = error instanceof Error ? error.message : String(error);
    throw new SonogateError('peer_unreachable', detail, { cause: error });
  });
  const { statusCode } = answer;
  if ([200, 204, 206, 404].includes(statusCode)) return answer;
  await answer.body.dump();
  const detail = `HTTP ${statusCode}`;
  if (statusCode === 401 || statusCode === 403) {
    throw new SonogateError('peer_unauthorized', detail);
  }
  throw new SonogateError(
    FOR_NOW.has(statusCode) ? 'peer_unavailable' : 'archive_refused_query',
    detail,
  );
}

/** @throws SonogateError `peer_unreachable` when it breaks off, `archive_refused_query` when it is endless. */
export async function textOf(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > MAX_TEXT_BYTES) {
        throw new SonogateError('archive_refused_query', 'The answer is too long.');
      }
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof SonogateError) throw error;
    throw new SonogateError('peer_unreachable', (error as Error).message, { cause: error });
  }
  return Buffer.concat(chunks).toString();
}
