import { createHash } from 'node:crypto';

/** Position of a span in a trace (W3C Trace Context, 2021). */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  traceId: string;
  /** 16 hexadecimal digits. */
  spanId: string;
  sampled: boolean;
}

/** The origin of a request: a study, or a caller who may have sent a position in a trace. */
type TraceSource =
  | { kind: 'dicom'; study: string; revision: number }
  | { kind: 'api' | 'queue'; traceparent?: string };

/** Form of a traceparent: version 00; ids of only zeros are invalid (W3C Trace Context 3.2). */
const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/;
const SAMPLED = 1;

/** Parses a `traceparent` header; null when it is not valid. */
export function parseTraceparent(text: string): TraceContext | null {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(text) ?? [];
  if (!traceId || !spanId || !flags) return null;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED };
}

export function formatTraceparent({ traceId, spanId, sampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${sampled ? '01' : '00'}`;
}

/** Returns the span id of an object with one of our ids. Every process computes the same id. */
export function spanIdOf(kind: string, id: string): string {
  return digest(`${kind} ${id}`).slice(0, 16);
}

/** Returns the trace of a revision of a study: every process of a site computes the same one. */
export function traceOfStudy(study: string, revision: number, ratio: number): TraceContext {
  const id = `${study} ${revision}`;
  const traceId = digest(`trace ${id}`).slice(0, 32);
  return { traceId, spanId: spanIdOf('study', id), sampled: isSampled(traceId, ratio) };
}

/**
 * Returns the trace of a request and its root span: the trace of its study, of the caller who sent
 * a traceparent, or a new one.
 */
export function traceOfRequest(id: string, source: TraceSource, ratio: number): TraceContext {
  if (source.kind === 'dicom') return traceOfStudy(source.study, source.revision, ratio);
  const caller = source.traceparent ? parseTraceparent(source.traceparent) : null;
  const spanId = spanIdOf('request', id);
  if (caller) return { ...caller, spanId };
  const traceId = digest(`trace ${id}`).slice(0, 32);
  return { traceId, spanId, sampled: isSampled(traceId, ratio) };
}

/** Returns the span id of the caller, if any; the root of the request is its child. */
export function callerOf(source: TraceSource): string | null {
  if (source.kind === 'dicom' || !source.traceparent) return null;
  return parseTraceparent(source.traceparent)?.spanId ?? null;
}

/** Whether a trace is sampled. The trace id decides, so that all processes decide the same. */
function isSampled(traceId: string, ratio: number): boolean {
  return Number.parseInt(traceId.slice(-8), 16) < ratio * 2 ** 32;
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
