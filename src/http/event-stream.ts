import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { Context } from 'koa';
import type { HttpDeps, HttpState } from './deps.ts';

/** Proxies cut connections that are silent for 30 to 60 s. */
const HEARTBEAT_MS = 15_000;

type StreamParts = Pick<HttpDeps, 'stopping' | 'limits' | 'heartbeatMs'>;

/**
 * Answers with server-sent events (WHATWG HTML 9.2): the frames that `open` yields until they end,
 * the client leaves or the server stops.
 * @throws SonogateError `rate_limited` when the key holds too many.
 */
export function sendEventStream(
  context: Context & { state: HttpState },
  { stopping, limits, heartbeatMs = HEARTBEAT_MS }: StreamParts,
  open: (signal: AbortSignal) => AsyncIterable<string>,
): void {
  const release = limits.openStream(context.state.principal.keyId);
  const gone = new AbortController();
  context.res.once('close', () => {
    gone.abort();
    release();
  });
  const frames = open(AbortSignal.any([gone.signal, stopping]));
  context.set('Content-Type', 'text/event-stream; charset=utf-8');
  context.set('X-Accel-Buffering', 'no');
  // Nothing is taken from the log before the client has room for it, so that a slow client costs
  // one frame of memory, not the stream.
  context.body = Readable.from(withHeartbeat(frames, heartbeatMs), { highWaterMark: 1 });
}

/** The frames, with a comment whenever none came for `heartbeatMs`. */
async function* withHeartbeat(
  frames: AsyncIterable<string>,
  heartbeatMs: number,
): AsyncGenerator<string> {
  const source = frames[Symbol.asyncIterator]();
  try {
    let next = source.next();
    for (;;) {
      const timer = new AbortController();
      const quiet = delay(heartbeatMs, null, { signal: timer.signal }).catch(() => null);
      const taken = await Promise.race([next, quiet]);
      timer.abort();
      if (taken === null) {
        yield ': hb\n\n';
        continue;
      }
      if (taken.done) return;
      yield taken.value;
      next = source.next();
    }
  } finally {
    await source.return?.();
  }
}
