import type { Router } from '@koa/router';
import type { StoredEvent } from '../requests/events.ts';
import { FINAL_STATUS } from '../requests/port.ts';
import { audited } from './audited.ts';
import { requireScope } from './authentication.ts';
import { baseUrl, type HttpDeps, type HttpState } from './deps.ts';
import { sendEventStream } from './event-stream.ts';
import { ownRequest } from './requests.ts';

const RECONNECT_MS = 3000;

/** `GET /v1/requests/{id}/events`: server-sent events (WHATWG HTML 9.2). */
export function addEventRoutes(router: Router<HttpState>, deps: HttpDeps): void {
  const { core, config } = deps;

  const read = requireScope(deps, 'read');
  router.get('/v1/requests/:id/events', read, audited(deps, 'request.follow'), async (context) => {
    const row = await ownRequest(core, context.params.id, context.state);
    const asked = lastEventId(context.get('Last-Event-ID') || context.query.last_event_id);
    const after = asked > row.last_seq ? 0 : asked;
    const address = baseUrl(context, config);
    if (FINAL_STATUS.has(row.status)) {
      const left = await core.events.list(row.id, after, address);
      if (left.length === 0) {
        // 204 tells an EventSource to stop reconnecting.
        context.status = 204;
        return;
      }
    }
    sendEventStream(context, deps, (signal) =>
      frames(core.events.follow(row.id, after, address, signal)),
    );
  });
}

/**
 * The number of an event; anything else means from the beginning, and so does a number that the log has
 * not reached (interop 5.7): its client must not miss the terminal event.
 */
function lastEventId(text: string | string[] | undefined): number {
  return typeof text === 'string' && /^\d{1,15}$/.test(text) ? Number(text) : 0;
}

async function* frames(events: AsyncIterable<StoredEvent>): AsyncGenerator<string> {
  yield `retry: ${RECONNECT_MS}\n\n`;
  for await (const event of events) yield frame(event);
}

/** JSON holds no line break of its own, so that the data is always one line. */
function frame({ seq, name, data }: StoredEvent): string {
  return `id: ${seq}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
}
