import { type IncomingMessage, type RequestListener, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** A connection that the client wants to use for another protocol (RFC 9110 7.8). */
interface Upgrade {
  socket: Socket;
  /** The bytes that the client has sent after the request. */
  head: Buffer;
}

const UPGRADES = new WeakMap<IncomingMessage, Upgrade>();

/** Returns the connection of a request for an upgrade; null for an ordinary call. */
export const upgradeOf = (request: IncomingMessage): Upgrade | null =>
  UPGRADES.get(request) ?? null;

/**
 * Whether a call is a WebSocket handshake (RFC 6455 4.1). Every other upgrade is ignored, as RFC
 * 9110 7.8 permits: Java's HTTP client requests `h2c` in each first call.
 */
export const isWebSocketHandshake = ({ method, headers }: IncomingMessage): boolean =>
  method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket';

/**
 * Passes handshakes to the same handler as other calls, so that keys, limits, errors and the audit
 * apply to them. If the handler does not take over the connection, it answers as usual, and the
 * connection ends.
 */
export function handleUpgrades(server: Server, handle: RequestListener): void {
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    // Until the handler has taken over this socket, it has no other listener for errors.
    socket.on('error', () => socket.destroy());
    UPGRADES.set(request, { socket, head });
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    response.once('finish', () => {
      response.detachSocket(socket);
      socket.destroySoon();
    });
    handle(request, response);
  });
}
