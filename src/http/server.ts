import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type Koa from 'koa';

/** A socket on which nothing moves for this long is closed: a client that stopped reading too. */
const IDLE_MS = 120_000;
/** Longer than proxies keep connections for reuse, so that none is closed on a call on its way. */
const KEEP_ALIVE_MS = 75_000;
/** As long as the signed address of an upload lives. */
const LONGEST_CALL_MS = 3_600_000;
/** Time that answers under way get when the server stops. */
const GRACE_MS = 5000;

export interface HttpServer {
  /** `http://127.0.0.1:8080` */
  url: string;
  port: number;
  /** Takes no more calls, lets those under way end within five seconds, then closes them. */
  stop(): Promise<void>;
}

/**
 * Listens on `host` and `port` (0 takes a free one). Abort the `stopping` signal of the app before
 * `stop`, so that event streams end at once.
 */
export async function startHttp<State>(
  app: Koa<State>,
  { host, port, idleMs = IDLE_MS }: { host: string; port: number; idleMs?: number },
): Promise<HttpServer> {
  const server = createServer(
    { requestTimeout: LONGEST_CALL_MS, keepAliveTimeout: KEEP_ALIVE_MS },
    app.callback(),
  );
  server.setTimeout(idleMs);
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address() as AddressInfo;
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return {
    url: `http://${name}:${address.port}`,
    port: address.port,
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeIdleConnections();
      const grace = setTimeout(() => server.closeAllConnections(), GRACE_MS);
      await closed;
      clearTimeout(grace);
    },
  };
}
