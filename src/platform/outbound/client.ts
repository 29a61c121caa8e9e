import type { LookupFunction } from 'node:net';
import { Agent, type Dispatcher, request } from 'undici';
import type { OutboundPurpose, UrlGuard } from './url-guard.ts';

const CONNECT_MS = 5000;
const FIRST_BYTE_MS = 15_000;
/** Longest pause within an answer, in milliseconds, before the call fails. */
const SILENCE_MS = 15_000;
const HEADER_BYTES = 16_384;

interface OutboundCall {
  method: 'GET' | 'POST';
  headers?: Record<string, string>;
  body?: string;
  signal: AbortSignal;
}

/** Calls URLs that clients give, and only those that the guard permits. */
export interface OutboundClient {
  /** Like `UrlGuard.check`. */
  check: UrlGuard['check'];
  /**
   * One call. Redirects are answers like any other; proxy variables and cookies are not used.
   * @throws UrlNotPermittedError, before anything is sent; errors of undici and of the system.
   */
  call(url: string, purpose: OutboundPurpose, call: OutboundCall): Promise<Dispatcher.ResponseData>;
  close(): Promise<void>;
}

/**
 * The connection goes to the address that was checked: undici resolves names through the guard and
 * nothing is resolved twice, which leaves no room for DNS rebinding.
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
  const agent = new Agent({
    connect: { lookup, timeout: CONNECT_MS },
    headersTimeout: FIRST_BYTE_MS,
    bodyTimeout: SILENCE_MS,
    maxHeaderSize: HEADER_BYTES,
  });

  return {
    check: guard.check,
    async call(url, purpose, { method, headers = {}, body, signal }) {
      return request(guard.check(url, purpose), {
        dispatcher: agent,
        method,
        headers: { 'user-agent': 'sonogate', 'accept-encoding': 'identity', ...headers },
        body: body ?? null,
        signal,
      });
    },
    close: () => agent.destroy(),
  };
}
