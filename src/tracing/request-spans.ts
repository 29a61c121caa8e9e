import type { RequestSource } from '../requests/port.ts';
import type { Span } from './span.ts';
import { type ReceivedStudy, receptionSpans, stepSpan } from './study-spans.ts';
import { callerOf, spanIdOf, traceOfRequest } from './trace-context.ts';

/** What the tables tell of a request that has ended. Times are Unix seconds. */
export interface EndedRequest {
  id: string;
  source: RequestSource;
  endpoint: string;
  status: string;
  code: string | null;
  attempts: number;
  created: number;
  started: number | null;
  ended: number;
  stages: { name: string; at: number }[];
  /** Of its revision of the study; null where it came without one. */
  study: ReceivedStudy | null;
}

/** Stages before the pipeline: the spans `queue` and `routing` tell of them. */
const BEFORE_RUN = new Set(['received', 'queued_gpu']);

/** The road of a request from its first object, or its call, to its end; none when it is not traced. */
export function requestSpans(request: EndedRequest, ratio: number): Span[] {
  const { id, source, study, created, started, ended } = request;
  const trace = traceOfRequest(id, source, ratio);
  if (!trace.sampled) return [];
  const span = (name: string, time: readonly [number, number], over: Partial<Span> = {}): Span =>
    stepSpan(trace, id, name, time, over);
  const root = span(study ? 'study' : 'request', [study?.first ?? created, ended], {
    spanId: trace.spanId,
    parentSpanId: callerOf(source),
    kind: 'server',
    attributes: {
      'sonogate.request': id,
      'sonogate.endpoint': request.endpoint,
      'sonogate.status': request.status,
      'sonogate.door': source.kind,
      ...(source.kind === 'dicom' && {
        'sonogate.study': source.study,
        'sonogate.revision': source.revision,
      }),
    },
    error: request.status === 'succeeded' ? null : request.code,
  });
  const spans = [root];
  if (study) {
    const rule = source.kind === 'dicom' ? source.rule : '';
    spans.push(...receptionSpans(trace, id, study, { acted: created, rule }));
  }
  spans.push(span('submit', [created, created]), span('queue', [created, started ?? ended]));
  if (started === null) return spans;
  const run = span('run', [started, ended], {
    attributes: { 'sonogate.attempts': request.attempts },
    error: root.error,
  });
  return [...spans, run, ...stageSpans(request, run)];
}

function stageSpans({ id, stages, ended }: EndedRequest, run: Span): Span[] {
  return stages.flatMap(({ name, at }, index) => {
    if (BEFORE_RUN.has(name) || at >= ended) return [];
    return {
      ...run,
      spanId: spanIdOf(`stage ${index}`, id),
      parentSpanId: run.spanId,
      name: `stage ${name}`,
      start: at,
      end: Math.max(at, stages[index + 1]?.at ?? ended),
      attributes: { 'sonogate.stage': name },
      error: null,
    };
  });
}
