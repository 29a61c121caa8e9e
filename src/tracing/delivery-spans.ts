import type { RequestSource } from '../requests/port.ts';
import type { Span } from './span.ts';
import { spanIdOf, type TraceContext, traceOfRequest } from './trace-context.ts';

/** What the tables tell of a delivery that has ended. Times are Unix seconds. */
export interface EndedDelivery {
  id: string;
  request: string;
  source: RequestSource;
  kind: string;
  destination: string;
  object: string;
  state: string;
  code: string | null;
  attempts: number;
  created: number;
  ended: number;
}

/** Where the outgoing calls of a delivery stand in the trace of its request. */
export function deliveryContext(
  { id, request, source }: Pick<EndedDelivery, 'id' | 'request' | 'source'>,
  ratio: number,
): TraceContext {
  return { ...traceOfRequest(request, source, ratio), spanId: spanIdOf('delivery', id) };
}

/** From the row of a delivery to the peer's answer, or to the last attempt; null: not traced. */
export function deliverySpan(delivery: EndedDelivery, ratio: number): Span | null {
  const { request, source, kind, created, ended } = delivery;
  const root = traceOfRequest(request, source, ratio);
  if (!root.sampled) return null;
  return {
    ...deliveryContext(delivery, ratio),
    parentSpanId: root.spanId,
    name: `delivery ${kind}`,
    kind: 'client',
    start: created,
    end: Math.max(created, ended),
    attributes: {
      'sonogate.delivery': delivery.id,
      'sonogate.destination': delivery.destination,
      'sonogate.object': delivery.object,
      'sonogate.state': delivery.state,
      'sonogate.attempts': delivery.attempts,
    },
    error: delivery.state === 'delivered' ? null : (delivery.code ?? delivery.state),
  };
}
