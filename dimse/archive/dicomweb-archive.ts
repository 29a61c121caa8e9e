import { randomUUID } from 'node:crypto';
import type { Dispatcher } from 'undici';
import type { DicomwebArchiveSettings } from '../../config/archive.ts';
import { SonogateError } from '../../src/errors/catalogue.ts';
import type { HttpAccess } from '../dicomweb/stow-transport.ts';
import { attributeText } from '../header.ts';
import type { AssociationPeer } from '../network/storage-service.ts';
import type { Archive, FoundObject, Retrieved, Wanted } from './archive.ts';
import { naturalized, readDicomJson, TAGS } from './dicom-json.ts';
import { dicomwebGet, textOf } from './dicomweb-get.ts';
import { storeParts } from './multipart-objects.ts';
import { MAX_MATCHES } from './query.ts';
import { foundStudy, matchingKeys } from './study-query.ts';

/** Matches of one answer; a server with fewer to an answer is asked for the rest. */
const PAGE = 1000;
const JSON_TYPE = 'application/dicom+json';
/** Each object as it is stored (PS3.18 8.7.3.5): nothing is decompressed on its way. */
const OBJECTS_TYPE = 'multipart/related; type="application/dicom"; transfer-syntax=*';

type Rows = Record<string, string>[];

/** An archive that is asked by QIDO-RS and gives by WADO-RS (PS3.18 10.4, 10.6). */
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

  /** @param keys and the attributes to return; matches of all pages. */
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
      // A server that does not know `offset` gives the same again.
      if (page.length < PAGE || fresh.length === 0) break;
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
      try {
        for (const path of pathsOf(wanted)) {
          await take(await get(path, OBJECTS_TYPE, signal), wanted, peer, total);
        }
      } finally {
        await wanted.into.ended(peer, 'released');
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

async function rowsOf({ statusCode, body }: Dispatcher.ResponseData): Promise<Rows> {
  const text = await textOf(body);
  // No content, and a study that is not there (PS3.18 8.3.4.4, 10.6.3.1).
  if (statusCode === 204 || statusCode === 404 || text === '') return [];
  const read = readDicomJson(text);
  if (!read) throw new SonogateError('archive_refused_query', 'The answer is no DICOM JSON.');
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
