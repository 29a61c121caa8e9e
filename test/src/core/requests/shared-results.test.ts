import fs from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { parseS3Url, type S3Location } from '../../../../config/schema.ts';
import { openS3BlobStore } from '../../../../src/core/files/blob-s3.ts';
import type { BlobStore } from '../../../../src/core/files/blob-store.ts';
import {
  describeFile,
  removeExpiredResults,
  resultPath,
} from '../../../../src/core/requests/results.ts';
import { transition } from '../../../../src/core/requests/transitions.ts';
import { type PostgresServer, startPostgres } from '../../../peers/postgres.ts';
import { startS3rver } from '../../../peers/s3rver.ts';
import { openSite, type Site } from './site.ts';

const postgres: PostgresServer | null = await startPostgres();
afterAll(() => postgres?.stop());

/**
 * Two data folders with one database and one bucket. One machine runs requests, and the other is
 * queried.
 */
describe.skipIf(!postgres)('two machines with one bucket', () => {
  let server: Awaited<ReturnType<typeof startS3rver>>;
  let spools: string[];
  let stores: BlobStore[];
  let runs: Site;
  let asked: Site;
  let refuse = 0;

  beforeAll(async () => {
    server = await startS3rver();
    const spool = () => mkdtemp(join(tmpdir(), 'sonogate-spool-'));
    spools = [await spool(), await spool()];
    const location = parseS3Url(server.url) as S3Location;
    stores = await Promise.all(spools.map((each) => openS3BlobStore(location, each)));
    const [one, other] = stores as [BlobStore, BlobStore];
    const databaseUrl = await postgres?.createDatabase();
    const faulty: BlobStore = {
      ...one,
      write: (...call) => {
        if (refuse === 0) return one.write(...call);
        refuse -= 1;
        return Promise.reject(new Error('storage away'));
      },
    };
    runs = await openSite({ databaseUrl, blobs: faulty });
    asked = await openSite({ databaseUrl, blobs: other });
    await runs.startWorker();
  });
  afterAll(async () => {
    await asked.close();
    await runs.close();
    for (const store of stores) store.close();
    await server.stop();
    for (const each of spools) await rm(each, { recursive: true });
  });

  it('each has the result and the artifacts of what either ran', async () => {
    const id = await asked.submit('result');
    await asked.follow(id);
    expect(await asked.core.result(id)).toMatchObject({ texts: ['hello'] });
    const artifacts = await asked.core.artifacts(id);
    expect(artifacts.map(({ name }) => name)).toEqual(['result.json', 'overlay-biometry-1.png']);
    for (const { name, bytes, sha256 } of artifacts) {
      const path = (await asked.core.artifactPath(id, name)) ?? '';
      expect(path.startsWith(asked.config.dataDir)).toBe(true);
      expect(await describeFile(path)).toEqual({ bytes, sha256 });
    }
    expect(await asked.core.artifactPath(id, 'no-such.png')).toBeNull();
  });

  it('one whose own run was lost when it ended has the result of the other', async () => {
    const id = await asked.submit('result');
    await asked.follow(id);
    const left = resultPath(asked.config.dataDir, id, 'result.json');
    await mkdir(dirname(left), { recursive: true });
    await writeFile(left, '{"texts":["of the lost run"]}');
    expect(await asked.core.result(id)).toMatchObject({ texts: ['hello'] });
  });

  it('each reads its local copy in full only once', async () => {
    const id = await asked.submit('result');
    await asked.follow(id);
    const path = (await asked.core.artifactPath(id, 'overlay-biometry-1.png')) ?? '';
    await asked.core.artifactPath(id, 'overlay-biometry-1.png');
    const streams = vi.spyOn(fs, 'createReadStream');
    syncBuiltinESMExports();
    for (let n = 0; n < 3; n += 1) {
      expect(await asked.core.artifactPath(id, 'overlay-biometry-1.png')).toBe(path);
    }
    expect(streams).not.toHaveBeenCalled();
    streams.mockRestore();
    syncBuiltinESMExports();
  });

  it('each fetches the file again if its copy was changed to another of the same length', async () => {
    const id = await asked.submit('result');
    await asked.follow(id);
    const path = (await asked.core.artifactPath(id, 'overlay-biometry-1.png')) ?? '';
    await asked.core.artifactPath(id, 'overlay-biometry-1.png');
    const [good, { atime, mtime }] = [await readFile(path), await stat(path)];

    await writeFile(path, Buffer.alloc(good.length, 'x'));
    // As after a restore from a backup, or `touch -r`.
    await utimes(path, atime, mtime);
    await asked.core.artifactPath(id, 'overlay-biometry-1.png');
    expect(await readFile(path)).toEqual(good);

    await writeFile(`${path}.other`, Buffer.alloc(good.length, 'x'));
    await rename(`${path}.other`, path);
    await asked.core.artifactPath(id, 'overlay-biometry-1.png');
    expect(await readFile(path)).toEqual(good);
  });

  it('a preview of a running request is in the bucket from its announcement', async () => {
    const id = await asked.submit('wait-after-preview', {}, { seconds: 30 });
    const patience = AbortSignal.timeout(20_000);
    for await (const { name } of asked.core.events.follow(id, 0, '', patience)) {
      if (name === 'partial') break;
    }
    const [preview] = await asked.core.artifacts(id);
    const as = { name: 'a', mediaType: 'image/png' };
    expect(await asked.blobs.direct?.downloadUrl(preview?.sha256 ?? '', as, 60)).not.toBeNull();
    await asked.core.cancel(id, null);
  });

  it('a storage that cannot be reached delays the end, but the run is not repeated', async () => {
    // The first write of the preview fails, and then the first write of the result.
    refuse = 2;
    const id = await asked.submit('result');
    await asked.follow(id);
    expect(refuse).toBe(0);
    expect(await asked.row(id)).toMatchObject({ status: 'succeeded', attempts: 1 });
    expect(await asked.core.result(id)).toMatchObject({ texts: ['hello'] });
  });

  it('what one has fetched is removed when the other has ended the retention', async () => {
    const id = await asked.submit('result');
    await asked.follow(id);
    const path = (await asked.core.artifactPath(id, 'result.json')) ?? '';
    await removeExpiredResults(asked.database, asked.config.dataDir);
    expect(await readFile(path, 'utf8')).toContain('hello');
    await runs.database.transaction((tx) => transition(tx, id, 'expired', { at: new Date() }));
    await removeExpiredResults(asked.database, asked.config.dataDir);
    await expect(readFile(path)).rejects.toMatchObject({ code: 'ENOENT' });
    expect(await asked.core.result(id)).toBeNull();
  });
});
