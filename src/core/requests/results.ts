import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { access, link, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import {
  type ArtifactEntry,
  artifactSchema,
  type Result,
  resultSchema,
} from '../../../pipelines/result/envelope.ts';
import type { Queryable } from '../../platform/database/port.ts';
import { SonogateError } from '../../platform/errors/catalogue.ts';
import { ifMissing } from '../../platform/errors/file-system.ts';
import { BlobMissingError, type BlobStore } from '../files/blob-store.ts';
import type { RequestRow, ResultReader } from './request.ts';
import { runFolder } from './work-folder.ts';

/**
 * The part of a result that the core reads: the files belonging to it, and the number of frames,
 * which determines the price.
 */
export const resultEssentialsSchema = z.object({
  artifacts: z.array(artifactSchema).default([]),
  input_summary: z.object({ frames: z.number().int().nonnegative() }).optional(),
});

/**
 * Reads the result of an endpoint whose output is the result envelope; null if the request has no
 * result, or if its result has been purged. It reads what every version since 1.0 has written:
 * later fields are optional or have a default.
 * @param revision as in `ResultReader.result`.
 * @throws SonogateError `result_format_unknown` if the stored output is not an envelope, or has a
 * field that this version does not know, because other fields could be misread without it.
 */
export async function readEnvelope(
  results: Pick<ResultReader, 'result'>,
  requestId: string,
  revision?: number,
): Promise<Result | null> {
  const stored = await results.result(requestId, revision);
  if (stored === null) return null;
  const { success, data, error: cause } = resultSchema.safeParse(stored);
  if (success) return data;
  const fields = cause.issues.map(({ path }) => path.join('.') || 'the top level');
  const detail = `This version cannot read the stored result (${fields.slice(0, 3).join(', ')}).`;
  throw new SonogateError('result_format_unknown', detail, { cause });
}

/** Lists the artifacts of a request in the order of the result. */
export async function listArtifacts(database: Queryable, id: string): Promise<ArtifactEntry[]> {
  const { rows } = await database.query<ArtifactEntry>(
    `SELECT name, media_type, bytes, sha256, section FROM request_artifacts
     WHERE request_id = $1 ORDER BY position`,
    [id],
  );
  // node-postgres returns a bigint as text.
  return rows.map((row) => ({ ...row, bytes: Number(row.bytes) }));
}

/** Returns the number of the last signed revision of a result; 0 while it is a draft. */
export async function signedRevision(database: Queryable, id: string): Promise<number> {
  const { rows } = await database.query<{ signed_revision: number }>(
    'SELECT signed_revision FROM reviews WHERE request_id = $1',
    [id],
    'signed-revision',
  );
  return rows[0]?.signed_revision ?? 0;
}

/** Replaces the artifacts of a request with those listed in its result. */
export async function saveArtifacts(
  tx: Queryable,
  id: string,
  artifacts: readonly ArtifactEntry[],
): Promise<void> {
  await tx.query('DELETE FROM request_artifacts WHERE request_id = $1', [id]);
  for (const artifact of artifacts) await addArtifact(tx, id, artifact);
}

/** Adds one artifact, or replaces the one with the same name. */
export async function addArtifact(
  tx: Queryable,
  id: string,
  { name, media_type, bytes, sha256, section }: ArtifactEntry,
): Promise<void> {
  await tx.query(
    `INSERT INTO request_artifacts (request_id, position, name, media_type, bytes, sha256, section)
     SELECT $1, 1 + count(*), $2, $3, $4, $5, $6 FROM request_artifacts WHERE request_id = $1
     ON CONFLICT (request_id, name) DO UPDATE SET media_type = EXCLUDED.media_type,
       bytes = EXCLUDED.bytes, sha256 = EXCLUDED.sha256, section = EXCLUDED.section`,
    [id, name, media_type, bytes, sha256, section],
  );
}

const RESULT = 'result.json';

/**
 * Name of the study's evidence (pipelines/run/stored-evidence.ts). It is stored with the result and used
 * only for reviews.
 */
export const EVIDENCE = 'evidence.json';

/** Returns the artifact name of a signed revision of the result. Revisions are numbered from 1. */
export const signedResultName = (revision: number): string => `result-signed-${revision}.json`;

/** Returns true if this file of a result must be hidden from clients. */
export const isInternal = ({ name }: Pick<ArtifactEntry, 'name'>): boolean => name === EVIDENCE;

/** Thrown when the files written by a pipeline do not match its result. */
export class ArtifactMismatchError extends Error {
  override name = 'ArtifactMismatchError';
}

function resultFolder(dataDir: string, id: string): string {
  return join(dataDir, 'results', id);
}

/** Returns the path of a file of the result, whether or not the file exists. */
export function resultPath(dataDir: string, id: string, name: string): string {
  return inFolder(resultFolder(dataDir, id), name);
}

function inFolder(folder: string, name: string): string {
  return name === RESULT ? join(folder, RESULT) : join(folder, 'artifacts', name);
}

/** A result whose files are complete and flushed to disk, but not yet in the result store. */
interface CompleteResult {
  folder: string;
  /** All its files: first `result.json`, which cannot list itself, then the artifacts. */
  artifacts: ArtifactEntry[];
}

/** Name of the folder in a work folder that receives the complete result. */
const COMPLETE = 'complete';

/**
 * Gathers `result.json` and the artifacts listed in it in one folder inside the work folder `from`.
 * The files are checked and flushed to disk (fsync), so that `putInPlace` only has to move them.
 * @throws ArtifactMismatchError
 */
export async function completeResult(
  from: string,
  artifacts: readonly ArtifactEntry[],
): Promise<CompleteResult> {
  const making = join(from, COMPLETE);
  await rm(making, { recursive: true, force: true });
  await mkdir(join(making, 'artifacts'), { recursive: true });

  await rename(join(from, RESULT), join(making, RESULT));
  await syncFile(join(making, RESULT));
  for (const artifact of artifacts) {
    await checkArtifact(join(from, 'artifacts'), artifact);
    const path = join(making, 'artifacts', artifact.name);
    // Linked rather than moved: a preview announced early must stay reachable until the request has
    // ended.
    await link(join(from, 'artifacts', artifact.name), path);
    await syncFile(path);
  }
  await syncFile(join(making, 'artifacts'));
  await syncFile(making);
  const envelope = await describeFile(join(making, RESULT));
  const asArtifact = { name: RESULT, media_type: 'application/json', ...envelope, section: null };
  return { folder: making, artifacts: [asArtifact, ...artifacts] };
}

/**
 * Moves a complete result into the result store by one rename. The caller must hold the lock on the
 * request's row and its fence (`lockOwn`); otherwise, a run that lost its request could replace the
 * result of its successor. A folder already in place is left from a run whose transaction failed.
 */
export async function putInPlace(dataDir: string, id: string, folder: string): Promise<void> {
  const to = resultFolder(dataDir, id);
  await mkdir(dirname(to), { recursive: true });
  await rm(to, { recursive: true, force: true });
  await rename(folder, to);
  await syncFile(dirname(to));
}

/**
 * Checks that the files in a folder match their entries, and flushes them to disk, so that
 * `addToResult` only has to move them.
 * @throws ArtifactMismatchError
 */
export async function flushArtifacts(
  folder: string,
  artifacts: readonly ArtifactEntry[],
): Promise<void> {
  for (const artifact of artifacts) {
    await checkArtifact(folder, artifact);
    await syncFile(join(folder, artifact.name));
  }
}

/**
 * Moves flushed files into a stored result. Each is put in place by a rename, and replaces a file
 * left by an unfinished attempt.
 */
export async function addToResult(
  dataDir: string,
  id: string,
  from: string,
  artifacts: readonly ArtifactEntry[],
): Promise<void> {
  const to = join(resultFolder(dataDir, id), 'artifacts');
  await mkdir(to, { recursive: true });
  for (const { name } of artifacts) await rename(join(from, name), join(to, name));
  await syncFile(to);
}

async function checkArtifact(folder: string, { name, bytes, sha256 }: ArtifactEntry) {
  if (!isPlainName(name)) throw new ArtifactMismatchError(`artifact name ${JSON.stringify(name)}`);
  const found = await ifMissing(describeFile(join(folder, name)), null);
  if (!found) throw new ArtifactMismatchError(`artifact ${name} is missing`);
  if (found.bytes === bytes && found.sha256 === sha256) return;
  throw new ArtifactMismatchError(`artifact ${name} does not match its description in the result`);
}

/**
 * Returns true if a name is one path segment of letters, digits, dots, hyphens and underscores that
 * does not start with a dot.
 */
export function isPlainName(name: string): boolean {
  return /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}$/.test(name);
}

/** Returns the size and SHA-256 of a file, reading it as a stream. */
export async function describeFile(path: string): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return { bytes: (await stat(path)).size, sha256: hash.digest('hex') };
}

/** Flushes a file, or the entries of a folder, to disk. */
async function syncFile(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * Returns the path of an artifact: in the store if the request has succeeded, or in the work folder
 * while it is running (for previews announced early). Null if the artifact does not exist.
 * @throws the system error if the artifact cannot be read.
 */
export async function artifactPath(
  dataDir: string,
  row: Pick<RequestRow, 'id' | 'attempts' | 'status'>,
  name: string,
): Promise<string | null> {
  return row.status === 'running'
    ? pathIn(runFolder(dataDir, row), name)
    : storedPath(dataDir, row.id, name);
}

/** Returns the path of a file of a stored result; null if it does not exist. */
function storedPath(dataDir: string, id: string, name: string): Promise<string | null> {
  return pathIn(resultFolder(dataDir, id), name);
}

async function pathIn(folder: string, name: string): Promise<string | null> {
  if (!isPlainName(name)) return null;
  const path = inFolder(folder, name);
  return ifMissing(
    access(path).then(() => path),
    null,
  );
}

export async function removeResult(dataDir: string, id: string): Promise<void> {
  // Up to version 1.0, an interrupted run could leave a folder with the suffix `.making`.
  for (const suffix of ['', '.making']) {
    await rm(resultFolder(dataDir, id) + suffix, { recursive: true, force: true });
  }
}

/**
 * Reads the results of succeeded requests, whichever host ran them: from the data folder or, if the
 * installation has a bucket, from the bucket. The data folder is then a cache of the bucket.
 */
interface ResultStore {
  /** Returns the local path of a file of the result; null if the file cannot be found anywhere. */
  path(id: string, artifact: Pick<ArtifactEntry, 'name' | 'sha256'>): Promise<string | null>;
  /**
   * Returns the parsed result: the signed revision with this number, or the draft for revision 0.
   * Null if the result does not exist or has been purged.
   */
  read(id: string, artifacts: readonly ArtifactEntry[], revision: number): Promise<unknown>;
}

export function createResultStore(dataDir: string, blobs: BlobStore): ResultStore {
  const hasDigest = rememberDigests();
  const path: ResultStore['path'] = async (id, { name, sha256 }) => {
    const here = await storedPath(dataDir, id, name);
    if (!blobs.direct) return here;
    // The file of a run or signature whose transaction failed remains here. If another host then
    // ran or signed the request, the file differs from the one in the bucket, although its length
    // may be the same. After a power cut, a file that was fetched from the bucket may be
    // incomplete.
    if (here !== null && (await hasDigest(here, sha256))) return here;
    const to = resultPath(dataDir, id, name);
    const making = `${to}.${randomUUID()}`;
    await mkdir(dirname(to), { recursive: true });
    try {
      await blobs.place(sha256, making);
      await rename(making, to);
      return to;
    } catch (error) {
      if (error instanceof BlobMissingError) return null;
      throw error;
    }
  };
  return {
    path,
    async read(id, artifacts, revision) {
      const wanted = revision === 0 ? RESULT : signedResultName(revision);
      const envelope = artifacts.find(({ name }) => name === wanted);
      const from = envelope ? await path(id, envelope) : null;
      return from && JSON.parse(await readFile(from, 'utf8'));
    },
  };
}

/** Maximum number of files whose digest a process remembers: some megabytes. */
const REMEMBERED = 10_000;

/**
 * Returns a function that returns true if a file has the given digest. A file is read once:
 * afterwards, its digest is known for as long as its inode, length and time of last change stay the
 * same. Every write, truncation and replacement changes one of them (its `ctime`, which no program
 * can set), and what a power cut damages is read again by the next process.
 * @throws the system error if the file cannot be read.
 */
function rememberDigests(): (path: string, sha256: string) => Promise<boolean> {
  const known = new Map<string, { state: string; sha256: string }>();
  return async (path, sha256) => {
    const { dev, ino, size, ctimeNs } = await stat(path, { bigint: true });
    const state = [dev, ino, size, ctimeNs].join();
    const before = known.get(path);
    if (before?.state === state) return before.sha256 === sha256;
    const found = await describeFile(path);
    const [oldest] = known.size < REMEMBERED ? [] : known.keys();
    if (oldest !== undefined) known.delete(oldest);
    known.set(path, { state, sha256: found.sha256 });
    return found.sha256 === sha256;
  };
}

const LOOK_AT = 500;

/** Removes local files of results that another host has purged. */
export async function removeExpiredResults(database: Queryable, dataDir: string): Promise<void> {
  const ids = await ifMissing(readdir(join(dataDir, 'results')), []);
  for (let n = 0; n < ids.length; n += LOOK_AT) {
    const { rows } = await database.query<{ id: string }>(
      `SELECT id FROM requests WHERE id = ANY($1::text[]) AND status = 'expired'`,
      [ids.slice(n, n + LOOK_AT)],
    );
    for (const { id } of rows) await removeResult(dataDir, id);
  }
}

/**
 * Copies a complete result and its artifacts to the bucket, from which every host of the installation
 * reads them and clients download them directly. Does nothing if there is no bucket.
 */
export async function publishArtifacts(
  blobs: BlobStore,
  { folder, artifacts }: CompleteResult,
): Promise<void> {
  if (!blobs.direct) return;
  for (const { name, bytes } of artifacts) {
    await blobs.write(createReadStream(inFolder(folder, name)), bytes);
  }
}

/**
 * Removes the copies of a result from the bucket, except those whose bytes another request, an
 * upload or a received object also uses.
 */
export async function withdrawArtifacts(
  blobs: BlobStore,
  database: Queryable,
  id: string,
  now: Date,
): Promise<void> {
  if (!blobs.direct) return;
  const { rows } = await database.query<{ sha256: string }>(
    `SELECT DISTINCT sha256 FROM request_artifacts own WHERE request_id = $1
       AND NOT EXISTS (SELECT 1 FROM request_artifacts WHERE sha256 = own.sha256 AND request_id <> $1)
       AND NOT EXISTS (SELECT 1 FROM files WHERE sha256 = own.sha256)
       AND NOT EXISTS (SELECT 1 FROM file_parts WHERE sha256 = own.sha256)
       AND NOT EXISTS (SELECT 1 FROM instances WHERE file_sha256 = own.sha256)`,
    [id],
  );
  for (const { sha256 } of rows) await blobs.remove(sha256, now);
}
