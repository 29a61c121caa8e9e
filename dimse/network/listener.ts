import { readFile } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { Config } from '../../config/schema.ts';
import { Acceptor, type AcceptorOptions } from './acceptor.ts';

export interface ListenerOptions extends Omit<AcceptorOptions, 'refuse'> {
  host: string;
  /** 0 takes a free port. */
  port: number;
  tls?: Config['dicom']['tls'];
  maxAssociations: number;
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
  const { host, port, tls, maxAssociations, ...acceptorOptions } = options;
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

  const server = tls ? await tlsServer(tls, onConnection) : createServer(onConnection);
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
  { certFile, keyFile, caFile }: NonNullable<Config['dicom']['tls']>,
  onConnection: (socket: Socket) => void,
): Promise<Server> {
  const [cert, key, ca] = await Promise.all([
    readFile(certFile),
    readFile(keyFile),
    caFile ? readFile(caFile) : undefined,
  ]);
  // PS3.15 B.9 (BCP 195): TLS 1.2 or newer; with a CA the peer must show a certificate of it.
  return createTlsServer(
    { cert, key, ca, requestCert: ca !== undefined, minVersion: 'TLSv1.2' },
    onConnection,
  );
}

function boundPort(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}
