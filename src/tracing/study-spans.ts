import type { Span } from './span.ts';
import { spanIdOf, type TraceContext, traceOfStudy } from './trace-context.ts';

/** What the tables tell of the reception of one revision of a study. Times are Unix seconds. */
export interface ReceivedStudy {
  objects: number;
  bytes: number;
  first: number;
  last: number;
  /** When the sign of completeness came, and which it was. */
  complete: number | null;
  because: string | null;
}

/** A span directly below the root of a trace, named and known by what it is a step of. */
export function stepSpan(
  { traceId, spanId: root }: TraceContext,
  id: string,
  name: string,
  [start, end]: readonly [number, number],
  over: Partial<Span> = {},
): Span {
  return {
    traceId,
    spanId: spanIdOf(name, id),
    parentSpanId: root,
    name,
    kind: 'internal',
    start,
    // Clocks of two machines stand behind some pairs.
    end: Math.max(start, end),
    attributes: {},
    error: null,
    ...over,
  };
}

/**
 * From the first object of a revision until its rules acted.
 * @param acted Unix seconds.
 * @param rule those that did, in words.
 */
export function receptionSpans(
  trace: TraceContext,
  id: string,
  { objects, bytes, first, last, complete, because }: ReceivedStudy,
  { acted, rule }: { acted: number; rule: string },
): Span[] {
  const counted = { 'sonogate.objects': objects, 'sonogate.bytes': bytes };
  const signed: Record<string, string> = because ? { 'sonogate.because': because } : {};
  const spans = [
    stepSpan(trace, id, 'intake', [first, last], { attributes: counted }),
    stepSpan(trace, id, 'completion', [last, complete ?? acted], { attributes: signed }),
  ];
  if (complete === null) return spans;
  const attributes = { 'sonogate.rule': rule };
  return [...spans, stepSpan(trace, id, 'routing', [complete, acted], { attributes })];
}

/** A revision on which rules acted that made no request. */
export interface RoutedStudy {
  id: string;
  study: string;
  revision: number;
  rules: string[];
  ended: number;
  received: ReceivedStudy;
}

/** The root of its trace and what was before it; deliveries of its objects join it. */
export function routedSpans(routed: RoutedStudy, ratio: number): Span[] {
  const { study, revision, rules, ended, received } = routed;
  const trace = traceOfStudy(study, revision, ratio);
  if (!trace.sampled) return [];
  const id = `${study} ${revision}`;
  const root = stepSpan(trace, id, 'study', [received.first, ended], {
    parentSpanId: null,
    kind: 'server',
    attributes: {
      'sonogate.door': 'dicom',
      'sonogate.study': study,
      'sonogate.revision': revision,
    },
  });
  return [root, ...receptionSpans(trace, id, received, { acted: ended, rule: rules.join(', ') })];
}
