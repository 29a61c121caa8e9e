import type { RequestSource } from '../requests/port.ts';
import type { Span } from './span.ts';
import { stepSpan } from './study-spans.ts';
import { spanIdOf, type TraceContext, traceOfRequest } from './trace-context.ts';

/** What the tables tell of a delivery that has ended. Times are Unix seconds. */
export interface EndedDelivery {
  id: string;
  /** Null: a received object that is sent on; `source` is its study then. */
  request: string | null;
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
  return { ...traceOfRequest(request ?? id, source, ratio), spanId: spanIdOf('delivery', id) };
}

/** From the row of a delivery to the peer's answer, or to the last attempt; null: not traced. */
export function deliverySpan(delivery: EndedDelivery, ratio: number): Span | null {
  const { id, request, source, kind, created, ended } = delivery;
  const root = traceOfRequest(request ?? id, source, ratio);
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

/** A PACS has answered whether it commits to keep an object that it took. */
export interface AnsweredCommitment extends Pick<EndedDelivery, 'request' | 'source'> {
  id: string;
  delivery: string;
  destination: string;
  committed: boolean;
  asked: number;
  ended: number;
}

/** From the request for commitment to the report of the PACS; null: not traced. */
export function commitmentSpan(answered: AnsweredCommitment, ratio: number): Span | null {
  const { id, delivery, request, source, destination, committed, asked, ended } = answered;
  const parent = deliveryContext({ id: delivery, request, source }, ratio);
  if (!parent.sampled) return null;
  return stepSpan(parent, id, 'commitment', [asked, ended], {
    kind: 'client',
    attributes: { 'sonogate.delivery': delivery, 'sonogate.destination': destination },
    error: committed ? null : 'commitment_refused',
  });
}
