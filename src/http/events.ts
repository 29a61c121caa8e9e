import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { Router } from '@koa/router';
import type { StoredEvent } from '../requests/events.ts';
import { FINAL_STATUS } from '../requests/port.ts';
import { requireScope } from './authentication.ts';
import { baseUrl, type HttpDeps, type HttpState } from './deps.ts';
import { ownRequest } from './requests.ts';

/** Proxies cut connections that are silent for 30 to 60 s. */
const HEARTBEAT_MS = 15_000;
const RECONNECT_MS = 3000;

/** `GET /v1/requests/{id}/events`: server-sent events (WHATWG HTML 9.2). */
export function addEventRoutes(router: Router<HttpState>, deps: HttpDeps): void {
  const { core, config, stopping, heartbeatMs = HEARTBEAT_MS } = deps;

  router.get('/v1/requests/:id/events', requireScope(deps, 'read'), async (context) => {
    const row = await ownRequest(core, context.params.id, context.state);
    const after = lastEventId(context.get('Last-Event-ID') || context.query.last_event_id);
    const address = baseUrl(context, config);
    if (FINAL_STATUS.has(row.status)) {
      const left = await core.events.list(row.id, after, address);
      if (left.length === 0) {
        // 204 tells an EventSource to stop reconnecting.
        context.status = 204;
        return;
      }
    }
    const gone = new AbortController();
    context.res.once('close', () => gone.abort());
    const signal = AbortSignal.any([gone.signal, stopping]);
    const events = core.events.follow(row.id, after, address, signal);
    context.set('Content-Type', 'text/event-stream; charset=utf-8');
    context.set('X-Accel-Buffering', 'no');
    // Nothing is taken from the log before the client has room for it, so that a slow client costs
    // one frame of memory, not the stream.
    context.body = Readable.from(frames(events, heartbeatMs), { highWaterMark: 1 });
  });
}

/** A number we gave out; anything else means from the beginning. */
function lastEventId(text: string | string[] | undefined): number {
  return typeof text === 'string' && /^\d{1,15}$/.test(text) ? Number(text) : 0;
}

/** The events as text, with a comment whenever none came for `heartbeatMs`; ends after `done`. */
async function* frames(
  events: AsyncIterable<StoredEvent>,
  heartbeatMs: number,
): AsyncGenerator<string> {
  yield `retry: ${RECONNECT_MS}\n\n`;
  const log = events[Symbol.asyncIterator]();
  try {
    let next = log.next();
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
      yield frame(taken.value);
      if (taken.value.name === 'done') return;
      next = log.next();
    }
  } finally {
    await log.return?.();
  }
}

/** JSON holds no line break of its own, so that the data is always one line. */
function frame({ seq, name, data }: StoredEvent): string {
  return `id: ${seq}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
