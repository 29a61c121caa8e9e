import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import type { Router } from '@koa/router';
import type { Context } from 'koa';
import { jsonAttribute } from '../../../../pipelines/dicom/dicom-json.ts';
import { STORAGE_CLASS } from '../../../../pipelines/dicom/sop-classes.ts';
import { DEFAULT_ACCOUNT_ID } from '../../../core/accounts/keys.ts';
import { type HeldObject, heldObjects } from '../../../core/query/find.ts';
import { SonogateError } from '../../../platform/errors/catalogue.ts';
import { requireScope } from '../authentication.ts';
import { baseUrl, type HttpDeps, type HttpState } from '../context.ts';
import {
  acceptedRanges,
  acceptsSinglePart,
  acceptsStored,
  frameForm,
  requireAccepted,
} from './accept.ts';
import { type DataSetTask, readOnThread } from './data-set-reader.ts';
import { renderingOf } from './rendering.ts';
import { DICOM_JSON, pathUids, refuseTestKey } from './search.ts';

/**
 * Maximum number of objects in one retrieval; a larger study must be retrieved series by series.
 */
const MOST_OBJECTS = 20_000;
const MOST_FRAMES = 10_000;

type LocatedObject = HeldObject & { file: string };
type Call = Context & { state: HttpState };

const STUDY = '/dicomweb/studies/:study';
const SERIES = `${STUDY}/series/:series`;
const INSTANCE = `${SERIES}/instances/:instance`;

/**
 * Adds the retrieve transactions (WADO-RS, PS3.18 10.4). Objects are streamed as stored; memory
 * holds at most one frame, or the data set of one object without its pixels.
 */
export function addRetrieveRoutes(router: Router<HttpState>, deps: HttpDeps): void {
  const scope = requireScope(deps, 'retrieve');
  const metadataPaths = [`${STUDY}/metadata`, `${SERIES}/metadata`, `${INSTANCE}/metadata`];
  const renderedPaths = [`${INSTANCE}/rendered`, `${INSTANCE}/frames/:frames/rendered`];
  router.get([STUDY, SERIES, INSTANCE], scope, (context) => sendObjects(context, deps));
  router.get(metadataPaths, scope, (context) => sendMetadata(context, deps));
  router.get(`${INSTANCE}/bulkdata/:tag`, scope, (context) => sendBulkData(context, deps));
  router.get(`${INSTANCE}/frames/:frames`, scope, (context) =>
    sendFrames(context, deps, frameNumbers(context.params.frames)),
  );
  router.get(renderedPaths, scope, (context) => sendRendered(context, deps));
}

/** Sends all objects of a study or series, or one object, in the form in which they are stored. */
async function sendObjects(context: Call, deps: HttpDeps): Promise<void> {
  const ranges = acceptedRanges(context);
  const found = await retrieved(context, deps);
  const accepted = found.filter(({ transferSyntax }) => acceptsStored(ranges, transferSyntax));
  if (accepted.length === 0) throw notInThatForm(found);
  const located = await locateAll(accepted, deps);
  const [first] = located;
  context.status = located.length === found.length ? 200 : 206;
  await audit(context, deps, located, context.status);
  if (first && located.length === 1 && acceptsSinglePart(ranges)) {
    context.type = 'application/dicom';
    context.body = createReadStream(first.file);
    return;
  }
  sendParts(context, 'application/dicom', objectParts(located));
}

async function sendMetadata(context: Call, deps: HttpDeps): Promise<void> {
  const type = requireAccepted(acceptedRanges(context), [DICOM_JSON, 'application/json']);
  const found = await retrieved(context, deps);
  const located = await locateAll(found, deps);
  context.status = located.length === found.length ? 200 : 206;
  await audit(context, deps, located, context.status);
  context.type = type;
  context.body = streamed(metadata(located, `${baseUrl(context, deps.config)}/dicomweb`));
}

async function sendBulkData(context: Call, deps: HttpDeps): Promise<void> {
  const { tag = '' } = context.params;
  if (tag === '7FE00010') return sendFrames(context, deps, null);
  const ranges = acceptedRanges(context);
  const object = await retrievedObject(context, deps);
  const bytes = await binaryValue(object, tag);
  if (bytes.length === 0) throw new SonogateError('not_found', 'The object has no such bulk data.');
  await audit(context, deps, [object]);
  if (ranges.some(({ multipart, type }) => multipart || type === '*/*')) {
    return sendParts(context, OCTETS, [{ contentType: OCTETS, bytes: [bytes] }]);
  }
  context.type = requireAccepted(ranges, [OCTETS]);
  context.body = bytes;
}

/** Sends one frame as a picture, or the document of an encapsulated PDF. */
async function sendRendered(context: Call, deps: HttpDeps): Promise<void> {
  const [frame = 1, more] = frameNumbers(context.params.frames ?? '1');
  if (more !== undefined)
    throw new SonogateError('invalid_query', 'Only one frame can be rendered at a time.');
  const rendering = renderingOf(context);
  const object = await retrievedObject(context, deps);
  const ranges = acceptedRanges(context);
  if (object.sopClassUid === STORAGE_CLASS.encapsulatedPdf) {
    const type = requireAccepted(ranges, ['application/pdf']);
    const document = await binaryValue(object, '00420011');
    await audit(context, deps, [object]);
    context.type = type;
    context.body = document;
    return;
  }
  const type = requireAccepted(ranges, ['image/jpeg', 'image/png']);
  const { renderFrame } = await import('./frames.ts');
  const image = await renderFrame(object.file, frame, { type, ...rendering });
  await audit(context, deps, [object]);
  context.type = type;
  context.body = image;
}

const OCTETS = 'application/octet-stream';

/** Sends frames of one object; all of them if `numbers` is null. */
async function sendFrames(context: Call, deps: HttpDeps, numbers: number[] | null): Promise<void> {
  const object = await retrievedObject(context, deps);
  const { openStoredFrames } = await import('./frames.ts');
  const frames = await openStoredFrames(object.file);
  const wanted = numbers ?? Array.from({ length: frames.count }, (_, index) => index + 1);
  if (wanted.some((number) => number > frames.count)) {
    throw new SonogateError('not_found', `The object has ${frames.count} frames.`);
  }
  const form = frameForm(acceptedRanges(context), object.transferSyntax, frames.decodable);
  if (!form) throw notInThatForm([object]);
  await audit(context, deps, [object]);
  const read = form.as === 'stored' ? frames.stored : frames.native;
  const [only, more] = wanted;
  if (form.single && only !== undefined && more === undefined) {
    context.set('Content-Type', form.contentType);
    context.body = await read(only);
    return;
  }
  sendParts(
    context,
    form.contentType.replace(/;.*/, ''),
    framesInTurn(wanted, form.contentType, read),
  );
}

async function* framesInTurn(
  numbers: readonly number[],
  contentType: string,
  read: (frame: number) => Promise<Buffer>,
): AsyncGenerator<Part> {
  for (const number of numbers) yield { contentType, bytes: [await read(number)] };
}

/**
 * Parses frame numbers, such as `1,2,5`.
 * @throws SonogateError `invalid_query`
 */
function frameNumbers(text = ''): number[] {
  const numbers = /^\d{1,7}(,\d{1,7})*$/.test(text) ? text.split(',').map(Number) : [];
  if (numbers.length === 0 || numbers.length > MOST_FRAMES || numbers.includes(0)) {
    throw new SonogateError('invalid_query', 'The path contains no list of frame numbers.');
  }
  return numbers;
}

/**
 * Returns the objects to retrieve. Studies belong to the default account, so keys of other accounts
 * find none.
 * @throws SonogateError `forbidden` for a test key
 * @throws SonogateError `not_found` if there are no such objects
 * @throws SonogateError `invalid_query` if there are more than `MOST_OBJECTS`
 */
async function retrieved(context: Call, { database }: HttpDeps): Promise<HeldObject[]> {
  refuseTestKey(context.state);
  const { study, series, instance } = pathUids(context.params);
  const own = context.state.principal.accountId === DEFAULT_ACCOUNT_ID;
  const found = own
    ? await heldObjects(
        database,
        {
          ...(study !== undefined && { study: [study] }),
          ...(series !== undefined && { series: [series] }),
          ...(instance !== undefined && { objects: [instance] }),
        },
        MOST_OBJECTS + 1,
      )
    : [];
  if (found.length === 0) throw new SonogateError('not_found', 'There is no such object here.');
  if (found.length > MOST_OBJECTS) {
    throw new SonogateError(
      'invalid_query',
      'The study is too large; retrieve its series individually.',
    );
  }
  return found;
}

/**
 * Returns the objects whose files are available. Files that another host received are fetched from
 * the bucket.
 */
async function locateAll(
  objects: readonly HeldObject[],
  { objects: files }: HttpDeps,
): Promise<LocatedObject[]> {
  const located: LocatedObject[] = [];
  for (const object of objects) {
    const file = await files.locate(object);
    if (file !== null) located.push({ ...object, file });
  }
  if (located.length === 0) throw gone();
  return located;
}

/**
 * Returns the one object that the path names.
 * @throws SonogateError `expired` if its file has been removed
 */
async function retrievedObject(context: Call, deps: HttpDeps): Promise<LocatedObject> {
  const [object] = await locateAll(await retrieved(context, deps), deps);
  if (!object) throw gone();
  return object;
}

const gone = () => new SonogateError('expired', 'The files of these objects have been removed.');

function notInThatForm(objects: readonly HeldObject[]): SonogateError {
  const syntaxes = [...new Set(objects.map(({ transferSyntax }) => transferSyntax))].slice(0, 5);
  return new SonogateError(
    'not_acceptable',
    `Stored in ${syntaxes.join(', ')}: accept that transfer syntax, or "*".`,
  );
}

/** Audits the objects that are about to be sent, with one entry for each study. */
async function audit(
  context: Call,
  { writeAudit, now = () => new Date() }: HttpDeps,
  objects: readonly HeldObject[],
  status = 200,
): Promise<void> {
  const studies = Map.groupBy(objects, ({ studyId }) => studyId);
  for (const [studyId, sent] of studies) {
    await writeAudit({
      at: now(),
      accountId: context.state.principal.accountId,
      keyId: context.state.principal.keyId,
      action: 'study.retrieve',
      studyId,
      status,
      callId: context.state.requestId,
      address: context.ip,
      detail: { objects: sent.length },
    });
  }
}

interface Part {
  contentType: string;
  bytes: Iterable<Buffer> | AsyncIterable<Buffer>;
}

async function* objectParts(objects: readonly LocatedObject[]): AsyncGenerator<Part> {
  for (const { file, transferSyntax } of objects) {
    const contentType = `application/dicom; transfer-syntax=${transferSyntax}`;
    yield { contentType, bytes: createReadStream(file) };
  }
}

/**
 * Sends a multipart/related message (RFC 2387). Each part is read only when the client is ready for
 * it.
 */
function sendParts(
  context: Context,
  type: string,
  parts: Iterable<Part> | AsyncIterable<Part>,
): void {
  const boundary = randomUUID();
  context.set('Content-Type', `multipart/related; type="${type}"; boundary=${boundary}`);
  context.body = streamed(message(parts, boundary));
}

async function* message(
  parts: Iterable<Part> | AsyncIterable<Part>,
  boundary: string,
): AsyncGenerator<Buffer> {
  for await (const { contentType, bytes } of parts) {
    yield Buffer.from(`--${boundary}\r\nContent-Type: ${contentType}\r\n\r\n`);
    yield* bytes;
    yield Buffer.from('\r\n');
  }
  yield Buffer.from(`--${boundary}--\r\n`);
}

const streamed = (pieces: AsyncIterable<Buffer>): Readable =>
  Readable.from(pieces, { objectMode: false });

async function* metadata(
  objects: readonly LocatedObject[],
  address: string,
): AsyncGenerator<Buffer> {
  let separator = '[';
  for (const object of objects) {
    yield Buffer.from(separator);
    yield await metadataOf(object, address);
    separator = ',';
  }
  yield Buffer.from(']');
}

/**
 * Returns the metadata of an object as DICOM JSON; only its identifiers if the object is damaged or
 * too large.
 */
async function metadataOf(object: LocatedObject, address: string): Promise<Buffer> {
  const { studyInstanceUid, seriesInstanceUid, sopInstanceUid, sopClassUid, file } = object;
  const path = `studies/${studyInstanceUid}/series/${seriesInstanceUid}/instances/${sopInstanceUid}`;
  const json = await unlessUnreadable({ file, bulkData: `${address}/${path}/bulkdata` });
  if (json) return json;
  const identifiers = {
    '00080016': jsonAttribute('UI', [sopClassUid]),
    '00080018': jsonAttribute('UI', [sopInstanceUid]),
    '0020000D': jsonAttribute('UI', [studyInstanceUid]),
    '0020000E': jsonAttribute('UI', [seriesInstanceUid]),
  };
  return Buffer.from(JSON.stringify(identifiers));
}

/** Returns the bytes of a binary value; empty if the object lacks it or cannot be read. */
const binaryValue = async ({ file }: LocatedObject, tag: string): Promise<Buffer> =>
  (await unlessUnreadable({ file, tag })) ?? Buffer.alloc(0);

/** Reads a data set; null if it is damaged or too large. */
async function unlessUnreadable(task: DataSetTask): Promise<Buffer | null> {
  try {
    const { buffer, byteOffset, byteLength } = await readOnThread(task);
    return Buffer.from(buffer, byteOffset, byteLength);
  } catch (error) {
    if (error instanceof SonogateError) return null;
    throw error;
  }
}
