import { BlockList, isIPv6 } from 'node:net';

/** The parsed list of each setting. It is kept, because parsing takes longer than a search. */
const lists = new WeakMap<readonly string[], BlockList>();

/** Returns true if an address is one of the given addresses or within one of the ranges (CIDR). */
export function isAddressIn(ranges: readonly string[], address: string): boolean {
  const list = lists.get(ranges) ?? listOf(ranges);
  lists.set(ranges, list);
  // A socket bound to IPv6 shows IPv4 peers as ::ffff:a.b.c.d.
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
  return list.check(plain, isIPv6(plain) ? 'ipv6' : 'ipv4');
}

function listOf(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [network = '', prefix] = range.split('/');
    const family = isIPv6(network) ? 'ipv6' : 'ipv4';
    if (prefix === undefined) list.addAddress(network, family);
    else list.addSubnet(network, Number(prefix), family);
  }
  return list;
}
