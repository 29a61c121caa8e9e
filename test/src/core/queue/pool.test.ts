import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PIPELINE_PROGRAM } from '../../../../src/app/pipelines/program.ts';
import { PipelinePool } from '../../../../src/core/queue/pipeline-process.ts';
import { readablePlaces } from '../../../../src/core/queue/worker.ts';
import { silentLogger } from '../../../../src/platform/logging/logger.ts';

const MODULE = new URL('./pipelines/obedient.ts', import.meta.url).href;

test('a run whose folder cannot be moved leaves no process behind', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'sonogate-pool-'));
  const work = join(dataDir, 'work');
  await mkdir(work);
  const limits = { memoryMegabytes: 96, work, readable: readablePlaces([MODULE]) };
  const pool = new PipelinePool({ ...PIPELINE_PROGRAM, compileCache: null }, limits, silentLogger);
  const run = () =>
    pool.run({
      module: MODULE,
      folder: join(work, 'gone'),
      timeoutSeconds: 10,
      readSeconds: 10,
      signal: new AbortController().signal,
      onEvent: () => {},
      settled: async () => {},
    });
  await expect(run()).rejects.toMatchObject({ code: 'ENOENT' });
  expect(await readdir(work)).toEqual([]);
  await pool.close();
  await rm(dataDir, { recursive: true });
});
