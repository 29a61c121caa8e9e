import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type Koa from 'koa';
import type { ListenerTls } from '../../../config/tls.ts';
import type { Logger } from '../../platform/logging/logger.ts';
import {
  followCertificate,
  onFailedHandshake,
  serverOptions,
  showsUntrustedCertificate,
} from '../../platform/tls/certificates.ts';
import { answerUnreadableCalls } from './unreadable-call.ts';
import { handleUpgrades, isWebSocketHandshake } from './upgrade.ts';

/**
 * Milliseconds without traffic after which a socket is closed. A client that has stopped reading a
 * response is disconnected too.
 */
const IDLE_MS = 120_000;
/**
 * Milliseconds for which idle connections stay open. Proxies stop reusing connections sooner, so no
 * connection is closed while a proxy sends a call on it.
 */
const KEEP_ALIVE_MS = 75_000;
/** Maximum duration of a call in milliseconds, equal to the lifetime of a signed upload URL. */
const LONGEST_CALL_MS = 3_600_000;
/** Milliseconds for which responses in progress may continue when the server stops. */
const GRACE_MS = 5000;

const LIMITS = {
  requestTimeout: LONGEST_CALL_MS,
  keepAliveTimeout: KEEP_ALIVE_MS,
  shouldUpgradeCallback: isWebSocketHandshake,
  // The app answers a missing Host, as it answers an invalid one.
  requireHostHeader: false,
};

interface HttpListener {
  host: string;
  port: number;
  /** Files for HTTPS. Without them the server uses plain HTTP. */
  tls?: ListenerTls | undefined;
  idleMs?: number;
  /** Milliseconds between checks of the certificate files. */
  certificateEveryMs?: number;
  logger: Logger;
}

export interface HttpServer {
  /** Address of the server, such as `http://127.0.0.1:8080`. */
  url: string;
  port: number;
  /**
   * Stops accepting calls, gives calls in progress five seconds to finish, then closes their
   * connections.
   */
  stop(): Promise<void>;
}

/**
 * Listens on `host` and `port` (0 for a free port). Abort the app's `stopping` signal before
 * calling `stop`, so that event streams end at once.
 * @throws the system's error when the address cannot be bound or a certificate cannot be read.
 */
export async function startHttp<State>(
  app: Koa<State>,
  { host, port, tls, idleMs = IDLE_MS, certificateEveryMs, logger }: HttpListener,
): Promise<HttpServer> {
  const handle = app.callback();
  const secure = tls
    ? createHttpsServer({ ...LIMITS, ...(await serverOptions(tls)) }, handle)
    : null;
  const server = secure ?? createServer(LIMITS, handle);
  handleUpgrades(server, handle);
  answerUnreadableCalls(server, handle);
  const unfollow =
    secure && tls ? followTls(secure, tls, logger, certificateEveryMs) : () => undefined;
  server.setTimeout(idleMs);
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address() as AddressInfo;
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return {
    url: `${secure ? 'https' : 'http'}://${name}:${address.port}`,
    port: address.port,
    async stop() {
      unfollow();
      const closed = once(server, 'close');
      server.close();
      server.closeIdleConnections();
      const grace = setTimeout(() => server.closeAllConnections(), GRACE_MS);
      await closed;
      clearTimeout(grace);
    },
  };
}

/**
 * Reloads the certificate files when they change, and closes connections whose client certificate
 * is not trusted. These and failed handshakes are logged.
 * @returns a function that stops the reloading
 */
function followTls(
  server: HttpsServer,
  tls: ListenerTls,
  logger: Logger,
  everyMs: number | undefined,
): () => void {
  const refused = (address: string | undefined, reason: unknown) =>
    logger.event('tls_refused', { address, reason: String(reason) });
  server.on('secureConnection', (socket) => {
    if (!showsUntrustedCertificate(socket)) return;
    refused(socket.remoteAddress, socket.authorizationError);
    socket.destroy();
  });
  onFailedHandshake(server, refused);
  return followCertificate(server, tls, logger, everyMs);
}
