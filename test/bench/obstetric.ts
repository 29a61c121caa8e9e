/**
 * A complete 20-week study: `node test/bench/obstetric.ts [rounds]`. The whole request in a warm
 * child process (reading, inference, interpretation, PDF, SR, previews, FHIR bundle), beside what
 * cannot be saved of it: every frame decoded once and as many images through the same networks. Turn by
 * turn, each in a process of its own. Prints a table and writes nothing else.
 */
import { execFile } from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { simulateObstetricStudy } from '../../models/phantom/study.ts';
import type { Job } from '../../pipelines/contract/job.ts';
import { INFERENCE, type InferenceRun } from '../../pipelines/inference/inference-channel.ts';
import { readRegistry } from '../../pipelines/inference/model-registry.ts';
import { type ModelSession, openSession } from '../../pipelines/inference/session.ts';
import { decodeBatch, frameBatches } from '../../pipelines/input/decode-frames.ts';
import { readStudy } from '../../pipelines/input/read-study.ts';
import { pipeline, prepare } from '../../src/obstetric-pipeline.ts';

const GA_DAYS = 140;
const SEED = 5;
const MODELS: Job['models'] = { allow: 'all', provider: 'cpu', threads: 1 };

/** One call of a model, as `INFERENCE` tells it. */
type Call = Pick<InferenceRun, 'model' | 'images'>;

interface Measure {
  seconds: number;
  processorSeconds: number;
  peakMegabytes: number;
  calls: Call[];
}

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

/** In a process of its own, its models open: the request. */
async function wholeRequest(folder: string): Promise<void> {
  const calls: Call[] = [];
  subscribe(INFERENCE.name, (run) => {
    const { model, images } = run as InferenceRun;
    calls.push({ model, images });
  });
  await prepare(MODELS);
  const measure = await measured(async () => {
    const end = await pipeline(folder, () => {}, new AbortController().signal);
    if (end.type !== 'done') throw new Error(end.detail);
  });
  console.log(JSON.stringify({ ...measure, calls }));
}

/** In a process of its own, its models open: decoding and inference alone, one after the other. */
async function rawCost(folder: string, calls: readonly Call[]): Promise<void> {
  const sessions = new Map<string, ModelSession>();
  for (const model of await readRegistry()) {
    if (calls.some((call) => call.model === model.id)) {
      sessions.set(model.id, await openSession(model, MODELS));
    }
  }
  const names = await readdir(join(folder, 'files'));
  const measure = await measured(async () => {
    const study = await readStudy(
      names.map((name) => ({ name, path: join(folder, 'files', name) })),
    );
    for (const batch of frameBatches(study.clips)) {
      await decodeBatch(batch, new AbortController().signal);
    }
    for (const { model, images } of calls) {
      const session = sessions.get(model);
      if (!session) throw new Error(`the request ran a model that is not here: ${model}`);
      const { width, height } = session.model.input;
      await session.run(Array.from({ length: images }, () => new Float32Array(width * height)));
    }
  });
  console.log(JSON.stringify({ ...measure, calls: [] }));
}

async function inOwnProcess(...args: string[]): Promise<Measure> {
  const command = [fileURLToPath(import.meta.url), ...args];
  const { stdout } = await promisify(execFile)(process.execPath, command, {
    maxBuffer: 64 * 1024 * 1024,
  });
  return JSON.parse(stdout);
}

async function layOut(folder: string): Promise<void> {
  const { files } = await simulateObstetricStudy({
    seed: SEED,
    gaDays: GA_DAYS,
    contents: 'complete',
  });
  await mkdir(join(folder, 'files'), { recursive: true });
  await mkdir(join(folder, 'artifacts'));
  for (const { name, bytes } of files) await writeFile(join(folder, 'files', name), bytes);
  const job: Job = {
    endpoint: 'us/obstetric/interpret',
    version: '1.0.0',
    files: files.map(({ name }) => name),
    priorFiles: [],
    options: { dating: { ga_days: GA_DAYS }, report: true },
    clinicalContext: {},
    models: MODELS,
  };
  await writeFile(join(folder, 'job.json'), JSON.stringify(job));
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

async function compare(rounds: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'obstetric-bench-'));
  try {
    await layOut(join(folder, 'study'));
    const whole: Measure[] = [];
    const raw: Measure[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const own = join(folder, `round_${round}`);
      await cp(join(folder, 'study'), own, { recursive: true });
      const request = await inOwnProcess('whole', own);
      whole.push(request);
      await writeFile(join(folder, 'calls.json'), JSON.stringify(request.calls));
      raw.push(await inOwnProcess('raw', own, join(folder, 'calls.json')));
    }
    console.log('| | s | processor s | peak MB |\n| --- | --- | --- | --- |');
    const request = row('whole request', whole);
    const floor = row('decoding and inference alone', raw);
    const inputs = whole[0]?.calls.reduce((sum, { images }) => sum + images, 0);
    const models = new Set(whole[0]?.calls.map(({ model }) => model));
    console.log(`${inputs} images through ${models.size} networks`);
    console.log(
      `ratio ${(request.seconds / floor.seconds).toFixed(2)}, of the processor ${(request.processor / floor.processor).toFixed(2)}`,
    );
  } finally {
    await rm(folder, { recursive: true });
  }
}

const [mode = '3', folder = '', calls = ''] = process.argv.slice(2);
if (mode === 'whole') await wholeRequest(folder);
else if (mode === 'raw') {
  await rawCost(folder, JSON.parse(await readFile(calls, 'utf8')));
} else await compare(Number(mode));
