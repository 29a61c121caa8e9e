import { z } from 'zod';

/** Traces of the road of a study, sent to an OpenTelemetry collector (OTLP over HTTP). */
export const tracingSchema = z.strictObject({
  /** Where traces are posted: http://collector.example:4318/v1/traces. */
  endpoint: z.url({ protocol: /^https?$/ }),
  /** A file with one `name: value` header a line, such as an authorization. */
  headersFile: z.string().optional(),
  serviceName: z.string().min(1).default('sonogate'),
  /** Share of roads that are traced; a caller that sends a traceparent decides for itself. */
  sampleRatio: z.number().min(0).max(1).default(1),
});

export type Tracing = z.infer<typeof tracingSchema>;
