import { createServer, type Server, type Socket } from 'node:net';
import type { ListenerTls } from '../../config/tls.ts';
import { tlsServer } from '../../src/platform/tls/server.ts';
import { Acceptor, type AcceptorOptions } from './acceptor.ts';
import { ARTIM_MILLISECONDS, UnassociatedConnections } from './artim.ts';
import type { Admission } from './service-ports.ts';

export interface ListenerOptions extends Omit<AcceptorOptions, 'artim'> {
  host: string;
  port: number;
  tls?: ListenerTls | undefined;
  maxAssociations: number;
  /** Called with the reason for each connection that fails during the TLS handshake. */
  onTlsRefused?: (address: string, reason: string) => void;
  /** Milliseconds between checks of the certificate files for changes. */
  certificateEveryMilliseconds?: number;
  artimMilliseconds?: number;
}

export interface Listener {
  port: number;
  /**
   * Stops accepting connections, gives objects being received `graceSeconds` to finish, then
   * closes.
   */
  close(graceSeconds?: number): Promise<void>;
}

/**
 * Listens for associations on one address, up to a maximum number, with Nagle's algorithm disabled.
 * The maximum applies to associations rather than connections, so that a peer that only connects
 * does not block others.
 * @throws the system error if the address cannot be bound or a certificate cannot be read.
 */
export async function listen(options: ListenerOptions): Promise<Listener> {
  const {
    host,
    port,
    tls,
    maxAssociations,
    onTlsRefused,
    certificateEveryMilliseconds,
    artimMilliseconds = ARTIM_MILLISECONDS,
    ...acceptorOptions
  } = options;
  const { logger } = options;
  const acceptors = new Set<Acceptor>();
  const connections = new Set<Socket>();
  const unassociated = new UnassociatedConnections({ artimMilliseconds, maxAssociations });

  const admit = capped(options.admit, maxAssociations);
  const onConnection = (socket: Socket) => {
    socket.setNoDelay(true);
    const artim = unassociated.artimOf(socket);
    const acceptor = new Acceptor(socket, { ...acceptorOptions, admit, artim });
    acceptors.add(acceptor);
    socket.once('close', () => acceptors.delete(acceptor));
    void acceptor.serve();
  };

  const onRefused = (address: string, reason: string) => {
    logger.event('tls_refused', { address, reason });
    onTlsRefused?.(address, reason);
  };
  const secure = tls
    ? await tlsServer(tls, { onConnection, onRefused, logger, certificateEveryMilliseconds })
    : null;
  const server: Server = secure?.server ?? createServer(onConnection);
  // With TLS, this event is emitted before the handshake, which a peer may never finish.
  server.prependListener('connection', (socket: Socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
    // Without a listener, an error of the socket would end the process. The reader of the socket
    // receives the same error and handles it.
    socket.on('error', () => {});
    unassociated.artimOf(socket).start();
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  server.on('error', (error) => options.logger.event('listener_failed', { error: error.message }));

  return {
    port: boundPort(server),
    async close(graceSeconds = 10) {
      secure?.stop();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      unassociated.close();
      for (const acceptor of acceptors) acceptor.stop();
      const timer = setTimeout(() => {
        for (const socket of connections) socket.destroy();
      }, graceSeconds * 1000);
      await closed;
      clearTimeout(timer);
    },
  };
}

/** Wraps an admission so that peers are refused while `maxAssociations` are open. */
function capped(admit: Admission, maxAssociations: number): Admission {
  let associations = 0;
  return (peer) => {
    if (associations >= maxAssociations) return { refused: 'too_many_associations' };
    const admission = admit(peer);
    if ('refused' in admission) return admission;
    associations += 1;
    return {
      ...admission,
      ended() {
        associations -= 1;
        admission.ended?.();
      },
    };
  };
}

function boundPort(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
