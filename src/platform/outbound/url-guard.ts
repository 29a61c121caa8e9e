import type { LookupAddress, LookupOptions } from 'node:dns';
import { lookup as systemLookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import type { Config } from '../../../config/schema.ts';

/**
 * Ranges that are never contacted unless the settings list them: this host, private and link-local
 * networks (including cloud metadata), documentation, benchmarks, multicast and reserved space
 * (IANA special-purpose address registries, RFC 6890; `::ffff:0:0:0/96`: IPv4-translated addresses,
 * RFC 2765 2.1).
 */
const REFUSED = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::/96',
  '::ffff:0:0:0/96',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
  '100::/64',
  '2001::/23',
  '2001:db8::/32',
  '3fff::/20',
  '5f00::/16',
  '64:ff9b:1::/48',
  '2002::/16',
] as const;

const refused = addressRanges(REFUSED);

/** Creates a block list from `10.0.0.0/8`, `fd00::/8` or single addresses. */
function addressRanges(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', prefix] = range.split('/');
    const family = familyOf(address);
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return list;
}

/**
 * Returns true if the address (v4 or v6, without brackets), or the IPv4 address embedded in it, is
 * in the list.
 */
function isIn(list: BlockList, address: string): boolean {
  const inner = embeddedIpv4(address);
  return inner === null ? list.check(address, familyOf(address)) : list.check(inner, 'ipv4');
}

/** Returns true if this address is on the public internet and may be contacted. */
export function isPublic(address: string): boolean {
  return isIP(address) !== 0 && !isIn(refused, address);
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}

/**
 * Returns the IPv4 address represented by an address in `::ffff:0:0/96` (RFC 4291 2.5.5.2) or
 * `64:ff9b::/96` (RFC 6052); null for any other address.
 */
function embeddedIpv4(address: string): string | null {
  if (isIP(address) !== 6) return null;
  const groups = ipv6Groups(address);
  const prefix = groups
    .slice(0, 6)
    .map((group) => group.toString(16))
    .join(':');
  if (prefix !== '0:0:0:0:0:ffff' && prefix !== '64:ff9b:0:0:0:0') return null;
  const [high = 0, low = 0] = groups.slice(6);
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}

/** Returns the eight groups of an IPv6 address, whose spelling `URL` has normalised. */
function ipv6Groups(address: string): number[] {
  const [plain = ''] = address.split('%');
  const text = new URL(`http://[${plain}]`).hostname.slice(1, -1);
  const [left = '', right] = text.split('::');
  const read = (part: string) =>
    part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16));
  const [before, after] = [read(left), read(right ?? '')];
  const missing = 8 - before.length - after.length;
  return [...before, ...Array<number>(missing).fill(0), ...after];
}

export const LONGEST_URL = 2048;

export type OutboundPurpose = 'webhook' | 'input-file';

/**
 * Thrown if the gateway must not contact a URL. The reason is only logged; the caller never sees
 * it.
 */
export class UrlNotPermittedError extends Error {
  override name = 'UrlNotPermittedError';
  readonly reason: string;

  constructor(reason: string) {
    super(`URL not permitted: ${reason}`);
    this.reason = reason;
  }
}

/** The rules for client-supplied URLs, against server-side request forgery (OWASP A10:2021). */
export interface UrlGuard {
  /**
   * Returns the URL if it is permitted. Its host name is not resolved here.
   * @throws UrlNotPermittedError
   */
  check(url: string, purpose: OutboundPurpose): URL;
  /**
   * Resolves a name and checks all its addresses.
   * @throws UrlNotPermittedError if one of them is not permitted.
   * @throws the resolver's own error.
   */
  resolve(hostname: string): Promise<LookupAddress[]>;
}

export type Lookup = (
  name: string,
  options: LookupOptions & { all: true },
) => Promise<LookupAddress[]>;

type ListedHost = Config['outbound']['hosts'][number];

/**
 * Creates the guard.
 * @param lookup the resolver; in production, that of the operating system.
 */
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
      // A literal address is never resolved, so it must be checked here.
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

/**
 * Returns the host name for the resolver. `URL` has converted it to lower case and normalised
 * unusual spellings.
 */
function plainHost({ hostname }: URL): string {
  return withoutDot(hostname.replace(/^\[(.*)\]$/, '$1'));
}

function withoutDot(name: string): string {
  return name.replace(/\.$/, '');
}

/** Returns true if a host name has a meaning only inside a network (RFC 6761, RFC 6762). */
function isInternalName(name: string): boolean {
  return !name.includes('.') || /\.(localhost|local|internal|home\.arpa)$/.test(name);
}
