import type { Context } from 'koa';
import { type WebSocket, WebSocketServer } from 'ws';
import type { JsonDataSet } from '../../../../pipelines/dicom/dicom-json.ts';
import type { Subscriber } from '../../../core/workitems/subscriptions.ts';
import { SonogateError } from '../../../platform/errors/catalogue.ts';
import type { HttpDeps, HttpState } from '../context.ts';
import { upgradeOf } from '../upgrade.ts';
import { messageOf, scpStatusReport } from './event-report.ts';

/** Maximum size of a client's message in bytes. Clients have nothing to send on a channel. */
const LARGEST_MESSAGE_BYTES = 1024;
/** Number of unsent bytes above which the channel of a slow client is closed. */
const MOST_WAITING_BYTES = 4 * 1024 * 1024;
/**
 * Milliseconds between two pings. A client that has not answered a ping by the next one is
 * disconnected.
 */
const PING_MS = 30_000;
/** Milliseconds that a client has to complete the closing handshake. */
const CLOSING_MS = 2000;
/** Message IDs have 16 bits (PS3.7 E.1); after the largest one, numbering starts again at 1. */
const LARGEST_MESSAGE_ID = 65_535;

/** Close codes from RFC 6455 7.4.1 and its registry. */
const CLOSE = { goingAway: 1001, policy: 1008, tryLater: 1013 } as const;

/** An open event channel (PS3.18 8.10.4). */
export interface Channel extends Subscriber {
  /**
   * Whether the channel was opened with a test key. A test channel receives only events of test
   * steps; any other channel receives only events of live steps.
   */
  test: boolean;
  send(report: JsonDataSet): void;
}

const sockets = new WebSocketServer({
  noServer: true,
  maxPayload: LARGEST_MESSAGE_BYTES,
  perMessageDeflate: false,
});

/**
 * Checks that a call may open a channel, and counts it as an open stream until its connection ends.
 * @throws SonogateError `upgrade_required`, `forbidden`, `rate_limited`
 */
export function requireHandshake(
  context: Context & { state: HttpState },
  { limits, config }: Pick<HttpDeps, 'limits' | 'config'>,
): void {
  const upgrade = upgradeOf(context.req);
  if (!upgrade) {
    context.set('Upgrade', 'websocket');
    throw new SonogateError('upgrade_required', 'Open the channel as a WebSocket.');
  }
  requireOwnOrigin(context, config.publicUrl);
  const release = limits.openStream(context.state.principal.keyId);
  // The client may have disconnected while its key was checked.
  if (upgrade.socket.closed) release();
  else upgrade.socket.once('close', release);
}

/**
 * Opens the requested channel. It stays open until the client disconnects, reads too slowly or
 * loses its key, or until the server stops.
 * @param stillValid rejects when the key of the call is no longer valid.
 */
export function openChannel(
  context: Context & { state: HttpState },
  { stopping, logger }: Pick<HttpDeps, 'stopping' | 'logger'>,
  {
    aeTitle,
    stillValid,
    opened,
  }: { aeTitle: string; stillValid: () => Promise<unknown>; opened: (one: Channel) => () => void },
): void {
  const upgrade = upgradeOf(context.req);
  if (!upgrade) return;
  const { accountId, keyId, test } = context.state.principal;
  const { req, res } = context;
  context.respond = false;
  res.detachSocket(upgrade.socket);
  sockets.handleUpgrade(req, upgrade.socket, upgrade.head, (socket) => {
    const ended = new AbortController();
    const end = (code: number) => {
      socket.close(code);
      setTimeout(() => socket.terminate(), CLOSING_MS).unref();
    };
    const send = sender(socket, () => {
      logger.event('event_channel_slow', { key: keyId });
      end(CLOSE.tryLater);
    });
    const stop = () => {
      send(scpStatusReport('GOING DOWN'));
      end(CLOSE.goingAway);
    };
    const close = opened({ accountId, aeTitle, test, send });
    keepAlive(socket, ended.signal, stillValid, () => end(CLOSE.policy));
    stopping.addEventListener('abort', stop, { signal: ended.signal });
    socket.on('error', (error) => logger.debug({ err: error }, 'event channel'));
    socket.once('close', () => {
      ended.abort();
      close();
    });
    if (stopping.aborted) stop();
  });
}

/**
 * Refuses pages of other origins, because a browser lets any page open a WebSocket (RFC 6455 10.2).
 * Programs other than browsers send no Origin.
 */
function requireOwnOrigin(context: Context, publicUrl: string | undefined): void {
  const origin = context.get('Origin');
  const own = publicUrl === undefined ? context.get('Host') : new URL(publicUrl).host;
  if (origin === '' || (URL.canParse(origin) && new URL(origin).host === own)) return;
  throw new SonogateError('forbidden', 'The page belongs to another site.');
}

function sender(socket: WebSocket, tooSlow: () => void): Channel['send'] {
  let last = 0;
  return (report) => {
    if (socket.readyState !== socket.OPEN) return;
    if (socket.bufferedAmount > MOST_WAITING_BYTES) return tooSlow();
    last = (last % LARGEST_MESSAGE_ID) + 1;
    socket.send(messageOf(report, last));
  };
}

function keepAlive(
  socket: WebSocket,
  ended: AbortSignal,
  stillValid: () => Promise<unknown>,
  refuse: () => void,
): void {
  let answered = true;
  socket.on('pong', () => {
    answered = true;
  });
  const timer = setInterval(() => {
    if (!answered) return socket.terminate();
    answered = false;
    socket.ping();
    stillValid().catch((error: unknown) => {
      // While the database is unreachable, the key cannot be checked and the channel stays open.
      if (error instanceof SonogateError) refuse();
    });
  }, PING_MS);
  ended.addEventListener('abort', () => clearInterval(timer));
}
