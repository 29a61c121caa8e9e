import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { PIPELINE_PROGRAM } from '../../../../src/app/pipelines/program.ts';
import { COPY_OF_CACHE, CompileCache } from '../../../../src/core/queue/compile-cache.ts';
import { PipelinePool } from '../../../../src/core/queue/pipeline-process.ts';
import { readablePlaces } from '../../../../src/core/queue/worker.ts';
import { silentLogger } from '../../../../src/platform/logging/logger.ts';
import { VERSION } from '../../../../src/platform/version.ts';

const COMPILED = new URL('./pipelines/compiled.ts', import.meta.url).href;

let folder: string;
let place: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sonogate-compile-'));
  place = join(folder, 'place');
  await mkdir(place);
});
afterEach(() => rm(folder, { recursive: true }));

describe('the compile cache of the pipelines', () => {
  const writes = (text: string) => async (into: string) => {
    await writeFile(join(into, 'code'), text);
    return true;
  };

  test('is written once for the first processes, which start without it', async () => {
    let written = 0;
    const cache = new CompileCache(join(folder, 'cache'), (into) => {
      written += 1;
      return writes('compiled')(into);
    });
    expect(await cache.copyTo(place)).toBeNull();
    await cache.copyTo(place);
    await cache.write();
    expect(written).toBe(1);
    expect(await readdir(folder)).toEqual(['cache', 'place']);
  });

  test('is copied for later processes, so that none can change the code of another', async () => {
    const cache = new CompileCache(join(folder, 'cache'), writes('compiled'));
    await cache.copyTo(place);
    await cache.write();
    const copy = await cache.copyTo(place);
    expect(copy).toBe(join(place, COPY_OF_CACHE));
    await writeFile(join(copy ?? '', 'code'), 'changed');
    expect(await readFile(join(folder, 'cache/code'), 'utf8')).toBe('compiled');
  });

  test('is not kept if it was not written completely', async () => {
    const cache = new CompileCache(join(folder, 'cache'), async (into) => {
      await writeFile(join(into, 'code'), 'half');
      return false;
    });
    await cache.copyTo(place);
    await cache.write();
    expect(await readdir(folder)).toEqual(['place']);
  });

  test('is the first one if two gateways write it at the same time', async () => {
    const [first, second] = ['first', 'second'].map(
      (text) => new CompileCache(join(folder, 'cache'), writes(text)),
    ) as [CompileCache, CompileCache];
    await first.copyTo(place);
    await second.copyTo(place);
    await first.write();
    await second.write();
    const kept = await readFile(join(folder, 'cache/code'), 'utf8');
    expect(['first', 'second']).toContain(kept);
    expect(await readdir(folder)).toEqual(['cache', 'place']);
  });

  test('is cleared of what a killed gateway left behind, but not of what another is writing', async () => {
    for (const name of ['cache', 'cache-killed', 'cache-writing', 'caches-of-another']) {
      await mkdir(join(folder, name));
    }
    const anHourAgo = new Date(Date.now() - 3_600_000);
    for (const name of ['cache', 'cache-killed', 'caches-of-another']) {
      await utimes(join(folder, name), anHourAgo, anHourAgo);
    }
    const cache = new CompileCache(join(folder, 'cache'), writes('compiled'));
    cache.sweep();
    await cache.close();
    expect(await readdir(folder)).toEqual(['cache', 'cache-writing', 'caches-of-another', 'place']);
  });

  test('is left out if it cannot be written', async () => {
    await writeFile(join(folder, 'file'), '');
    const cache = new CompileCache(join(folder, 'file/cache'), writes('compiled'));
    expect(await cache.copyTo(place)).toBeNull();
    await cache.write();
    expect(await cache.copyTo(place)).toBeNull();
  });
});

test('a pipeline process uses a private copy of the compile cache once there is one', async () => {
  const work = join(folder, 'work');
  const caches = join(folder, 'caches');
  await mkdir(caches);
  const left = join(caches, `pipelines-${VERSION}-${process.version}-killed`);
  await mkdir(left);
  await utimes(left, 0, 0);
  const limits = { memoryMegabytes: 256, work, readable: readablePlaces([COMPILED]) };
  const program = { ...PIPELINE_PROGRAM, pipelines: [COMPILED], compileCache: caches };
  const usedBy = async (name: string) => {
    await mkdir(join(work, name), { recursive: true });
    const pool = new PipelinePool(program, limits, silentLogger);
    const outcome = await pool.run({
      module: COMPILED,
      folder: join(work, name),
      timeoutSeconds: 40,
      readSeconds: 40,
      signal: new AbortController().signal,
      onEvent: () => {},
      settled: async () => {},
    });
    await expect
      .poll(() => readdir(caches))
      .toEqual([expect.stringMatching(/^pipelines-[\d.]+-v\d+[\d.]+$/)]);
    await pool.close();
    return /compile cache: (.*?);/.exec((outcome as { message?: string }).message ?? '')?.[1];
  };

  expect(await usedBy('first')).toBe('none');
  expect(await usedBy('second')).toMatch(
    new RegExp(`^${work}/[^/]+/${COPY_OF_CACHE}/v${process.versions.node}`),
  );
  expect(await readdir(work), 'the copies are removed').toEqual(['first', 'second']);
});

test('a pool that is closed while a process starts leaves nothing behind', async () => {
  const work = join(folder, 'work');
  const caches = join(folder, 'caches');
  const cache = join(caches, `pipelines-${VERSION}-${process.version}`);
  await mkdir(cache, { recursive: true });
  await mkdir(join(work, 'request'), { recursive: true });
  for (let n = 0; n < 500; n += 1) await writeFile(join(cache, `${n}`), 'compiled');
  const limits = { memoryMegabytes: 256, work, readable: readablePlaces([COMPILED]) };
  const program = { ...PIPELINE_PROGRAM, pipelines: [COMPILED], compileCache: caches };
  const pool = new PipelinePool(program, limits, silentLogger);
  const run = pool.run({
    module: COMPILED,
    folder: join(work, 'request'),
    timeoutSeconds: 40,
    readSeconds: 40,
    signal: new AbortController().signal,
    onEvent: () => {},
    settled: async () => {},
  });
  const refused = expect(run).rejects.toThrow('closed');
  await pool.close();
  expect(await readdir(work)).toEqual(['request']);
  await refused;
});

test('the folder of a process that ended between two runs is removed', async () => {
  const work = join(folder, 'work');
  const limits = { memoryMegabytes: 256, work, readable: readablePlaces([COMPILED]) };
  const program = { ...PIPELINE_PROGRAM, compileCache: null };
  const pool = new PipelinePool(program, limits, silentLogger);
  const run = async () => {
    await mkdir(join(work, 'request'), { recursive: true });
    return pool.run({
      module: COMPILED,
      folder: join(work, 'request'),
      timeoutSeconds: 40,
      readSeconds: 40,
      signal: new AbortController().signal,
      onEvent: () => {},
      settled: async () => {},
    });
  };
  const places = async () => (await readdir(work)).filter((name) => name !== 'request');
  await run();
  const [first = ''] = await places();
  const processes = async () => {
    const found: number[] = [];
    for (const pid of await readdir('/proc')) {
      const command = await readFile(join('/proc', pid, 'cmdline'), 'utf8').catch(() => '');
      if (command.includes(`--allow-fs-write=${join(work, first)}`)) found.push(Number(pid));
    }
    return found;
  };
  for (const pid of await processes()) process.kill(pid);
  await expect.poll(processes).toEqual([]);
  // The pool learns of the end from an event that follows.
  await new Promise((resolve) => setTimeout(resolve, 200));
  await run();
  expect(await places()).not.toContain(first);
  await pool.close();
});
