import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Queryable } from '../database/port.ts';
import type { Deliverer } from '../outbox/port.ts';
import type { RequestSource } from '../requests/port.ts';
import { deliveryContext } from './delivery-spans.ts';
import { formatTraceparent } from './trace-context.ts';

/** Told of every call of undici, which `fetch` and the outbound client are made of. */
const CALL_CREATED = 'undici:request:create';

interface CreatedCall {
  request: { addHeader(name: string, value: string): void };
}

/**
 * Gives the HTTP calls of a delivery the traceparent of its span, so that what the EHR or the client
 * of a webhook traces joins the trace of the study.
 */
export function traceOutgoingCalls(
  database: Queryable,
  ratio: number,
): { traced(deliverer: Deliverer): Deliverer; stop(): void } {
  const current = new AsyncLocalStorage<string>();
  const onCall = (message: unknown) => {
    const traceparent = current.getStore();
    if (traceparent) (message as CreatedCall).request.addHeader('traceparent', traceparent);
  };
  subscribe(CALL_CREATED, onCall);

  const traceparentOf = async (id: string, request: string): Promise<string | null> => {
    const { rows } = await database.query<{ source: RequestSource }>(
      'SELECT source FROM requests WHERE id = $1',
      [request],
    );
    const source = rows[0]?.source;
    return source ? formatTraceparent(deliveryContext({ id, request, source }, ratio)) : null;
  };

  return {
    traced: (deliverer) => ({
      ...deliverer,
      async send(delivery, signal) {
        const traceparent = await traceparentOf(delivery.id, delivery.requestId);
        if (traceparent === null) return deliverer.send(delivery, signal);
        return current.run(traceparent, () => deliverer.send(delivery, signal));
      },
    }),
    stop: () => unsubscribe(CALL_CREATED, onCall),
  };
}
