import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { Dicer } from '@fastify/busboy';
import { decodeFileMeta, MAX_META_BYTES } from '../../pipelines/dicom/part10.ts';
import { SonogateError } from '../../src/platform/errors/catalogue.ts';
import type { AssociationPeer, IncomingObject, StorageService } from '../network/service-ports.ts';

/**
 * One part of a multipart message. The caller must read it to its end, or discard it, before the
 * next part.
 */
export interface BodyPart {
  /** Media type without parameters, in lower case, or ''. */
  mediaType: string;
  bytes: AsyncIterable<Buffer>;
}

/** Limits on the headers: a part of a DICOM message has two or three short header lines. */
const HEADERS = { maxHeaderPairs: 16, maxHeaderSize: 4096 } as const;

/** Longest accepted boundary. RFC 2046 5.1.1 allows 70 characters, but Orthanc sends 73. */
const LONGEST_BOUNDARY = 200;

/**
 * Returns the boundary of `multipart/related; type="application/dicom"` (PS3.18 8.6.1.2.1); null
 * for another type.
 * @param contentType the value of the Content-Type header.
 */
export function dicomBoundary(contentType: string): string | null {
  if (!/^multipart\/related\s*(;|$)/i.test(contentType)) return null;
  const type = parameter(contentType, 'type');
  if (type !== null && type.toLowerCase() !== 'application/dicom') return null;
  const boundary = parameter(contentType, 'boundary');
  return boundary !== null && boundary.length <= LONGEST_BOUNDARY ? boundary : null;
}

/** Returns the value of a parameter, with or without quotation marks (RFC 2045 5.1). */
function parameter(contentType: string, name: string): string | null {
  const match = new RegExp(`;\\s*${name}\\s*=\\s*(?:"([^"]+)"|([^\\s;"]+))`, 'i').exec(contentType);
  return match?.[1] ?? match?.[2] ?? null;
}

/**
 * Yields the parts of a body as they arrive. Parts are not collected in memory. If the caller reads
 * slowly, the body is read slowly too.
 * @throws SonogateError `invalid_multipart` if the body breaks off, has no part, or has a part
 * without headers.
 */
export async function* bodyParts(body: Readable, boundary: string): AsyncGenerator<BodyPart> {
  const dicer = new Dicer({ boundary, ...HEADERS });
  const ready: (BodyPart & { stream: Readable })[] = [];
  const news = new EventTarget();
  let headersMissing = false;
  let over = false;
  let broken = '';
  const tell = () => news.dispatchEvent(new Event('news'));
  const breakOff = (why: string) => {
    broken ||= why;
    for (const { stream } of ready) stream.destroy(new Error(why));
    tell();
  };

  dicer.on('part', (stream: Readable) => {
    // The parser does not report headers that it cannot parse. We notice that they are missing only
    // when the next part begins or the body ends.
    if (headersMissing) breakOff('a part has no headers');
    headersMissing = true;
    // Without a listener, an error of the stream would end the process. The reader of the part
    // receives the same error and handles it.
    stream.on('error', () => {});
    stream.on('header', (header: Record<string, string[]>) => {
      headersMissing = false;
      const [type = ''] = header['content-type']?.[0]?.toLowerCase().split(';') ?? [];
      ready.push({ mediaType: type.trim(), bytes: stream, stream });
      tell();
    });
  });
  dicer.on('finish', () => {
    over = true;
    tell();
  });
  dicer.on('error', (error: unknown) => breakOff((error as Error).message));
  body.once('error', (error) => breakOff(error.message));
  body.once('close', () => {
    if (!body.readableEnded) breakOff('the sender closed the connection');
  });
  body.pipe(dicer);

  let count = 0;
  try {
    for (;;) {
      while (ready.length === 0 && !over && broken === '') await once(news, 'news');
      const part = ready[0];
      if (!part || broken !== '') break;
      count += 1;
      yield part;
      await readToEnd(part.bytes);
      ready.shift();
    }
  } finally {
    body.unpipe(dicer);
    for (const { stream } of ready) stream.destroy();
  }
  if (broken !== '' || headersMissing) {
    throw new SonogateError('invalid_multipart', `${broken || 'a part has no headers'}.`);
  }
  if (count === 0) throw new SonogateError('invalid_multipart', 'The body has no parts.');
}

/** Reads the rest of a part, because the next one arrives only after it. */
async function readToEnd(bytes: AsyncIterable<Buffer>): Promise<void> {
  try {
    for await (const _ of bytes);
  } catch {
    // If a part is cut off, the whole body is cut off too, and `bodyParts` reports that error.
  }
}

/**
 * Stores a DICOM file (PS3.10) that arrives in pieces. The gateway writes its own file meta
 * information; the data set is stored byte for byte. Resolves when the object is durable.
 * @returns the object, the first bytes of the file (`start`), and whether these are the whole file
 * (`whole`).
 * @throws SonogateError `object_not_understood` if it is not a DICOM file; any storage error.
 */
export async function storeFile(
  pieces: AsyncIterable<Buffer>,
  storage: StorageService,
  peer: AssociationPeer,
): Promise<{ object: IncomingObject; start: Buffer; whole: boolean }> {
  const iterator = pieces[Symbol.asyncIterator]();
  const start: Buffer[] = [];
  let bytes = 0;
  let whole = false;
  while (bytes < MAX_META_BYTES && !whole) {
    const { value, done } = await iterator.next();
    whole = done === true;
    if (done) break;
    start.push(value);
    bytes += value.length;
  }
  const head = Buffer.concat(start);
  const { meta, dataSetOffset } = decodeFileMeta(head);
  const { sopClassUid, sopInstanceUid, transferSyntax } = meta;
  const object = { sopClassUid, sopInstanceUid, transferSyntax };
  const sink = await storage.open(object, peer);
  try {
    await sink.write(head.subarray(dataSetOffset));
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) {
      await sink.write(next.value);
    }
  } catch (error) {
    await sink.discard();
    throw error;
  }
  await sink.commit();
  return { object, start: head, whole };
}
