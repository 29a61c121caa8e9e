import { readFile } from 'node:fs/promises';
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { SonogateError } from '../../src/errors/catalogue.ts';

/** How a node is called over TLS; PEM files. */
export interface CallTls {
  caFile?: string | undefined;
  certFile?: string | undefined;
  keyFile?: string | undefined;
  serverName?: string | undefined;
}

interface SecureOptions {
  ca?: Buffer | undefined;
  cert?: Buffer | undefined;
  key?: Buffer | undefined;
  servername?: string | undefined;
  minVersion: 'TLSv1.2';
  rejectUnauthorized: true;
}

/**
 * Opens a connection; what fails on the way is seen by whoever reads or writes first.
 * @throws SonogateError `invalid_config` when a file of `tls` cannot be read.
 */
export async function dial({
  host,
  port,
  tls,
}: {
  host: string;
  port: number;
  tls?: CallTls | undefined;
}): Promise<Socket> {
  if (!tls) return connect({ host, port, noDelay: true });
  const socket = connectTls({ host, port, ...(await tlsOptions(tls, host)) });
  socket.setNoDelay(true);
  return socket;
}

/** PS3.15 B.9 (BCP 195): TLS 1.2 or newer, and a certificate that names the node. */
export async function tlsOptions(tls: CallTls, host: string): Promise<SecureOptions> {
  const servername = tls.serverName ?? (isIP(host) ? undefined : host);
  try {
    const [ca, cert, key] = await Promise.all(
      [tls.caFile, tls.certFile, tls.keyFile].map((file) => (file ? readFile(file) : undefined)),
    );
    return { ca, cert, key, servername, minVersion: 'TLSv1.2', rejectUnauthorized: true };
  } catch (error) {
    throw new SonogateError('invalid_config', (error as Error).message, { cause: error });
  }
}
