import { hash } from 'node:crypto';

/** Position of a span in a trace (W3C Trace Context, 2021). */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  traceId: string;
  /** 16 hexadecimal digits. */
  spanId: string;
  sampled: boolean;
}

/** The origin of a request: a study, or a caller who may have sent a trace context. */
type TraceSource =
  | { kind: 'dicom'; study: string; revision: number }
  | { kind: 'api' | 'queue'; traceparent?: string };

/** Format of a traceparent: version 00; all-zero ids are invalid (W3C Trace Context 3.2). */
const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/;
const SAMPLED = 1;

/** Parses a `traceparent` header; null if it is invalid. */
export function parseTraceparent(text: string): TraceContext | null {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(text) ?? [];
  if (!traceId || !spanId || !flags) return null;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED };
}

export function formatTraceparent({ traceId, spanId, sampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`;
}

/** Returns the span id of an object with one of our ids. Every process computes the same one. */
export function spanIdOf(kind: string, id: string): string {
  return hash('sha256', `${kind} ${id}`).slice(0, 16);
}

/**
 * Returns the trace of a study revision. Every process of an installation computes the same one.
 */
export function traceOfStudy(study: string, revision: number, ratio: number): TraceContext {
  const id = `${study} ${revision}`;
  const traceId = hash('sha256', `trace ${id}`).slice(0, 32);
  return { traceId, spanId: spanIdOf('study', id), sampled: isSampled(traceId, ratio) };
}

/**
 * Returns the trace of a request and its root span. The trace is that of the request's study or, if
 * the caller sent a traceparent, the caller's; otherwise it is a new one.
 */
export function traceOfRequest(id: string, source: TraceSource, ratio: number): TraceContext {
  if (source.kind === 'dicom') return traceOfStudy(source.study, source.revision, ratio);
  const caller = source.traceparent ? parseTraceparent(source.traceparent) : null;
  const spanId = spanIdOf('request', id);
  if (caller) return { ...caller, spanId };
  const traceId = hash('sha256', `trace ${id}`).slice(0, 32);
  return { traceId, spanId, sampled: isSampled(traceId, ratio) };
}

/**
 * Returns the span id that the caller sent; null if there is none. The request's root span is a
 * child of that span.
 */
export function callerOf(source: TraceSource): string | null {
  if (source.kind === 'dicom' || !source.traceparent) return null;
  return parseTraceparent(source.traceparent)?.spanId ?? null;
}

/**
 * Returns true if a trace is sampled. This depends on the trace id, so that all processes agree.
 */
function isSampled(traceId: string, ratio: number): boolean {
  return Number.parseInt(traceId.slice(-8), 16) < ratio * 2 ** 32;
}
