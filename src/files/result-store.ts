import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Queryable } from '../database/port.ts';
import { ifMissing } from '../errors/if-missing.ts';
import type { ArtifactEntry } from '../requests/artifacts.ts';
import { BlobMissingError, type BlobStore } from './blob-store.ts';
import { artifactPath, RESULT, removeResult, resultPath } from './results.ts';

/**
 * Reads what succeeded requests left behind, whichever machine ran them: from the data folder, and
 * with a bucket also what another machine put there; the data folder is a cache of it then.
 */
export interface ResultStore {
  /** Path on this machine of what the request has under this name; null when it is nowhere. */
  path(id: string, artifact: Pick<ArtifactEntry, 'name' | 'sha256'>): Promise<string | null>;
  /** The envelope, of the artifacts of its request; null when there is none, or no longer one. */
  read(id: string, artifacts: readonly ArtifactEntry[]): Promise<unknown>;
}

export function createResultStore(dataDir: string, blobs: BlobStore): ResultStore {
  const path: ResultStore['path'] = async (id, { name, sha256 }) => {
    const here = await artifactPath(dataDir, id, name, 'succeeded');
    if (here !== null || !blobs.direct) return here;
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
    async read(id, artifacts) {
      const envelope = artifacts.find(({ name }) => name === RESULT);
      const from = envelope ? await path(id, envelope) : null;
      return from && JSON.parse(await readFile(from, 'utf8'));
    },
  };
}

const LOOK_AT = 500;

/** Removes what this machine still holds of results whose retention another one has ended. */
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
