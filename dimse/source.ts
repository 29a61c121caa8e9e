import { BlockList, isIPv6 } from 'node:net';
import type { Source } from '../config/schema.ts';

/** The first source that lists the calling AE title (or `*`) and holds the address. */
export function findSource(
  sources: readonly Source[],
  callingAeTitle: string,
  address: string,
): Source | null {
  return (
    sources.find(
      (source) =>
        source.callingAeTitles.some((title) => title === '*' || title === callingAeTitle) &&
        holds(source.addresses, address),
    ) ?? null
  );
}

function holds(ranges: readonly string[], address: string): boolean {
  const list = new BlockList();
  for (const range of ranges) {
    const [network = '', prefix] = range.split('/');
    const family = isIPv6(network) ? 'ipv6' : 'ipv4';
    if (prefix === undefined) list.addAddress(network, family);
    else list.addSubnet(network, Number(prefix), family);
  }
  // A socket bound to IPv6 shows IPv4 peers as ::ffff:a.b.c.d.
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
  return list.check(plain, isIPv6(plain) ? 'ipv6' : 'ipv4');
}
