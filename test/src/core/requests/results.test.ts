import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { artifactPath, resultPath } from '../../../../src/core/requests/results.ts';

const ID = `req_${'0'.repeat(26)}`;
const STORED = { id: ID, attempts: 1, status: 'succeeded' } as const;

let dataDir = '';
beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'sonogate-results-'));
  await mkdir(dirname(resultPath(dataDir, ID, 'loop.png')), { recursive: true });
  await writeFile(resultPath(dataDir, ID, 'result.json'), '{}');
});
afterAll(() => rm(dataDir, { recursive: true }));

describe('an artifact', () => {
  it('is in the store, or is missing', async () => {
    const path = (name: string) => artifactPath(dataDir, STORED, name);
    expect(await path('result.json')).toBe(resultPath(dataDir, ID, 'result.json'));
    expect(await path('other.json')).toBeNull();
    expect(await path('../result.json')).toBeNull();
  });

  it('that cannot be reached is not mistaken for one that does not exist', async () => {
    // A link to itself makes the disk return an error other than ENOENT.
    await symlink('loop.png', resultPath(dataDir, ID, 'loop.png'));
    await expect(artifactPath(dataDir, STORED, 'loop.png')).rejects.toThrow('ELOOP');
  });
});
