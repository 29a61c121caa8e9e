import type { LookupAddress, LookupOptions } from 'node:dns';
import { lookup as systemLookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { Config } from '../../config/schema.ts';
import { addressRanges, isIn, isPublic } from './addresses.ts';

export const LONGEST_URL = 2048;

/** What a URL given by a client is for. */
export type OutboundPurpose = 'webhook' | 'input-file';

/** A URL that the gateway does not call. The reason is for the log, never for the caller. */
export class UrlNotPermittedError extends Error {
  override name = 'UrlNotPermittedError';
  readonly reason: string;

  constructor(reason: string) {
    super(`URL not permitted: ${reason}`);
    this.reason = reason;
  }
}

/** The rules for URLs that clients give us, against server-side request forgery (OWASP A10:2021). */
export interface UrlGuard {
  /**
   * The URL, when it may be called as far as can be said without resolving its name.
   * @throws UrlNotPermittedError
   */
  check(url: string, purpose: OutboundPurpose): URL;
  /**
   * Resolves a name and checks every address it has.
   * @throws UrlNotPermittedError when one of them may not be called; the resolver's own error.
   */
  resolve(hostname: string): Promise<LookupAddress[]>;
}

export type Lookup = (
  name: string,
  options: LookupOptions & { all: true },
) => Promise<LookupAddress[]>;

type ListedHost = Config['outbound']['hosts'][number];

/** @param lookup the resolver; the system's own unless a test gives another. */
export function createUrlGuard(
  settings: Config['outbound'],
  lookup: Lookup = systemLookup,
): UrlGuard {
  const listed = new Map(settings.hosts.map((entry) => [entry.host.toLowerCase(), entry]));

  const mayCall = (hostname: string, address: string) => {
    const ranges = listed.get(hostname)?.addresses ?? [];
    return isPublic(address) || isIn(addressRanges(ranges), address);
  };

  return {
    check(text, purpose) {
      const url = URL.parse(text);
      if (!url) throw new UrlNotPermittedError('not a URL');
      if (url.href.length > LONGEST_URL) throw new UrlNotPermittedError('too long');
      const hostname = plainHost(url);
      const entry = listed.get(hostname);
      checkScheme(url, entry);
      if (url.username || url.password) throw new UrlNotPermittedError('user information');
      const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
      if (!(entry?.ports ?? [443]).includes(port)) throw new UrlNotPermittedError(`port ${port}`);
      if (!entry && purpose === 'input-file' && settings.inputFiles === 'listed-hosts') {
        throw new UrlNotPermittedError(`${hostname} is not in outbound.hosts`);
      }
      // A literal address is never resolved, so that it must be judged here.
      if (isIP(hostname) !== 0) {
        if (!mayCall(hostname, hostname)) throw new UrlNotPermittedError(`address ${hostname}`);
      } else if (!entry && isInternalName(hostname)) {
        throw new UrlNotPermittedError(`internal name ${hostname}`);
      }
      return url;
    },

    async resolve(name) {
      const hostname = withoutDot(name);
      const addresses = await lookup(hostname, { all: true });
      const wrong = addresses.find(({ address }) => !mayCall(hostname, address));
      if (wrong) throw new UrlNotPermittedError(`${hostname} is ${wrong.address}`);
      return addresses;
    },
  };
}

function checkScheme({ protocol }: URL, entry: ListedHost | undefined): void {
  const plain = protocol === 'http:' && entry?.http === true;
  if (protocol !== 'https:' && !plain) throw new UrlNotPermittedError(`scheme ${protocol}`);
}

/** Host name as the resolver is to see it: `URL` has lower-cased it and undone every odd spelling. */
function plainHost({ hostname }: URL): string {
  return withoutDot(hostname.replace(/^\[(.*)\]$/, '$1'));
}

function withoutDot(name: string): string {
  return name.replace(/\.$/, '');
}

/** Names that only mean something inside a network (RFC 6761, RFC 6762). */
function isInternalName(name: string): boolean {
  return !name.includes('.') || /\.(localhost|local|internal|home\.arpa)$/.test(name);
}
