import type { LookupFunction } from 'node:net';
import type { Dispatcher } from 'undici';
import type { OutboundPurpose, UrlGuard } from './url-guard.ts';

const CONNECT_MS = 5000;
const FIRST_BYTE_MS = 15_000;
/**
 * Milliseconds after which an HTTP request fails if no further byte of the response body arrives.
 */
const SILENCE_MS = 15_000;
const HEADER_BYTES = 16_384;

interface OutboundCall {
  method: 'GET' | 'POST';
  headers?: Record<string, string>;
  body?: string;
  signal: AbortSignal;
}

/** Sends HTTP requests to client-supplied URLs, but only to those that the guard permits. */
export interface OutboundClient {
  /** Like `UrlGuard.check`. */
  check: UrlGuard['check'];
  /**
   * Sends one HTTP request. Redirects are not followed but returned like any other response. Proxy
   * variables and cookies are not used.
   * @throws UrlNotPermittedError before anything is sent.
   * @throws errors from undici and the system.
   */
  call(url: string, purpose: OutboundPurpose, call: OutboundCall): Promise<Dispatcher.ResponseData>;
  close(): Promise<void>;
}

/**
 * Creates the client. Connections go to the address that was checked: undici resolves names through
 * the guard, and no name is resolved twice, which prevents DNS rebinding. undici is loaded for the
 * first request, because many processes never send one.
 */
export function createOutboundClient(guard: UrlGuard): OutboundClient {
  const lookup: LookupFunction = (hostname, { all }, done) => {
    guard.resolve(hostname).then(
      (addresses) => {
        const [first] = addresses;
        if (all) done(null, addresses);
        else done(null, first?.address ?? '', first?.family);
      },
      (error: NodeJS.ErrnoException) => done(error, ''),
    );
  };
  const open = async () => {
    const { Agent, request } = await import('undici');
    const agent = new Agent({
      connect: { lookup, timeout: CONNECT_MS },
      headersTimeout: FIRST_BYTE_MS,
      bodyTimeout: SILENCE_MS,
      maxHeaderSize: HEADER_BYTES,
    });
    return { agent, request };
  };
  let opened: ReturnType<typeof open> | null = null;

  return {
    check: guard.check,
    async call(url, purpose, { method, headers = {}, body, signal }) {
      const checked = guard.check(url, purpose);
      opened ??= open();
      const { agent, request } = await opened;
      return request(checked, {
        dispatcher: agent,
        method,
        headers: { 'user-agent': 'sonogate', 'accept-encoding': 'identity', ...headers },
        body: body ?? null,
        signal,
      });
    },
    async close() {
      await (await opened)?.agent.destroy();
    },
  };
}
