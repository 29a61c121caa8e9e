import { type IncomingMessage, type RequestListener, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** A connection that the client wants to switch to another protocol (RFC 9110 7.8). */
interface Upgrade {
  socket: Socket;
  /** Bytes that the client sent after the request. */
  head: Buffer;
}

const UPGRADES = new WeakMap<IncomingMessage, Upgrade>();

/** Returns the connection of an upgrade request; null for an ordinary call. */
export const upgradeOf = (request: IncomingMessage): Upgrade | null =>
  UPGRADES.get(request) ?? null;

/**
 * True if a call is a WebSocket handshake (RFC 6455 4.1). Every other upgrade is ignored, as RFC
 * 9110 7.8 permits: Java's HTTP client requests `h2c` in the first call on a connection.
 */
export const isWebSocketHandshake = ({ method, headers }: IncomingMessage): boolean =>
  method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket';

/**
 * Passes handshakes to the same handler as other calls, so that keys, limits, errors and the audit
 * apply to them. If the handler does not take over the connection, its response is sent and the
 * connection closed.
 */
export function handleUpgrades(server: Server, handle: RequestListener): void {
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    // Until the handler takes over this socket, nothing else listens for its errors.
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
