import { createServer, type Server, type Socket } from 'node:net';
import {
  createServer as createTlsServer,
  type TLSSocket,
  type Server as TlsServer,
} from 'node:tls';
import type { ListenerTls } from '../../config/tls-schema.ts';
import {
  followCertificate,
  serverOptions,
  showsUntrustedCertificate,
} from '../../src/tls/served-certificate.ts';
import { Acceptor, type AcceptorOptions } from './acceptor.ts';

export interface ListenerOptions extends Omit<AcceptorOptions, 'refuse'> {
  host: string;
  /** 0 takes a free port. */
  port: number;
  tls?: ListenerTls | undefined;
  maxAssociations: number;
  /** Told of each connection that ends in its TLS handshake, and why. */
  onTlsRefused?: (address: string, reason: string) => void;
  /** How often the certificate files are looked at. */
  certificateEveryMilliseconds?: number;
}

export interface Listener {
  port: number;
  /** Takes no more connections, lets objects under way finish for `graceSeconds`, then closes. */
  close(graceSeconds?: number): Promise<void>;
}

/** Connections above the cap are answered with a rejection; above this many times the cap, not at all. */
const CONNECTIONS_PER_ASSOCIATION = 2;

/**
 * Listens for associations on our own socket: bound to one address, capped, without Nagle's delay.
 * @throws the system's error when the address cannot be bound or a certificate cannot be read.
 */
export async function listen(options: ListenerOptions): Promise<Listener> {
  const {
    host,
    port,
    tls,
    maxAssociations,
    onTlsRefused,
    certificateEveryMilliseconds,
    ...acceptorOptions
  } = options;
  const { logger } = options;
  const acceptors = new Set<Acceptor>();
  const connections = new Set<Socket>();

  const onConnection = (socket: Socket) => {
    socket.setNoDelay(true);
    if (acceptors.size >= maxAssociations * CONNECTIONS_PER_ASSOCIATION) {
      socket.destroy();
      return;
    }
    const acceptor = new Acceptor(socket, {
      ...acceptorOptions,
      refuse: acceptors.size >= maxAssociations ? 'too_many_associations' : null,
    });
    acceptors.add(acceptor);
    socket.once('close', () => acceptors.delete(acceptor));
    void acceptor.serve();
  };

  const onRefused = (address: string, reason: string) => {
    logger.warn({ address, reason }, 'TLS handshake refused');
    onTlsRefused?.(address, reason);
  };
  const secure = tls ? await tlsServer(tls, onConnection, onRefused) : null;
  const server: Server = secure ?? createServer(onConnection);
  const unfollow =
    secure && tls ? followCertificate(secure, tls, logger, certificateEveryMilliseconds) : null;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  // Under TLS this comes before the handshake, which a peer may never finish.
  server.on('connection', (socket: Socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
  server.on('error', (error) =>
    options.logger.error({ error: error.message }, 'DICOM listener failed'),
  );

  return {
    port: boundPort(server),
    async close(graceSeconds = 10) {
      unfollow?.();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const acceptor of acceptors) acceptor.stop();
      const timer = setTimeout(() => {
        for (const socket of connections) socket.destroy();
      }, graceSeconds * 1000);
      await closed;
      clearTimeout(timer);
    },
  };
}

async function tlsServer(
  tls: ListenerTls,
  onConnection: (socket: Socket) => void,
  onRefused: (address: string, reason: string) => void,
): Promise<TlsServer> {
  const server = createTlsServer(await serverOptions(tls), (socket) => {
    if (!showsUntrustedCertificate(socket)) return onConnection(socket);
    onRefused(socket.remoteAddress ?? '', String(socket.authorizationError));
    socket.destroy();
  });
  server.on('tlsClientError', (error: NodeJS.ErrnoException, socket: TLSSocket) => {
    // Of a certificate that is not trusted the error says only that the connection ended.
    const reason = socket.authorizationError ?? error.code ?? 'TLS';
    onRefused(socket.remoteAddress ?? '', String(reason));
  });
  return server;
}

function boundPort(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
