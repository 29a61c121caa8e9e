/** One step on the road of a study, as it is exported. Attributes hold ids of ours, no identity. */
export interface Span {
  traceId: string;
  spanId: string;
  /** Null for the root of a trace. */
  parentSpanId: string | null;
  name: string;
  kind: 'internal' | 'server' | 'client';
  /** Unix time in seconds. */
  start: number;
  end: number;
  attributes: Record<string, string | number>;
  /** Code of the error that it ended with; null: it did not. */
  error: string | null;
}
