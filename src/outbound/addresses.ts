import { BlockList, isIP } from 'node:net';

/**
 * Ranges that no call of ours may reach unless the site lists them: this machine, private and
 * link-local networks (cloud metadata among them), documentation, benchmarks, multicast and
 * reserved space (IANA special-purpose address registries, RFC 6890).
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
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
  '100::/64',
  '2001::/23',
  '2001:db8::/32',
  '64:ff9b:1::/48',
  '2002::/16',
] as const;

const refused = addressRanges(REFUSED);

/** A list of `10.0.0.0/8`, `fd00::/8` or single addresses to check against. */
export function addressRanges(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', prefix] = range.split('/');
    const family = familyOf(address);
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return list;
}

/** Whether the address (v4 or v6, without brackets) is in the list, also by its embedded IPv4. */
export function isIn(list: BlockList, address: string): boolean {
  const inner = embeddedIpv4(address);
  return inner === null ? list.check(address, familyOf(address)) : list.check(inner, 'ipv4');
}

/** Whether a call may go to this address of the public internet. */
export function isPublic(address: string): boolean {
  return isIP(address) !== 0 && !isIn(refused, address);
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}

/** `::ffff:0:0/96` (RFC 4291 2.5.5.2) and `64:ff9b::/96` (RFC 6052) stand for an IPv4 address. */
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

/** The eight groups of an IPv6 address; `URL` writes every spelling of one the same way. */
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
