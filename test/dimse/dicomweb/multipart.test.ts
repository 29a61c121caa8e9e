import { Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bodyParts, dicomBoundary } from '../../../dimse/dicomweb/multipart.ts';

const BOUNDARY = 'b0undary';

interface Part {
  mediaType: string;
  bytes: Buffer;
}

/** Encodes a message as in RFC 2046 5.1.1. */
function message(parts: readonly Part[], { preamble = '', epilogue = '' } = {}): Buffer {
  return Buffer.concat([
    Buffer.from(preamble),
    ...parts.flatMap(({ mediaType, bytes }) => [
      Buffer.from(`\r\n--${BOUNDARY}\r\nContent-Type: ${mediaType}\r\n\r\n`),
      bytes,
    ]),
    Buffer.from(`\r\n--${BOUNDARY}--\r\n${epilogue}`),
  ]);
}

/** Returns a body that arrives in pieces, cut at `cuts`. */
function inPieces(body: Buffer, cuts: readonly number[]): Readable {
  const at = [...new Set([0, ...cuts.map((cut) => cut % (body.length + 1)), body.length])];
  at.sort((a, b) => a - b);
  return Readable.from(at.slice(1).map((end, n) => body.subarray(at[n], end)));
}

async function read(body: Readable): Promise<Part[]> {
  const parts: Part[] = [];
  for await (const { mediaType, bytes } of bodyParts(body, BOUNDARY)) {
    const chunks: Buffer[] = [];
    for await (const chunk of bytes) chunks.push(chunk);
    parts.push({ mediaType, bytes: Buffer.concat(chunks) });
  }
  return parts;
}

/** Bytes that resemble a boundary. */
const tricky = fc
  .array(
    fc.oneof(
      fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
      fc
        .constantFrom('\r', '\n', '\r\n', '--', '\r\n--', `\r\n--b0undar`, '\r\n\r\n')
        .map(Buffer.from),
    ),
    { minLength: 1, maxLength: 12 },
  )
  .map((pieces) => Buffer.concat(pieces))
  .filter((bytes) => bytes.length > 0 && !bytes.includes(`\r\n--${BOUNDARY}`));
const part = fc.record({
  mediaType: fc.constantFrom('application/dicom', 'text/plain'),
  bytes: tricky,
});
const cuts = fc.array(fc.nat(), { maxLength: 20 });

describe('a multipart message', () => {
  test('is read part by part, whatever it contains and however it is cut into pieces', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(part, { minLength: 1, maxLength: 5 }), cuts, async (parts, at) => {
        expect(await read(inPieces(message(parts), at))).toEqual(parts);
      }),
      { numRuns: 300 },
    );
  });

  test('that breaks off before its end is an error, never a shorter message', async () => {
    const whole = message([
      { mediaType: 'application/dicom', bytes: Buffer.from('first') },
      { mediaType: 'application/dicom', bytes: Buffer.from('second') },
    ]);
    const end = whole.length - '--\r\n'.length;
    for (let length = 0; length <= end; length += 1) {
      await expect(
        read(Readable.from([whole.subarray(0, length)])),
        `after ${length} bytes`,
      ).rejects.toMatchObject({ code: 'invalid_multipart' });
    }
  });

  test('made of arbitrary bytes ends in parts or in an error: it never hangs or throws otherwise', async () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc.tuple(part, fc.nat(), fc.uint8Array({ maxLength: 4 })).map(([one, at, put]) => {
        const body = message([one, one]);
        const place = at % body.length;
        return Buffer.concat([body.subarray(0, place), put, body.subarray(place + put.length)]);
      }),
    );
    await fc.assert(
      fc.asyncProperty(bytes, cuts, async (body, at) => {
        const result = await read(inPieces(Buffer.from(body), at)).catch((error: unknown) => error);
        if (!Array.isArray(result)) expect(result).toMatchObject({ code: 'invalid_multipart' });
      }),
      { numRuns: 300 },
    );
  });

  test('may have a preamble and an epilogue', async () => {
    const parts = [{ mediaType: 'application/dicom', bytes: Buffer.from('x') }];
    const body = message(parts, { preamble: 'before', epilogue: 'after' });
    expect(await read(Readable.from([body]))).toEqual(parts);
  });

  test('still ends if the caller does not read its parts', async () => {
    const bytes = Buffer.alloc(300_000, 7);
    const types: string[] = [];
    const body = message([
      { mediaType: 'application/dicom', bytes },
      { mediaType: 'text/plain', bytes },
    ]);
    for await (const { mediaType } of bodyParts(inPieces(body, [70_000, 200_000]), BOUNDARY)) {
      types.push(mediaType);
    }
    expect(types).toEqual(['application/dicom', 'text/plain']);
  });

  test('holds back its sender while a part is not being read', async () => {
    let sent = 0;
    const chunk = Buffer.alloc(65_536);
    async function* endless() {
      yield Buffer.from(`\r\n--${BOUNDARY}\r\nContent-Type: application/dicom\r\n\r\n`);
      for (; sent < 1000; sent += 1) yield chunk;
    }
    for await (const _ of bodyParts(Readable.from(endless()), BOUNDARY)) {
      await new Promise((resolve) => setTimeout(resolve, 200));
      break;
    }
    expect(sent).toBeLessThan(100);
  });
});

describe('Content-Type', () => {
  test.each([
    ['multipart/related; type="application/dicom"; boundary=abc', 'abc'],
    ['multipart/related; boundary="a b"; type=application/dicom', 'a b'],
    ['Multipart/Related;boundary=abc;TYPE="Application/DICOM"', 'abc'],
    ['multipart/related; boundary=abc', 'abc'],
    [`multipart/related; boundary=${'x'.repeat(200)}`, 'x'.repeat(200)],
    [`multipart/related; boundary=${'x'.repeat(201)}`, null],
    ['multipart/related; type="application/dicom+json"; boundary=abc', null],
    ['multipart/related; type="application/dicom"', null],
    ['multipart/form-data; boundary=abc', null],
    ['application/dicom', null],
    ['', null],
  ])('%s', (contentType, boundary) => {
    expect(dicomBoundary(contentType)).toBe(boundary);
  });
});
