import type { Socket } from 'node:net';

/**
 * The ARTIM timer of PS3.8 9.1.5: it runs while a connection has no association, and ends the
 * connection when it expires.
 */
export interface Artim {
  start(): void;
  stop(): void;
}

/**
 * Milliseconds that a peer may take to request an association, or to close the connection after our
 * last PDU.
 */
export const ARTIM_MILLISECONDS = 30_000;

/**
 * Maximum number of connections without an association, as multiples of `maxAssociations`: from one
 * address, and in all.
 */
const PER_ASSOCIATION = { ofAddress: 2, inAll: 8 } as const;

interface Waiting {
  socket: Socket;
  address: string;
  timer: NodeJS.Timeout;
}

/**
 * Connections without an association: during the TLS handshake, before the A-ASSOCIATE-RQ, or after
 * our last PDU. Receiving bytes does not extend their time. If one address has too many of them,
 * its oldest connection is closed. If all addresses together have too many, the oldest connection
 * of any address is closed. Idle connections therefore cannot block other peers: a peer that wants
 * an association requests it within milliseconds.
 */
export class UnassociatedConnections {
  /** The waiting connections by the peer's address and port, oldest first. */
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

  /**
   * Returns the timer of a connection. A plain socket and the TLS socket that wraps it share one
   * timer.
   */
  artimOf(socket: Socket): Artim {
    const { remoteAddress: address = '', remotePort } = socket;
    const peer = `${address} ${remotePort}`;
    return {
      start: () => this.#start(peer, address, socket),
      stop: () => this.#forget(peer),
    };
  }

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
