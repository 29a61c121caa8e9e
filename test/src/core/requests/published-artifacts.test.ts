import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseS3Url, type S3Location } from '../../../../config/schema.ts';
import { openS3BlobStore, type S3BlobStore } from '../../../../src/core/files/blob-s3.ts';
import { purgeExpired } from '../../../../src/core/requests/expiry.ts';
import { silentLogger } from '../../../../src/platform/logging/logger.ts';
import { startS3rver } from '../../../peers/s3rver.ts';
import { openSite, type Site } from './site.ts';

let server: Awaited<ReturnType<typeof startS3rver>>;
let spool: string;
let blobs: S3BlobStore;
let site: Site;

beforeAll(async () => {
  server = await startS3rver();
  spool = await mkdtemp(join(tmpdir(), 'sonogate-spool-'));
  blobs = await openS3BlobStore(parseS3Url(server.url) as S3Location, spool);
  site = await openSite({ blobs });
  await site.startWorker();
});
afterAll(async () => {
  await site.close();
  blobs.close();
  await server.stop();
  await rm(spool, { recursive: true });
});

describe('the copy of an artifact in S3-compatible storage', () => {
  it('stays while a request has it, and is removed with the last one that is purged', async () => {
    const ids = [await site.submit('result'), await site.submit('result')];
    for (const id of ids) await site.follow(id);
    const [first, second] = await Promise.all(ids.map((id) => site.row(id)));
    const listed = await site.core.artifacts(ids[0] ?? '');
    const { sha256 } = listed.find(({ name }) => name !== 'result.json') ?? { sha256: '' };
    const others = await site.core.artifacts(ids[1] ?? '');
    expect(others.map((artifact) => artifact.sha256)).toContain(sha256);
    const there = async () =>
      (await blobs.direct.downloadUrl(sha256, { name: 'a', mediaType: 'image/png' }, 60)) !== null;
    const purgeAt = (time: Date | null | undefined) =>
      purgeExpired({
        database: site.database,
        blobs,
        config: site.config,
        logger: silentLogger,
        now: () => new Date(time?.getTime() ?? Number.NaN),
      });

    await expect.poll(there).toBe(true);
    const inOrder = [first, second].sort((a, b) => Number(a?.expires_at) - Number(b?.expires_at));
    await purgeAt(inOrder[0]?.expires_at);
    expect(await there()).toBe(true);
    await purgeAt(inOrder[1]?.expires_at);
    expect(await there()).toBe(false);
  });
});
