import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A span in an OTLP/HTTP JSON body (opentelemetry-proto, trace/v1). */
export interface OtlpSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: { key: string; value: { stringValue?: string; intValue?: number } }[];
  status: { code?: number; message?: string };
}

interface OtlpBody {
  resourceSpans: {
    resource: { attributes: OtlpSpan['attributes'] };
    scopeSpans: { spans: OtlpSpan[] }[];
  }[];
}

export interface Collector {
  endpoint: string;
  spans: OtlpSpan[];
  /** Headers of the last request. */
  headers: Record<string, unknown>;
  /** Response status, initially 200. */
  status: number;
  close(): Promise<void>;
}

/** Starts a small OTLP/HTTP receiver that keeps everything posted to /v1/traces. */
export async function startCollector(): Promise<Collector> {
  const server = createServer(async (request, response) => {
    const body = await text(request);
    collector.headers = request.headers;
    if (request.url !== '/v1/traces' || request.method !== 'POST') response.writeHead(404);
    else if (collector.status !== 200) response.writeHead(collector.status);
    else {
      const { resourceSpans } = JSON.parse(body) as OtlpBody;
      for (const { scopeSpans } of resourceSpans) {
        for (const { spans } of scopeSpans) collector.spans.push(...spans);
      }
      response.writeHead(200, { 'content-type': 'application/json' });
    }
    response.end('{}');
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const collector: Collector = {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/traces`,
    spans: [],
    headers: {},
    status: 200,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
  return collector;
}

export function attribute({ attributes }: OtlpSpan, key: string): string | number | undefined {
  const value = attributes.find((each) => each.key === key)?.value;
  return value?.stringValue ?? value?.intValue;
}
