import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Context } from 'koa';
import type { HttpDeps, HttpState } from './context.ts';

/**
 * Milliseconds between keep-alive comments on a quiet stream. Proxies close a connection after 30
 * to 60 s of silence.
 */
const HEARTBEAT_MS = 15_000;

/**
 * Formats an event for `sendEventStream`. Its data is always one line, because JSON.stringify writes
 * no line breaks. `id` is what a client sends as Last-Event-ID when it connects again.
 */
export function eventFrame(name: string, data: unknown, id?: number | string): string {
  const numbered = id === undefined ? '' : `id: ${id}\n`;
  return `${numbered}event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** First frame of a stream: asks a client that loses the stream to connect again after 3 s. */
export const RECONNECT = 'retry: 3000\n\n';

type StreamParts = Pick<HttpDeps, 'stopping' | 'limits' | 'logger' | 'heartbeatMs'>;

/**
 * Answers with server-sent events (WHATWG HTML 9.2): sends the frames from `open` until they end,
 * the client disconnects or the server stops. Frames are written directly to the socket, because
 * thousands of streams may be open. The stream begins only after the call has been audited (see
 * `problems`): a call that cannot be audited must send nothing.
 * @throws SonogateError `rate_limited` when the key has too many open streams.
 */
export function sendEventStream(
  context: Context & { state: HttpState },
  { stopping, limits, logger, heartbeatMs = HEARTBEAT_MS }: StreamParts,
  open: (signal: AbortSignal) => AsyncIterable<string>,
): void {
  const { res } = context;
  context.status = 200;
  context.set('Content-Type', 'text/event-stream; charset=utf-8');
  context.set('X-Accel-Buffering', 'no');
  // Node.js sends nothing of a response to HEAD before its end, which may be hours away.
  if (context.method === 'HEAD') return;
  // If the client disconnected while its key was checked, `close` has already been emitted, and
  // nothing would ever end the stream.
  if (res.closed) return;
  const release = limits.openStream(context.state.principal.keyId);
  const gone = new AbortController();
  const stop = () => gone.abort();
  stopping.addEventListener('abort', stop);
  if (stopping.aborted) stop();
  let heartbeat: NodeJS.Timeout | undefined;
  res.once('close', () => {
    clearInterval(heartbeat);
    stopping.removeEventListener('abort', stop);
    gone.abort();
    release();
  });
  context.state.beginStream = () => {
    if (res.closed) return;
    context.respond = false;
    heartbeat = setInterval(() => {
      if (!res.writableNeedDrain && !res.writableEnded) res.write(': hb\n\n');
    }, heartbeatMs);
    void send(res, open(gone.signal), gone.signal).catch((error: unknown) => {
      logger.event('stream_cut_short', { request_id: context.state.requestId, err: error });
      res.destroy();
    });
  };
}

/**
 * Reads the next frame only when the client is ready for it, so that a slow client costs the memory
 * of one frame rather than of the whole log.
 */
async function send(
  res: ServerResponse,
  frames: AsyncIterable<string>,
  gone: AbortSignal,
): Promise<void> {
  for await (const frame of frames) {
    if (res.write(frame)) continue;
    await once(res, 'drain', { signal: gone }).catch(() => {});
    if (gone.aborted) break;
  }
  res.end();
}
