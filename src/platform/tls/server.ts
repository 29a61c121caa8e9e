import type { Socket } from 'node:net';
import { createServer, type Server } from 'node:tls';
import type { ListenerTls } from '../../../config/tls.ts';
import type { Logger } from '../logging/logger.ts';
import {
  followCertificate,
  onFailedHandshake,
  serverOptions,
  showsUntrustedCertificate,
} from './certificates.ts';

/** A TLS server that uses new certificate files for new handshakes. */
export interface FollowedTlsServer {
  server: Server;
  stop(): void;
}

interface TlsServerParts {
  onConnection: (socket: Socket) => void;
  /**
   * Called with the reason for each connection that fails during the handshake or presents an
   * untrusted certificate.
   */
  onRefused: (address: string, reason: string) => void;
  logger: Logger;
  /** Maximum duration of a handshake in milliseconds; the Node.js default if absent. */
  handshakeMilliseconds?: number | undefined;
  /** Whether a response can be written after the peer has ended its side. */
  allowHalfOpen?: boolean;
  /** Milliseconds between checks of the certificate files. */
  certificateEveryMilliseconds?: number | undefined;
}

/**
 * Creates a TLS server for a protocol other than HTTP.
 * @throws the system error if a file cannot be read.
 * @throws SonogateError `invalid_config` if a file is not a certificate or key.
 */
export async function tlsServer(
  tls: ListenerTls,
  parts: TlsServerParts,
): Promise<FollowedTlsServer> {
  const { onConnection, onRefused, logger, handshakeMilliseconds, allowHalfOpen = false } = parts;
  const options = {
    ...(await serverOptions(tls)),
    allowHalfOpen,
    ...(handshakeMilliseconds !== undefined && { handshakeTimeout: handshakeMilliseconds }),
  };
  const server = createServer(options, (socket) => {
    if (!showsUntrustedCertificate(socket)) return onConnection(socket);
    onRefused(socket.remoteAddress ?? '', String(socket.authorizationError));
    socket.destroy();
  });
  onFailedHandshake(server, onRefused);
  return {
    server,
    stop: followCertificate(server, tls, logger, parts.certificateEveryMilliseconds),
  };
}
