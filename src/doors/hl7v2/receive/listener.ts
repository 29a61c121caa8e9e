import { createServer, type Server, type Socket } from 'node:net';
import type { Hl7Sender, Hl7v2Listener } from '../../../../config/hl7v2.ts';
import type { RefusalAudit } from '../../../core/audit/refusals.ts';
import { isAddressIn } from '../../../platform/addresses.ts';
import { type FollowedTlsServer, tlsServer } from '../../../platform/tls/server.ts';
import { FrameReader, framed } from '../frames.ts';
import { type AnswerParts, answerTo, type Hl7Peer, refuseTooLarge } from './answer.ts';

const HANDSHAKE_MILLISECONDS = 10_000;
/** Milliseconds that a peer has to read an answer. */
const WRITE_MILLISECONDS = 30_000;

interface ListenerParts extends Omit<AnswerParts, 'settings'> {
  settings: Hl7v2Listener;
  refusals: Pick<RefusalAudit, 'refused'>;
}

export interface MllpListener {
  /** The bound port. It differs from the setting only if the setting is 0. */
  port: number;
  /** Stops accepting connections, finishes messages that have already arrived, then closes. */
  close(graceSeconds: number): Promise<void>;
}

/**
 * Listens for HL7 version 2 messages over MLLP. Connections from unknown addresses, and connections
 * above the limit, are closed before anything is read.
 * @throws the system's error when the address cannot be bound or a certificate cannot be read.
 */
export async function listenForMessages(parts: ListenerParts): Promise<MllpListener> {
  const { settings, logger, refusals } = parts;
  const { tls, senders, maxConnections } = settings;
  const connections = new Set<Socket>();
  const serving = new Set<Promise<void>>();
  const stopping = new AbortController();

  const onConnection = (socket: Socket) => {
    const peer = peerOf(senders, socket.remoteAddress ?? '');
    if (!peer) return socket.destroy();
    const served = serve(socket, peer, parts, stopping.signal);
    serving.add(served);
    void served.finally(() => serving.delete(served));
  };
  const refuse = (address: string, reason: string) => {
    logger.event('hl7_connection_refused', { address, reason });
    refusals.refused({
      action: 'hl7v2.sender-refused',
      actor: 'mllp',
      address,
      detail: { reason },
    });
  };
  // Half-open connections are allowed, so that a sender that closes its side after the last message
  // still receives the answer.
  const secure: FollowedTlsServer | null = tls
    ? await tlsServer(tls, {
        onConnection,
        onRefused: refuse,
        logger,
        handshakeMilliseconds: HANDSHAKE_MILLISECONDS,
        allowHalfOpen: true,
      })
    : null;
  const server: Server = secure?.server ?? createServer({ allowHalfOpen: true }, onConnection);
  // With TLS, this event is emitted before the handshake, so that an unknown peer is disconnected
  // without one.
  server.prependListener('connection', (socket: Socket) => {
    // The code that reads the socket also receives the error. This listener only prevents an
    // uncaught exception.
    socket.on('error', () => {});
    const address = socket.remoteAddress ?? '';
    const isFull = connections.size >= maxConnections;
    if (isFull || !peerOf(senders, address)) {
      refuse(address, isFull ? 'too many connections' : 'address of no sender');
      socket.destroy();
      return;
    }
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(settings.port, settings.host, resolve);
  });
  server.on('error', (error) => logger.event('hl7_listener_failed', { error: error.message }));
  const bound = server.address();
  const port = typeof bound === 'object' && bound !== null ? bound.port : 0;
  logger.event('hl7_listener_open', { host: settings.host, port });
  return {
    port,
    async close(graceSeconds) {
      secure?.stop();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      stopping.abort();
      const timer = setTimeout(() => {
        for (const socket of connections) socket.destroy();
      }, graceSeconds * 1000);
      await Promise.all(serving);
      for (const socket of connections) socket.destroy();
      await closed;
      clearTimeout(timer);
    },
  };
}

/**
 * Returns the sender with this address; null for an unknown address. If several senders share the
 * address, returns the name of the first and the applications of all of them.
 */
function peerOf(senders: readonly Hl7Sender[], address: string): Hl7Peer | null {
  const here = senders.filter(({ addresses }) => isAddressIn(addresses, address));
  const [first] = here;
  if (!first) return null;
  // Several applications may send from one address.
  const isAny = here.some(({ applications }) => applications.length === 0);
  const applications = isAny ? [] : here.flatMap((sender) => sender.applications);
  return { sender: first.name, address, applications };
}

/**
 * Reads a connection and answers its messages one after the other. Reading pauses while a message
 * is processed, so a sender cannot fill the memory.
 */
async function serve(
  socket: Socket,
  peer: Hl7Peer,
  parts: ListenerParts,
  stopping: AbortSignal,
): Promise<void> {
  const { settings, logger } = parts;
  const reader = new FrameReader(settings.maxMessageBytes);
  const { sender } = peer;
  socket.setNoDelay(true);
  const clock = deadline(socket);
  const leave = () => {
    if (!reader.isInside) socket.destroy();
  };
  stopping.addEventListener('abort', leave, { once: true });
  try {
    clock.set(settings.idleSeconds);
    let wasInside = false;
    for await (const bytes of socket) {
      for (const frame of reader.push(bytes as Buffer)) {
        if ('broken' in frame) {
          logger.event('hl7_frame_broken', { sender, why: frame.broken });
          continue;
        }
        clock.clear();
        const answers =
          'message' in frame
            ? await answerTo(frame.message, peer, parts)
            : await refuseTooLarge(frame.tooLarge, peer, { most: settings.maxMessageBytes, parts });
        for (const answer of answers) await write(socket, framed(answer));
        if ('tooLarge' in frame) return;
        wasInside = false;
        clock.set(settings.idleSeconds);
      }
      if (stopping.aborted && !reader.isInside) return;
      // A message's time limit starts with its first byte, however slowly the rest arrives.
      if (reader.isInside && !wasInside) clock.set(settings.messageSeconds);
      wasInside = reader.isInside;
    }
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'closed';
    logger.event('hl7_connection_lost', { sender, code });
  } finally {
    clock.clear();
    stopping.removeEventListener('abort', leave);
    socket.end();
    socket.destroySoon();
  }
}

/** Returns a timer that destroys the socket when its time limit expires. */
function deadline(socket: Socket): { set(seconds: number): void; clear(): void } {
  let timer: NodeJS.Timeout | undefined;
  return {
    set(seconds) {
      clearTimeout(timer);
      timer = setTimeout(() => socket.destroy(), Math.min(seconds * 1000, 0x7fffffff));
    },
    clear: () => clearTimeout(timer),
  };
}

/** Writes an answer. If the peer does not read it in time, the connection is closed. */
function write(socket: Socket, bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => socket.destroy(), WRITE_MILLISECONDS);
    socket.write(bytes, (error) => {
      clearTimeout(timer);
      if (error) reject(error);
      else resolve();
    });
  });
}
