import type { X509Certificate } from 'node:crypto';
import { BlockList, isIPv6 } from 'node:net';
import type { Source } from '../config/schema.ts';
import type { ErrorCode } from '../src/errors/catalogue.ts';
import { isBoundTo } from '../src/tls/certificate-binding.ts';
import type { Admitted, AssociationPeer } from './network/storage-service.ts';
import type { SourceLimits } from './source-limits.ts';

/** Who calls, as far as the network shows it. */
export interface Caller {
  aeTitle: string;
  address: string;
  /** Proved in the TLS handshake; null in the clear and where none was shown. */
  certificate: X509Certificate | null;
}

/**
 * The first source that lists the calling AE title (or `*`), holds the address and, where it names a
 * certificate, is bound to that of the caller. A title that a source binds to a certificate is that
 * machine's alone: entries for any title (`*`) do not stand in for it.
 * @returns a code of the catalogue when there is none.
 */
export function findSource(
  sources: readonly Source[],
  { aeTitle, address, certificate }: Caller,
): Source | { refused: ErrorCode } {
  const naming = sources.filter(({ callingAeTitles }) => callingAeTitles.includes(aeTitle));
  const isBound = naming.some((source) => source.certificate !== undefined);
  const any = sources.filter(
    (source) => naming.includes(source) || source.callingAeTitles.includes('*'),
  );
  const here = (isBound ? naming : any).filter(({ addresses }) => holds(addresses, address));
  if (here.length === 0) return { refused: 'calling_ae_not_recognized' };
  const proven = here.find(
    ({ certificate: binding }) =>
      binding === undefined || (certificate !== null && isBoundTo(binding, certificate)),
  );
  return proven ?? { refused: 'certificate_not_of_calling_ae' };
}

/** Lets a caller in as one of the sources, within its limits. */
export function admit(
  sources: readonly Source[],
  limits: SourceLimits,
  { callingAeTitle, address, certificate = null }: AssociationPeer,
): Admitted | { refused: ErrorCode } {
  const source = findSource(sources, { aeTitle: callingAeTitle, address, certificate });
  if ('refused' in source) return source;
  const ended = limits.associate(source);
  if (typeof ended !== 'function') return ended;
  return { idleTimeoutSeconds: source.idleTimeoutSeconds, source: source.name, ended };
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
