import { connect, isIP, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import type { TlsVersion } from '../../config/tls.ts';
import { SonogateError } from '../../src/platform/errors/catalogue.ts';
import type { ClientCertificates, ClientFiles } from '../../src/platform/tls/client-files.ts';
import { bcp195 } from '../../src/platform/tls/profile.ts';

/** TLS settings for connections to a node. */
interface NodeTls extends ClientFiles {
  serverName?: string | undefined;
  /** The minimum TLS version; 1.2 by default. */
  minVersion?: TlsVersion | undefined;
}

/** `NodeTls` with the object that reads its files. */
interface ClientTls extends NodeTls {
  certificates: ClientCertificates;
}

export const clientTls = (
  tls: NodeTls | undefined,
  certificates: ClientCertificates,
): ClientTls | undefined => tls && { ...tls, certificates };

/** A DICOM node that we connect to, and the AE title that we use there. */
export interface CalledNode {
  host: string;
  port: number;
  aeTitle: string;
  callingAeTitle: string;
  /**
   * Maximum number of seconds to wait for the peer to connect and associate, to send the next
   * piece, or to respond.
   */
  timeoutSeconds: number;
  /** If absent, the connection is not encrypted. */
  tls?: ClientTls | undefined;
}

/**
 * Opens a connection. A failure to connect only surfaces at the first read or write.
 * @throws SonogateError `invalid_config` if a file of `tls` cannot be read and no earlier content
 * of it is known.
 */
export async function dial({
  host,
  port,
  tls,
}: Pick<CalledNode, 'host' | 'port' | 'tls'>): Promise<Socket> {
  if (!tls) return connect({ host, port, noDelay: true });
  const socket = connectTls({ host, port, ...(await tlsOptions(tls, host)) });
  socket.setNoDelay(true);
  return socket;
}

/**
 * Returns TLS options according to the profile of PS3.15 B.12 (BCP 195). The peer's certificate
 * must be issued for the node.
 */
export async function tlsOptions(tls: ClientTls, host: string): Promise<ConnectionOptions> {
  const servername = tls.serverName ?? (isIP(host) ? undefined : host);
  try {
    const pems = await tls.certificates.read(tls);
    const profile = bcp195(tls.minVersion ?? '1.2');
    return { ...profile, ...pems, servername, rejectUnauthorized: true };
  } catch (error) {
    // Files that do not match may be in the middle of a replacement, so trying again may help.
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    throw new SonogateError('invalid_config', error.message, { cause: error });
  }
}
