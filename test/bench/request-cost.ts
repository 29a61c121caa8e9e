import { execFile } from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Job, Pipeline, Prepare } from '../../pipelines/contract/job.ts';
import type { Study } from '../../pipelines/contract/study.ts';
import { INFERENCE, type InferenceRun } from '../../pipelines/inference/inference-channel.ts';
import { readRegistry } from '../../pipelines/inference/model-registry.ts';
import { type ModelSession, openSession } from '../../pipelines/inference/session.ts';
import { type ClipFrame, decodeBatch } from '../../pipelines/input/decode-frames.ts';
import { readStudy } from '../../pipelines/input/read-study.ts';
import { SMALL_MEMORY } from '../../src/core/queue/pipeline-process.ts';

type Call = Pick<InferenceRun, 'model' | 'images'>;

interface Measure {
  seconds: number;
  processorSeconds: number;
  peakMegabytes: number;
  calls: Call[];
}

/**
 * How to measure an endpoint: the whole request, and the part of its cost that cannot be avoided.
 */
export interface MeasuredRequest {
  /** The benchmark's own file, which is started again for each measurement. */
  program: string;
  pipeline: Pipeline;
  prepare: Prepare;
  job: Omit<Job, 'version' | 'files' | 'priorFiles'>;
  files(): Promise<{ name: string; bytes: Uint8Array }[]>;
  /**
   * Decodes, in batches, the frames that the request decoded at least once. `folder` contains the
   * request's result.
   */
  decoded(study: Study, folder: string): Promise<Iterable<ClipFrame[]>>;
}

const never = new AbortController().signal;

async function measured(work: () => Promise<void>): Promise<Omit<Measure, 'calls'>> {
  const begin = performance.now();
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return {
    seconds: (performance.now() - begin) / 1000,
    processorSeconds: (user + system) / 1e6,
    peakMegabytes: process.resourceUsage().maxRSS / 1024,
  };
}

/**
 * Runs in a separate process with the models open: performs the request and records every model
 * call.
 */
async function wholeRequest({ pipeline, prepare, job }: MeasuredRequest, folder: string) {
  const calls: Call[] = [];
  subscribe(INFERENCE.name, (run) => {
    const { model, images } = run as InferenceRun;
    calls.push({ model, images });
  });
  await prepare(job.models);
  const measure = await measured(async () => {
    const end = await pipeline(folder, () => {}, never);
    if (end.type !== 'done') throw new Error(end.detail);
  });
  return { ...measure, calls };
}

/**
 * Runs in a separate process with the models open: only decodes and infers, one after the other.
 */
async function rawCost(
  { job, decoded }: MeasuredRequest,
  folder: string,
  calls: readonly Call[],
): Promise<Measure> {
  const sessions = new Map<string, ModelSession>();
  for (const model of await readRegistry()) {
    if (calls.some((call) => call.model === model.id)) {
      sessions.set(model.id, await openSession(model, job.models));
    }
  }
  const { files } = JSON.parse(await readFile(join(folder, 'job.json'), 'utf8')) as Job;
  const measure = await measured(async () => {
    const study = await readStudy(
      files.map((name) => ({ name, path: join(folder, 'files', name) })),
      { unpackTo: join(folder, 'unpacked-raw'), signal: never },
    );
    for (const batch of await decoded(study, folder)) await decodeBatch(batch, never);
    for (const { model, images } of calls) {
      const session = sessions.get(model);
      if (!session) throw new Error(`the request ran a model that is not here: ${model}`);
      const { width, height } = session.model.input;
      await session.run(Array.from({ length: images }, () => new Float32Array(width * height)));
    }
  });
  return { ...measure, calls: [] };
}

/** Starts the program with the memory settings of a pipeline process. */
async function inOwnProcess(program: string, ...args: string[]): Promise<Measure> {
  const { flags, environment } = SMALL_MEMORY;
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, program, ...args], {
    maxBuffer: 64 * 1024 * 1024,
    env: { ...process.env, ...environment },
  });
  return JSON.parse(stdout);
}

async function layOut({ job, files }: MeasuredRequest, folder: string): Promise<void> {
  await mkdir(join(folder, 'files'), { recursive: true });
  await mkdir(join(folder, 'artifacts'));
  const names: string[] = [];
  for (const { name, bytes } of await files()) {
    await writeFile(join(folder, 'files', name), bytes);
    names.push(name);
  }
  const whole: Job = { ...job, version: '1.0.0', files: names, priorFiles: [] };
  await writeFile(join(folder, 'job.json'), JSON.stringify(whole));
}

const median = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

function row(name: string, all: readonly Measure[]): { seconds: number; processor: number } {
  const seconds = median(all.map((one) => one.seconds));
  const processor = median(all.map((one) => one.processorSeconds));
  const peak = Math.max(...all.map((one) => one.peakMegabytes));
  console.log(`| ${name} | ${seconds.toFixed(1)} | ${processor.toFixed(1)} | ${peak.toFixed(0)} |`);
  return { seconds, processor };
}

/** Alternates the two measurements `rounds` times and prints the medians as a table. */
async function compare(request: MeasuredRequest, rounds: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'request-cost-'));
  try {
    await layOut(request, join(folder, 'study'));
    const whole: Measure[] = [];
    const raw: Measure[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const own = join(folder, `round_${round}`);
      await cp(join(folder, 'study'), own, { recursive: true });
      const asked = await inOwnProcess(request.program, 'whole', own);
      whole.push(asked);
      const calls = join(folder, 'calls.json');
      await writeFile(calls, JSON.stringify(asked.calls));
      raw.push(await inOwnProcess(request.program, 'raw', own, calls));
    }
    console.log('| | s | processor s | peak MB |\n| --- | --- | --- | --- |');
    const asked = row('whole request', whole);
    const floor = row('decoding and inference alone', raw);
    const inputs = whole[0]?.calls.reduce((sum, { images }) => sum + images, 0);
    const models = new Set(whole[0]?.calls.map(({ model }) => model));
    console.log(`${inputs} images through ${models.size} networks`);
    console.log(
      `ratio ${(asked.seconds / floor.seconds).toFixed(2)}, of the processor ${(asked.processor / floor.processor).toFixed(2)}`,
    );
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Runs the mode given on the command line: one measurement, or `rounds` of both. */
export async function measureRequest(request: MeasuredRequest, rounds: number): Promise<void> {
  const [mode, folder = '', calls = ''] = process.argv.slice(2);
  if (mode === 'whole') {
    process.stdout.write(JSON.stringify(await wholeRequest(request, folder)));
  } else if (mode === 'raw') {
    const known = JSON.parse(await readFile(calls, 'utf8')) as Call[];
    process.stdout.write(JSON.stringify(await rawCost(request, folder, known)));
  } else await compare(request, rounds);
}
