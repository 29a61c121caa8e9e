/**
 * A 60-clip echo study: `node test/bench/echo.ts [clips]`. The whole pipeline from files to documents,
 * beside the raw cost of its decoding and inference (the frames whose view is named or that are outlined in
 * apical views, decoded and run through the same networks, and nothing else; the parasternal frames are not
 * in it), each in a process of its own. Prints seconds,
 * the ratio and the peak memory of the pipeline; writes nothing else. The clips are phantoms.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { echoStudy } from '../../models/phantom/echo/study.ts';
import type { Job } from '../../pipelines/contract/job.ts';
import type { Clip } from '../../pipelines/contract/study.ts';
import { openHeartLocator } from '../../pipelines/echo/locate/open-heart-locator.ts';
import { sectorOf } from '../../pipelines/echo/locate/sector.ts';
import { decodeBatch } from '../../pipelines/input/decode-frames.ts';
import { readStudy } from '../../pipelines/input/read-study.ts';
import { pipeline } from '../../src/echo-pipeline.ts';

const CLIPS = Number(process.argv[2] ?? 60);
const MODELS: Job['models'] = { allow: 'all', provider: 'cpu', threads: availableParallelism() };
const HERE = fileURLToPath(import.meta.url);
const ROLES = ['whole', 'raw'] as const;
type Role = (typeof ROLES)[number];

/** As many phantom studies as it takes, each another heart: the same file twice would be read once. */
async function studyFolder(folder: string): Promise<void> {
  await mkdir(join(folder, 'files'), { recursive: true });
  const names: { name: string }[] = [];
  for (let seed = 11; names.length < CLIPS; seed++) {
    const { files } = await echoStudy({ seed });
    for (const { name, bytes } of files.slice(0, CLIPS - names.length)) {
      const own = `${seed}-${name}`;
      await writeFile(join(folder, 'files', own), bytes);
      names.push({ name: own });
    }
  }
  const job: Job = {
    endpoint: 'us/echo/interpret',
    version: '1.0.0',
    files: names.map(({ name }) => name),
    priorFiles: [],
    options: { report: true },
    clinicalContext: { sex: 'male', age_years: 60, height_cm: 175, weight_kg: 75 },
    models: MODELS,
  };
  await writeFile(join(folder, 'job.json'), JSON.stringify(job));
}

const never = new AbortController().signal;

async function whole(folder: string): Promise<void> {
  const end = await pipeline(folder, () => {}, never);
  if (end.type !== 'done') throw new Error(end.detail);
}

interface Looked {
  views: Map<string, string | null>;
  /** Frames outlined by file. */
  apical: Map<string, number>;
}

/** What the pipeline looked at, from its own result. */
async function lookedAt(folder: string): Promise<Looked> {
  const { sections } = JSON.parse(await readFile(join(folder, 'result.json'), 'utf8'));
  const dataOf = (id: string) => sections.find((one: { id: string }) => one.id === id).data;
  const views = new Map<string, string | null>();
  for (const { file, view } of dataOf('views').clips) views.set(file, view);
  const apical = new Map<string, number>();
  for (const { file, outlined } of dataOf('segment-chambers').clips ?? []) {
    apical.set(file, outlined);
  }
  return { views, apical };
}

/** Decodes and runs what the pipeline did, and does nothing with the answers. */
async function raw(folder: string): Promise<void> {
  const { apical } = await lookedAt(folder);
  const { files } = JSON.parse(await readFile(join(folder, 'job.json'), 'utf8')) as Job;
  const study = await readStudy(
    files.map((name) => ({ name, path: join(folder, 'files', name) })),
    { unpackTo: join(folder, 'unpacked-raw'), signal: never },
  );
  const locator = await openHeartLocator(MODELS);
  const decode = async (clip: Clip, indices: readonly number[]) => {
    const frames = indices.flatMap((index) => clip.frames[index] ?? []);
    const { decoded } = await decodeBatch(
      frames.map((frame) => ({ clip, frame })),
      never,
    );
    return decoded.map(({ image }) => image);
  };
  for (const clip of study.clips) {
    const count = clip.frames.length;
    if (clip.mode === 'spectral' || clip.mode === 'm-mode') {
      await decode(clip, [count - 1]);
      continue;
    }
    const some = await decode(clip, [0, Math.floor(count / 2), count - 1]);
    const fan = sectorOf(some);
    await locator.nameView?.(some, fan);
    const outlined = apical.get(clip.file) ?? 0;
    for (let start = 0; start < outlined; start += 8) {
      const own = Array.from({ length: Math.min(8, outlined - start) }, (_, i) => start + i);
      await locator.segment?.(await decode(clip, own), fan);
    }
  }
  await locator.close();
}

/** Runs a role in a process of its own: seconds, those of the processor, and its highest memory. */
async function measured(role: Role, folder: string) {
  const begin = performance.now();
  const child = spawn(process.execPath, [HERE, String(CLIPS), role, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const said = text(child.stdout);
  const exit = once(child, 'exit');
  let peakMegabytes = 0;
  while (child.exitCode === null && child.signalCode === null) {
    const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '');
    const kilobytes = Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0);
    peakMegabytes = Math.max(peakMegabytes, kilobytes / 1024);
    await delay(50);
  }
  const [code] = await exit;
  if (code !== 0) throw new Error(`${role} ended with ${code}`);
  const processorSeconds = Number(await said);
  return { seconds: (performance.now() - begin) / 1000, processorSeconds, peakMegabytes };
}

async function main(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'sonogate-bench-echo-'));
  try {
    await studyFolder(folder);
    const request = await measured('whole', folder);
    const alone = await measured('raw', folder);
    const { apical } = await lookedAt(folder);
    const outlined = [...apical.values()].reduce((sum, frames) => sum + frames, 0);
    const line = (name: string, { seconds, processorSeconds, peakMegabytes }: typeof request) =>
      `${name.padEnd(34)}${seconds.toFixed(1).padStart(8)} s${processorSeconds.toFixed(1).padStart(8)} s of the processor${peakMegabytes.toFixed(0).padStart(8)} MB\n`;
    process.stdout.write(
      `${CLIPS} clips, ${outlined} apical frames outlined in ${apical.size} clips\n`,
    );
    process.stdout.write(line('whole request', request));
    process.stdout.write(line('decoding and inference alone', alone));
    const ofProcessor = request.processorSeconds / alone.processorSeconds;
    process.stdout.write(
      `ratio ${(request.seconds / alone.seconds).toFixed(2)}, of the processor ${ofProcessor.toFixed(2)}\n`,
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const [, , , role, given] = process.argv;
if (given) {
  await (role === 'whole' ? whole : raw)(given);
  const { user, system } = process.cpuUsage();
  process.stdout.write(String((user + system) / 1e6));
} else await main();
