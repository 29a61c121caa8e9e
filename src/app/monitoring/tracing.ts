import { AsyncLocalStorage } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Tracing } from '../../../config/schema.ts';
import type { Deliverer } from '../../core/outbox/delivery.ts';
import type { RequestSource } from '../../core/requests/request.ts';
import type { Queryable } from '../../platform/database/port.ts';
import type { Logger, OnEvent } from '../../platform/logging/logger.ts';
import { startRounds } from '../../platform/rounds.ts';
import type { Span } from '../../platform/tracing/otlp.ts';
import { formatTraceparent } from '../../platform/tracing/trace-context.ts';
import {
  associationSpans,
  claimSpans,
  deliveryContext,
  followEndedSpans,
  forgetClaims,
} from './spans.ts';

/**
 * Diagnostics channel that reports every undici request, including those of `fetch` and the
 * outbound client.
 */
const CALL_CREATED = 'undici:request:create';

interface CreatedCall {
  request: { addHeader(name: string, value: string): void };
}

/**
 * Adds a `traceparent` header with the delivery's span to its HTTP requests, so that traces
 * recorded by the EHR or by a webhook's receiver join the trace of the study.
 */
function traceOutgoingCalls(
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
        const { id, requestId } = delivery;
        const traceparent = requestId === null ? null : await traceparentOf(id, requestId);
        if (traceparent === null) return deliverer.send(delivery, signal);
        return current.run(traceparent, () => deliverer.send(delivery, signal));
      },
    }),
    stop: () => unsubscribe(CALL_CREATED, onCall),
  };
}

const ROUND_MILLISECONDS = 2000;
const ROUNDS_BETWEEN_CLEANING = 1800;
/** Maximum number of spans per post, and of spans kept while the collector is unreachable. */
const BATCH = 512;
const MOST_WAITING = 8192;

export interface RunningTracing {
  /** Receives the log events of this process. */
  onEvent: OnEvent;
  /** Wraps a deliverer so that its HTTP requests carry the trace context. */
  traced(deliverer: Deliverer): Deliverer;
  /** Exports the remaining spans in one last attempt. */
  stop(): Promise<void>;
}

/** Used when tracing is not configured: nothing is loaded, read or changed. */
export const NO_TRACING: RunningTracing = {
  onEvent: () => {},
  traced: (deliverer) => deliverer,
  stop: async () => {},
};

/**
 * Starts tracing: one trace for each study revision and each client request, from the association
 * to the destinations' responses. When a request or delivery has ended, its spans are built from
 * the database rows, and their ids are derived from the ids in the rows. The spans are therefore
 * complete even if a process died, and they do not slow down the work.
 */
export async function startTracing(
  settings: Tracing | undefined,
  { database, logger }: { database: Queryable; logger: Logger },
): Promise<RunningTracing> {
  if (!settings) return NO_TRACING;
  const { openSpanExporter } = await import('../../platform/tracing/otlp.ts');
  const exporter = await openSpanExporter(settings);
  const { sampleRatio } = settings;
  const waiting: Span[] = [];
  const follow = followEndedSpans(database, sampleRatio);
  const outgoing = traceOutgoingCalls(database, sampleRatio);
  let rounds = 0;

  const exportWaiting = async () => {
    waiting.push(...(await claimSpans(database, await follow())));
    while (waiting.length > 0) {
      await exporter.export(waiting.slice(0, BATCH));
      waiting.splice(0, BATCH);
    }
  };
  await follow()
    .then((spans) => claimSpans(database, spans))
    .then((spans) => waiting.push(...spans));
  const exporting = startRounds({
    async work() {
      if (rounds % ROUNDS_BETWEEN_CLEANING === 0) await forgetClaims(database);
      rounds += 1;
      await exportWaiting();
    },
    pauseMilliseconds: ROUND_MILLISECONDS,
    onceMoreAtStop: true,
    onError(error) {
      waiting.splice(0, Math.max(0, waiting.length - MOST_WAITING));
      logger.event('traces_not_exported', { error: String(error), waiting: waiting.length });
    },
  });

  return {
    onEvent: associationSpans(sampleRatio, (span) => waiting.push(span)),
    traced: outgoing.traced,
    async stop() {
      await exporting.stop();
      outgoing.stop();
      await exporter.close();
    },
  };
}
