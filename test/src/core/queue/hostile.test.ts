import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PIPELINE_PROGRAM } from '../../../../src/app/pipelines/program.ts';
import { PipelinePool } from '../../../../src/core/queue/pipeline-process.ts';
import { readablePlaces } from '../../../../src/core/queue/worker.ts';
import { silentLogger } from '../../../../src/platform/logging/logger.ts';

const HOSTILE = new URL('./pipelines/hostile.ts', import.meta.url).href;

test('a hostile pipeline reaches neither data, processes nor network', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'sonogate-hostile-'));
  const work = join(dataDir, 'work');
  const folder = join(work, 'req_1');
  await mkdir(folder, { recursive: true });
  await mkdir(join(work, 'req_2'));
  await writeFile(join(work, 'req_2', 'job.json'), 'of another request');
  await mkdir(join(dataDir, 'database'));
  await writeFile(join(dataDir, 'database', 'PG_VERSION'), '17');
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await writeFile(join(folder, 'job.json'), JSON.stringify({ options: { behaviour: port } }));

  const limits = { memoryMegabytes: 256, work, readable: readablePlaces([HOSTILE]) };
  await mkdir(join(dataDir, 'compiled', 'pipelines'), { recursive: true });
  const program = { ...PIPELINE_PROGRAM, compileCache: join(dataDir, 'compiled') };
  const pool = new PipelinePool(program, limits, silentLogger);
  const outcome = await pool.run({
    module: HOSTILE,
    folder,
    timeoutSeconds: 40,
    readSeconds: 40,
    signal: new AbortController().signal,
    onEvent: () => {},
    settled: async () => {},
  });
  const { options } = JSON.parse(await readFile(join(folder, 'job.json'), 'utf8'));
  expect(options).toEqual({ behaviour: port });
  await pool.close();
  expect(await readdir(work)).toEqual(['req_1', 'req_2']);
  server.close();
  await rm(dataDir, { recursive: true });

  const { message = '' } = outcome as { message?: string };
  const became = JSON.parse(/became (\{.*\})/.exec(message)?.[1] ?? 'null');
  expect(became, JSON.stringify(outcome)).not.toBeNull();
  const done = Object.entries(became).filter(([, code]) => code !== 'ERR_ACCESS_DENIED');
  expect(done).toEqual([]);
  expect(Object.keys(became)).toHaveLength(21);
  expect(connections).toBe(0);
});
