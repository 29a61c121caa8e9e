import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type Koa from 'koa';
import type { ListenerTls } from '../../../config/tls.ts';
import { EVENTS } from '../../platform/logging/events.ts';
import type { Logger } from '../../platform/logging/logger.ts';
import {
  followCertificate,
  serverOptions,
  showsUntrustedCertificate,
} from '../../platform/tls/certificates.ts';

/** A socket without traffic for this long is closed, also that of a client that stopped reading. */
const IDLE_MS = 120_000;
/**
 * Longer than proxies keep connections for reuse, so that none is closed while a call is on its
 * way.
 */
const KEEP_ALIVE_MS = 75_000;
/** As long as the signed URL of an upload is valid. */
const LONGEST_CALL_MS = 3_600_000;
/** Time for answers in progress when the server stops. */
const GRACE_MS = 5000;

const LIMITS = { requestTimeout: LONGEST_CALL_MS, keepAliveTimeout: KEEP_ALIVE_MS };

interface HttpListener {
  host: string;
  port: number;
  /** HTTPS with these files; plain HTTP without. */
  tls?: ListenerTls | undefined;
  idleMs?: number;
  /** How often the certificate files are checked. */
  certificateEveryMs?: number;
  logger: Logger;
}

export interface HttpServer {
  /** `http://127.0.0.1:8080` */
  url: string;
  port: number;
  /** Accepts no more calls, gives those in progress five seconds, then closes them. */
  stop(): Promise<void>;
}

/**
 * Listens on `host` and `port` (0: a free one). Abort the `stopping` signal of the app before
 * `stop`, so that event streams end at once.
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
 * @returns a function that stops it.
 */
function followTls(
  server: HttpsServer,
  tls: ListenerTls,
  logger: Logger,
  everyMs: number | undefined,
): () => void {
  const refused = (address: string | undefined, reason: unknown) =>
    logger.event(EVENTS.tlsRefused, { address, reason: String(reason) });
  server.on('secureConnection', (socket) => {
    if (!showsUntrustedCertificate(socket)) return;
    refused(socket.remoteAddress, socket.authorizationError);
    socket.destroy();
  });
  server.on('tlsClientError', (error: NodeJS.ErrnoException, socket) => {
    refused(socket.remoteAddress, socket.authorizationError ?? error.code);
  });
  return followCertificate(server, tls, logger, everyMs);
}
