import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { DicomwebArchiveSettings } from '../../config/peers.ts';
import { attributeText } from '../../src/core/studies/instance-header.ts';
import type { FoundObject } from '../../src/operations/operations.ts';
import { SonogateError } from '../../src/platform/errors/catalogue.ts';
import { isTemporaryStatus } from '../../src/platform/outbound/retry-after.ts';
import { bodyParts, dicomBoundary, storeFile } from '../dicomweb/multipart.ts';
import type { HttpAccess } from '../dicomweb/stow-transport.ts';
import type { AssociationEnd, AssociationPeer, StorageService } from '../network/service-ports.ts';
import type { Archive, Retrieved, Wanted } from './archive.ts';
import { foundStudy, MAX_MATCHES, matchingKeys } from './query.ts';

/** A data set in the DICOM JSON Model (PS3.18 F.2): value representation and values by tag. */
type DicomJson = Readonly<Record<string, { vr?: string; Value?: unknown[] }>>;

/** Tags of the attributes that queries request, by keyword (PS3.6). */
export const TAGS = {
  StudyDate: '00080020',
  StudyDescription: '00081030',
  SOPClassUID: '00080016',
  SOPInstanceUID: '00080018',
  AccessionNumber: '00080050',
  Modality: '00080060',
  ModalitiesInStudy: '00080061',
  PatientID: '00100020',
  IssuerOfPatientID: '00100021',
  PatientBirthDate: '00100030',
  PatientSex: '00100040',
  StudyInstanceUID: '0020000D',
  SeriesInstanceUID: '0020000E',
  NumberOfStudyRelatedInstances: '00201208',
} as const;

function naturalized(dataSet: DicomJson): Record<string, string> {
  return Object.fromEntries(
    Object.entries(TAGS).map(([keyword, tag]) => [
      keyword,
      attributeText(dataSet[tag]?.Value ?? []),
    ]),
  );
}

function readDicomJson(text: string): DicomJson[] | null {
  try {
    const read: unknown = JSON.parse(text);
    if (!Array.isArray(read)) return null;
    return read.filter((one): one is DicomJson => typeof one === 'object' && one !== null);
  } catch {
    return null;
  }
}

const MAX_TEXT_BYTES = 64 * 1024 * 1024;

/**
 * Sends one GET to a DICOMweb service. Redirects are not followed: only the configured address is
 * contacted.
 * @returns the response if its status is 200, 204, 206 or 404.
 * @throws SonogateError `peer_unreachable`, `peer_unauthorized`, `peer_unavailable`,
 * `archive_refused_query`.
 */
async function dicomwebGet(
  url: string,
  access: HttpAccess,
  {
    accept,
    timeoutSeconds,
    signal,
  }: { accept: string; timeoutSeconds: number; signal?: AbortSignal | undefined },
): Promise<Dispatcher.ResponseData> {
  const authorization = await access.header(signal);
  const dispatcher = await access.dispatcherNow();
  const { request } = await import('undici');
  const answer = await request(url, {
    ...(dispatcher && { dispatcher }),
    method: 'GET',
    headers: { accept, 'user-agent': 'sonogate', ...(authorization !== null && { authorization }) },
    headersTimeout: timeoutSeconds * 1000,
    bodyTimeout: timeoutSeconds * 1000,
    ...(signal && { signal }),
  }).catch((error: unknown) => {
    const detail = error instanceof Error ? error.message : String(error);
    throw new SonogateError('peer_unreachable', detail, { cause: error });
  });
  const { statusCode } = answer;
  if ([200, 204, 206, 404].includes(statusCode)) return answer;
  await answer.body.dump();
  const detail = `HTTP ${statusCode}`;
  if (statusCode === 401 || statusCode === 403) {
    throw new SonogateError('peer_unauthorized', detail);
  }
  throw new SonogateError(
    isTemporaryStatus(statusCode) ? 'peer_unavailable' : 'archive_refused_query',
    detail,
  );
}

/**
 * Reads a body as text.
 * @throws SonogateError `peer_unreachable` if the body breaks off, `archive_refused_query` if it is
 * longer than the limit.
 */
async function bodyText(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > MAX_TEXT_BYTES) {
        throw new SonogateError('archive_refused_query', 'The response is too long.');
      }
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof SonogateError) throw error;
    throw new SonogateError('peer_unreachable', (error as Error).message, { cause: error });
  }
  return Buffer.concat(chunks).toString();
}

interface StoredParts {
  stored: number;
  failed: number;
  /** Why the last failed object was not stored; '' if no object failed. */
  detail: string;
}

/**
 * Stores the objects of a WADO-RS response one after the other, as they arrive. Objects are not
 * collected in memory. If the disk is slow, the response is read more slowly. An object that cannot
 * be stored does not affect the others.
 * @throws SonogateError `archive_refused_query` if the response is neither one object nor a
 * multipart message, `peer_unreachable` if it breaks off.
 */
export async function storeParts(
  { headers, body }: { headers: Dispatcher.ResponseData['headers']; body: Readable },
  storage: StorageService,
  peer: AssociationPeer,
): Promise<StoredParts> {
  const result: StoredParts = { stored: 0, failed: 0, detail: '' };
  const store = async (file: AsyncIterable<Buffer>) => {
    try {
      await storeFile(file, storage, peer);
      result.stored += 1;
    } catch (error) {
      result.failed += 1;
      result.detail = error instanceof Error ? error.message : String(error);
    }
  };
  const type = String(headers['content-type'] ?? '');
  if (/^application\/dicom\b/i.test(type)) {
    await store(body);
    return result;
  }
  const boundary = dicomBoundary(type);
  if (boundary === null) {
    body.destroy();
    throw new SonogateError('archive_refused_query', 'The response is not multipart/related.');
  }
  try {
    for await (const { bytes } of bodyParts(body, boundary)) await store(bytes);
  } catch (error) {
    body.destroy();
    throw new SonogateError('peer_unreachable', (error as Error).message, { cause: error });
  }
  return result;
}

/** Number of matches requested per response. A server may return fewer. */
const PAGE = 1000;
const JSON_TYPE = 'application/dicom+json';
/**
 * Requests each object in its stored transfer syntax (PS3.18 8.7.3.5), so that no object is
 * decompressed for the transfer.
 */
const OBJECTS_TYPE = 'multipart/related; type="application/dicom"; transfer-syntax=*';

type Rows = Record<string, string>[];

/**
 * Creates an archive that is queried by QIDO-RS and from which objects are retrieved by WADO-RS
 * (PS3.18 10.4, 10.6).
 */
export function dicomwebArchive(
  {
    name,
    baseUrl,
    timeoutSeconds,
  }: Pick<DicomwebArchiveSettings, 'name' | 'baseUrl' | 'timeoutSeconds'>,
  access: HttpAccess,
  aeTitle: string,
): Archive {
  const base = baseUrl.replace(/\/+$/, '');
  const get = (path: string, accept: string, signal?: AbortSignal) =>
    dicomwebGet(`${base}${path}`, access, { accept, timeoutSeconds, signal });

  const search = async (
    path: string,
    keys: URLSearchParams,
    { limit, signal }: { limit: number; signal?: AbortSignal | undefined },
  ): Promise<Rows> => {
    const rows: Rows = [];
    while (rows.length < limit) {
      keys.set('limit', String(Math.min(PAGE, limit - rows.length)));
      keys.set('offset', String(rows.length));
      const answer = await get(`${path}?${keys}`, JSON_TYPE, signal);
      const page = await rowsOf(answer);
      const known = new Set(rows.map(idOf));
      const fresh = page.filter((row) => !known.has(idOf(row)));
      rows.push(...fresh);
      // A server that ignores `offset` returns the same matches for each page. They are not counted
      // as new, and the loop ends.
      const isLast = page.length < PAGE && !hasMore(answer);
      if (isLast || fresh.length === 0) break;
    }
    return rows.slice(0, limit);
  };

  return {
    name,
    async studies(keys, { limit, signal }) {
      const query = new URLSearchParams(matchingKeys(keys));
      for (const tag of Object.values(TAGS)) query.append('includefield', tag);
      const rows = await search('/studies', query, { limit, signal });
      return rows.flatMap((row) => foundStudy(row) ?? []);
    },
    async objects(studyInstanceUid, { signal } = {}) {
      const query = new URLSearchParams({ includefield: TAGS.Modality });
      query.append('includefield', TAGS.SOPClassUID);
      const path = `/studies/${studyInstanceUid}/instances`;
      const rows = await search(path, query, { limit: MAX_MATCHES, signal });
      return rows.map(foundObject).filter(({ sopInstanceUid }) => sopInstanceUid !== '');
    },
    async retrieve(wanted, { signal } = {}) {
      const host = new URL(base).hostname;
      const ours = { id: randomUUID(), callingAeTitle: '', calledAeTitle: aeTitle };
      const peer = { ...ours, address: host, source: wanted.source };
      const total: Retrieved = { completed: 0, failed: 0, detail: '' };
      // A retrieval that fails is recorded as an aborted association. If it were recorded as
      // released, the study could count as complete (receptions.ts).
      let end: AssociationEnd = 'aborted';
      try {
        for (const path of pathsOf(wanted)) {
          await take(await get(path, OBJECTS_TYPE, signal), wanted, peer, total);
        }
        end = 'released';
      } finally {
        await wanted.into.ended(peer, end);
      }
      return total;
    },
  };
}

const idOf = (row: Record<string, string>) => row.SOPInstanceUID || row.StudyInstanceUID || '';

function foundObject(row: Record<string, string>): FoundObject {
  const text = (keyword: string) => attributeText(row[keyword]);
  return {
    seriesInstanceUid: text('SeriesInstanceUID'),
    sopInstanceUid: text('SOPInstanceUID'),
    sopClassUid: text('SOPClassUID'),
    modality: text('Modality'),
  };
}

function* pathsOf({ studyInstanceUid: study, objects, whole }: Wanted): Generator<string> {
  if (whole) return yield `/studies/${study}`;
  for (const { seriesInstanceUid: series, sopInstanceUid } of objects) {
    yield `/studies/${study}/series/${series}/instances/${sopInstanceUid}`;
  }
}

/** Returns true if a response announces matches beyond the limit of the server (PS3.18 8.3.4.4). */
const hasMore = ({ headers }: Dispatcher.ResponseData): boolean =>
  [headers.warning ?? []].flat().some((warning) => warning.trimStart().startsWith('299'));

async function rowsOf({ statusCode, body }: Dispatcher.ResponseData): Promise<Rows> {
  const text = await bodyText(body);
  // The response is empty, or the study does not exist (PS3.18 8.3.4.4, 10.6.3.1).
  if (statusCode === 204 || statusCode === 404 || text === '') return [];
  const read = readDicomJson(text);
  if (!read) throw new SonogateError('archive_refused_query', 'The response is not DICOM JSON.');
  return read.map(naturalized);
}

async function take(
  answer: Dispatcher.ResponseData,
  { into }: Wanted,
  peer: AssociationPeer,
  total: Retrieved,
): Promise<void> {
  if (answer.statusCode === 204 || answer.statusCode === 404) {
    await answer.body.dump();
    total.failed += 1;
    total.detail = `HTTP ${answer.statusCode}`;
    return;
  }
  const { stored, failed, detail } = await storeParts(answer, into, peer);
  total.completed += stored;
  total.failed += failed;
  if (detail) total.detail = detail;
}
