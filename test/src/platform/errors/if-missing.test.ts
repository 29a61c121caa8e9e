import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadPublicKeys } from '../../../../src/core/audit/seal.ts';
import { removeFetched } from '../../../../src/core/files/received-objects.ts';
import {
  ArtifactMismatchError,
  completeResult,
  removeExpiredResults,
} from '../../../../src/core/requests/results.ts';
import { ifMissing } from '../../../../src/platform/errors/file-system.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sonogate-if-missing-'));
});
afterAll(() => rm(folder, { recursive: true }));

describe('what may be missing', () => {
  it('is read if it exists, and replaced by the fallback otherwise', async () => {
    await writeFile(join(folder, 'a'), 'abc');
    expect(await ifMissing(readFile(join(folder, 'a'), 'utf8'), null)).toBe('abc');
    expect(await ifMissing(readFile(join(folder, 'b'), 'utf8'), null)).toBeNull();
    expect(await ifMissing(readdir(join(folder, 'b')), [])).toEqual([]);
  });

  it.each(['EACCES', 'EIO', 'EMFILE', 'ENOTDIR'])(
    'is not treated as missing on %s',
    async (code) => {
      const error = Object.assign(new Error(code), { code });
      await expect(ifMissing(Promise.reject(error), [])).rejects.toBe(error);
    },
  );
});

/** Creates a file where a folder is expected. Not even root can list it (ENOTDIR). */
async function unreadable(name: string): Promise<string> {
  const dataDir = await mkdtemp(join(folder, 'data-'));
  await writeFile(join(dataDir, name), '');
  return dataDir;
}

describe('a folder that cannot be read is not mistaken for an empty one', () => {
  it('when the audit is verified, which would find no keys', async () => {
    await expect(loadPublicKeys(await unreadable('audit'))).rejects.toThrow('ENOTDIR');
    expect(await loadPublicKeys(join(folder, 'nowhere'))).toEqual(new Map());
  });

  it('when expired files are removed', async () => {
    const database = { query: async () => ({ rows: [], rowCount: 0 }) };
    await expect(removeExpiredResults(database, await unreadable('results'))).rejects.toThrow(
      'ENOTDIR',
    );
    await expect(removeFetched(await unreadable('fetched'), new Date())).rejects.toThrow('ENOTDIR');
  });
});

describe('an artifact of a result', () => {
  const artifact = {
    name: 'report.pdf',
    media_type: 'application/pdf',
    bytes: 0,
    sha256: '',
    section: null,
  };

  async function finished(): Promise<string> {
    const run = await mkdtemp(join(folder, 'run-'));
    await mkdir(join(run, 'artifacts'));
    await writeFile(join(run, 'result.json'), '{}');
    return run;
  }

  it('is a fault of the pipeline if it does not exist', async () => {
    const stored = completeResult(await finished(), [artifact]);
    await expect(stored).rejects.toThrow(
      new ArtifactMismatchError('artifact report.pdf is missing'),
    );
  });

  it('is not reported as missing if it cannot be read', async () => {
    const run = await finished();
    await mkdir(join(run, 'artifacts', artifact.name));
    await expect(completeResult(run, [artifact])).rejects.toThrow('EISDIR');
  });
});
