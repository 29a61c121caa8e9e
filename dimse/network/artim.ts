import type { Socket } from 'node:net';

/** The timer of PS3.8 9.1.5: it runs while a connection has no association, and then ends it. */
export interface Artim {
  start(): void;
  stop(): void;
}

/** How long a peer may take to ask for an association, or to close after our last word. */
export const ARTIM_MILLISECONDS = 30_000;

/** How many are kept, for each association of the cap. */
const PER_ASSOCIATION = { ofAddress: 2, inAll: 8 } as const;

interface Waiting {
  socket: Socket;
  address: string;
  timer: NodeJS.Timeout;
}

/**
 * Connections without an association: in their TLS handshake, before the A-ASSOCIATE-RQ, or after
 * our last word. No byte that a peer sends lengthens their time, and a crowd of them keeps nobody
 * out: the oldest gives way, that of the same address first. To ask for an association takes
 * milliseconds, so the oldest is the one that does not.
 */
export class UnassociatedConnections {
  /** By the peer's end of the connection; the oldest first. */
  readonly #waiting = new Map<string, Waiting>();
  readonly #milliseconds: number;
  readonly #mostOfAddress: number;
  readonly #most: number;

  constructor({
    artimMilliseconds,
    maxAssociations,
  }: {
    artimMilliseconds: number;
    maxAssociations: number;
  }) {
    this.#milliseconds = artimMilliseconds;
    this.#mostOfAddress = PER_ASSOCIATION.ofAddress * maxAssociations;
    this.#most = PER_ASSOCIATION.inAll * maxAssociations;
  }

  /** Of a connection; the plain socket and the TLS socket over it share the timer. */
  artimOf(socket: Socket): Artim {
    const { remoteAddress: address = '', remotePort } = socket;
    const peer = `${address} ${remotePort}`;
    return {
      start: () => this.#start(peer, address, socket),
      stop: () => this.#forget(peer),
    };
  }

  /** Ends them all. */
  close(): void {
    for (const { socket } of this.#waiting.values()) socket.destroy();
  }

  #start(peer: string, address: string, socket: Socket): void {
    this.#forget(peer);
    if (socket.destroyed) return;
    this.#makeRoom(address);
    const seconds = this.#milliseconds / 1000;
    const expired = () => socket.destroy(new Error(`no association for ${seconds} s`));
    const waiting = { socket, address, timer: setTimeout(expired, this.#milliseconds) };
    this.#waiting.set(peer, waiting);
    socket.once('close', () => {
      clearTimeout(waiting.timer);
      if (this.#waiting.get(peer) === waiting) this.#waiting.delete(peer);
    });
  }

  #forget(peer: string): void {
    clearTimeout(this.#waiting.get(peer)?.timer);
    this.#waiting.delete(peer);
  }

  #makeRoom(address: string): void {
    const all = [...this.#waiting];
    const ofAddress = all.filter(([, waiting]) => waiting.address === address);
    const isCrowded = ofAddress.length >= this.#mostOfAddress || all.length >= this.#most;
    const [oldest] = ofAddress.length >= this.#mostOfAddress ? ofAddress : all;
    if (!isCrowded || !oldest) return;
    const [peer, { socket }] = oldest;
    this.#forget(peer);
    socket.destroy(new Error('too many connections without an association'));
  }
}
