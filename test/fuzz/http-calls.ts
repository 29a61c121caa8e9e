import fc from 'fast-check';
import { z } from 'zod';
import { obstetricEndpoint } from '../../pipelines/obstetric/endpoint.ts';
import { OPERATIONS } from '../../src/doors/http/openapi/operations.ts';
import { submitBody } from '../../src/doors/http/submission.ts';
import { HOSTILE_TEXT, type JsonSchema, valuesOf } from '../src/doors/http/schema-arbitrary.ts';
import { mutated } from './mutate.ts';

export interface Call {
  /** The operation in the API description from which the request was generated. */
  operation: string;
  /**
   * `GET /v1/…`, with `KEY`, `FILE` and `REQUEST` as placeholders for values that only a running
   * gateway has.
   */
  head: string;
  body: Buffer;
  pieceBytes: number;
  /** The client disconnects after this many bytes. */
  cutAt: number | null;
}

const seed = fc.nat(2 ** 31);
const seldom = <T>(value: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 15, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: value });
const strange = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom('%00', 'null', '-1', '1e309', ...HOSTILE_TEXT),
  fc.integer().map(String),
  fc.nat(20).map((n) => 'a'.repeat(2 ** n % 20_000)),
);
const KNOWN = ['FILE', 'REQUEST', 'us', 'obstetric', 'interpret', 'result.json', '1'];
const known = fc.constantFrom(...KNOWN);

const inPath = fc.oneof(
  { weight: 12, arbitrary: known },
  { weight: 6, arbitrary: strange.map((text) => encodeURIComponent(text.toWellFormed())) },
  { weight: 1, arbitrary: strange.map((text) => text.replace(/[\r\n]/g, '')) },
);

/**
 * Mostly characters that a header may contain (RFC 9110 5.5), because the parser rejects all
 * others.
 */
const inHeader = fc.oneof(
  { weight: 60, arbitrary: strange.map((value) => value.replace(/[^\x20-\x7e\xa0-\xff]/g, '~')) },
  { weight: 1, arbitrary: strange },
);

const text = (value: unknown) => Buffer.from(JSON.stringify(value) ?? '');

function bodyOf(schema: z.ZodType | undefined): fc.Arbitrary<Buffer> {
  const json: fc.Arbitrary<unknown> = schema
    ? valuesOf(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as JsonSchema, KNOWN)
    : fc.jsonValue();
  const whole = json.map(text);
  return fc.oneof(
    { weight: 6, arbitrary: whole },
    {
      weight: 2,
      arbitrary: fc.tuple(whole, seed).map(([bytes, from]) => mutated(bytes, bytes, from)),
    },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 500 }).map((bytes) => Buffer.from(bytes)) },
    { weight: 1, arbitrary: fc.nat(12).map((n) => Buffer.from('['.repeat(2 ** n))) },
    { weight: 1, arbitrary: fc.nat(16).map((n) => Buffer.alloc(2 ** n, 'a')) },
    {
      weight: 1,
      arbitrary: fc.constant(Buffer.from('{"__proto__":{"a":1},"input":{"constructor":1}}')),
    },
    { weight: 1, arbitrary: fc.constant(Buffer.alloc(0)) },
  );
}

const HEADERS: Readonly<Record<string, fc.Arbitrary<string>>> = {
  Authorization: fc.oneof(
    { weight: 8, arbitrary: fc.constant('Bearer KEY') },
    { weight: 1, arbitrary: fc.constant('Key KEY') },
    { weight: 1, arbitrary: inHeader },
  ),
  'Content-Type': fc.oneof(
    { weight: 8, arbitrary: fc.constant('application/json') },
    fc.constantFrom('application/dicom', 'text/plain', 'multipart/form-data; boundary=a', ''),
    inHeader,
  ),
  'Idempotency-Key': fc.oneof(fc.nat(5).map(String), inHeader),
  Range: fc.oneof(fc.constantFrom('bytes=0-1', 'bytes=9-1', 'bytes=-0', 'bytes=0-,5-'), inHeader),
  'Last-Event-ID': fc.oneof(fc.nat(5).map(String), inHeader),
  Accept: fc.oneof(fc.constantFrom('application/json', 'text/event-stream', '*/*'), inHeader),
  'If-None-Match': inHeader,
  'Accept-Encoding': fc.constantFrom('gzip', 'br;q=0', '*'),
};
const headers = fc
  .record(HEADERS, { requiredKeys: ['Authorization', 'Content-Type'] })
  .chain((some) =>
    seldom(fc.constantFrom('100-continue', 'the-moon')).map((expect) => ({
      ...some,
      ...(expect !== null && { Expect: expect }),
    })),
  );

/**
 * How a request declares the length of its body: correctly, in chunks, wrongly, in two ways at
 * once, or not at all.
 */
const framing = fc.oneof(
  { weight: 8, arbitrary: fc.constant('length') },
  { weight: 2, arbitrary: fc.constant('chunked') },
  { weight: 1, arbitrary: fc.constantFrom('longer', 'shorter', 'both', 'none') },
);

function framed(body: Buffer, way: string): { lines: string[]; bytes: Buffer } {
  const length = (bytes: number) => `Content-Length: ${bytes}`;
  const chunks = Buffer.concat([
    Buffer.from(`${body.length.toString(16)}\r\n`),
    body,
    Buffer.from('\r\n0\r\n\r\n'),
  ]);
  switch (way) {
    case 'chunked':
      return {
        lines: ['Transfer-Encoding: chunked'],
        bytes: body.length > 0 ? chunks : Buffer.from('0\r\n\r\n'),
      };
    case 'both':
      return { lines: ['Transfer-Encoding: chunked', length(body.length)], bytes: chunks };
    case 'longer':
      return { lines: [length(body.length + 7)], bytes: body };
    case 'shorter':
      return { lines: [length(Math.max(0, body.length - 7))], bytes: body };
    case 'none':
      return { lines: [], bytes: body };
    default:
      return { lines: [length(body.length)], bytes: body };
  }
}

/**
 * Operations that are missing from the API description: both submits, health, metrics and pages.
 */
const SUBMIT = {
  id: 'submit',
  method: 'post',
  path: '/v1/run/{ns}/{model}',
  body: submitBody(obstetricEndpoint),
};
const MORE = [
  SUBMIT,
  { ...SUBMIT, path: '/v1/run/{ns}/{model}/{endpoint}' },
  { ...SUBMIT, id: 'queueSubmit', path: '/queue/{ns}/{model}' },
  ...[
    '/health/live',
    '/health/ready',
    '/metrics',
    '/docs',
    '/v1/openapi.json',
    '/errors/{code}',
  ].map((path) => ({ id: path, method: 'get', path, body: undefined })),
];

interface Described {
  id: string;
  method: string;
  path: string;
  query?: z.ZodObject;
  uncheckedQuery?: z.ZodObject;
  body?: z.ZodType | undefined;
}

function callsOf({
  id,
  method,
  path,
  query,
  uncheckedQuery = query,
  body,
}: Described): fc.Arbitrary<Call> {
  const places = [...path.matchAll(/\{(\w+)\}/g)];
  const names = [...Object.keys(uncheckedQuery?.shape ?? {}), 'limit', 'cursor', 'a'];
  return fc
    .record({
      values: fc.array(inPath, { minLength: places.length, maxLength: places.length }),
      query: fc.array(fc.tuple(fc.constantFrom(...names), strange), { maxLength: 4 }),
      verb: fc.oneof(
        { weight: 9, arbitrary: fc.constant(method.toUpperCase()) },
        fc.constantFrom('HEAD', 'OPTIONS', 'PATCH', 'DELETE', 'PUT', 'TRACE', 'BREW'),
      ),
      headers,
      body: bodyOf(body),
      framing,
      pieceBytes: fc.oneof(fc.integer({ min: 1, max: 20 }), fc.constant(65_536)),
      cut: seldom(fc.nat(2000)),
      damage: seldom(seed),
    })
    .map((made) => {
      const values = [...made.values];
      const address = path.replace(/\{\w+\}/g, () => values.shift() ?? '');
      const search = made.query.map(
        ([name, value]) => `${name}=${encodeURIComponent(value.toWellFormed())}`,
      );
      const bodyless = method === 'get' && made.verb !== 'PUT';
      const { lines, bytes } = bodyless
        ? { lines: [], bytes: Buffer.alloc(0) }
        : framed(made.body, made.framing);
      const head = [
        `${made.verb} ${address}${search.length > 0 ? `?${search.join('&')}` : ''} HTTP/1.1`,
        'Host: localhost',
        'Connection: close',
        ...Object.entries(made.headers).map(([name, value]) => `${name}: ${value}`),
        ...lines,
      ].join('\r\n');
      const damaged =
        made.damage === null
          ? head
          : mutated(Buffer.from(head, 'latin1'), Buffer.from(head, 'latin1'), made.damage).toString(
              'latin1',
            );
      return {
        operation: id,
        head: damaged,
        body: bytes,
        pieceBytes: made.pieceBytes,
        cutAt: made.cut,
      };
    });
}

/** Generates requests to every operation: correct, nearly correct and broken. */
export const call: fc.Arbitrary<Call> = fc.oneof(...[...OPERATIONS, ...MORE].map(callsOf));
