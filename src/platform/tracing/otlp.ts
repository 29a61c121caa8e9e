import { readFile } from 'node:fs/promises';
import { type HrTime, SpanKind, SpanStatusCode, TraceFlags } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import type { Tracing } from '../../../config/schema.ts';
import { VERSION } from '../version.ts';

/**
 * One step in processing a study, in export format. Attributes contain our own ids, but no patient
 * identity.
 */
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
  /** Error code; null if the step succeeded. */
  error: string | null;
}

const KIND = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
} as const;

const PATIENCE_MILLISECONDS = 10_000;

interface SpanExporter {
  /**
   * Exports spans.
   * @throws Error if the collector did not accept them.
   */
  export(spans: readonly Span[]): Promise<void>;
  close(): Promise<void>;
}

/** Opens an exporter that posts spans to an OpenTelemetry collector (OTLP over HTTP, JSON). */
export async function openSpanExporter({
  endpoint,
  headersFile,
  serviceName,
}: Tracing): Promise<SpanExporter> {
  const headers = headersFile ? headersOf(await readFile(headersFile, 'utf8')) : {};
  const exporter = new OTLPTraceExporter({
    url: endpoint,
    headers,
    timeoutMillis: PATIENCE_MILLISECONDS,
  });
  const resource = resourceFromAttributes({
    'service.name': serviceName,
    'service.version': VERSION,
  });
  return {
    export: (spans) =>
      new Promise((resolve, reject) => {
        exporter.export(
          spans.map((span) => ({ ...readable(span), resource })),
          ({ code, error }) =>
            code === 0 ? resolve() : reject(error ?? new Error('the collector refused the spans')),
        );
      }),
    close: () => exporter.shutdown(),
  };
}

/** Parses headers with one `name: value` on each line. */
function headersOf(text: string): Record<string, string> {
  const lines = text.split('\n').filter((line) => line.includes(':'));
  return Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
    }),
  );
}

function readable(span: Span): Omit<ReadableSpan, 'resource'> {
  const { traceId, parentSpanId } = span;
  const context = (spanId: string) => ({ traceId, spanId, traceFlags: TraceFlags.SAMPLED });
  return {
    name: span.name,
    kind: KIND[span.kind],
    spanContext: () => context(span.spanId),
    ...(parentSpanId !== null && { parentSpanContext: context(parentSpanId) }),
    startTime: hrTime(span.start),
    endTime: hrTime(span.end),
    duration: hrTime(span.end - span.start),
    status:
      span.error === null
        ? { code: SpanStatusCode.UNSET }
        : { code: SpanStatusCode.ERROR, message: span.error },
    attributes: span.attributes,
    links: [],
    events: [],
    ended: true,
    instrumentationScope: { name: 'sonogate', version: VERSION },
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

function hrTime(seconds: number): HrTime {
  const whole = Math.floor(seconds);
  return [whole, Math.round((seconds - whole) * 1e9)];
}
