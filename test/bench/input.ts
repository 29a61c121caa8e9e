/**
 * Reading pixels: `node test/bench/input.ts`. Decodes every frame of a 100-frame cine to RGB, as
 * JPEG, RLE, JPEG 2000 and MP4, taking turns with DCMTK, GDCM and FFmpeg on the same file. Also
 * reads the headers of 1,000 files, compared with dcmdump. Prints tables and writes nothing else.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { DECODING } from '../../pipelines/input/decode-frames.ts';
import { readDicomHeader } from '../../pipelines/input/dicom/header.ts';
import { readStudy } from '../../pipelines/input/read-study.ts';
import { withByteSource } from '../../pipelines/input/study-file.ts';
import { inParallel } from '../../src/platform/in-parallel.ts';
import { ffmpeg } from '../peers/ffmpeg.ts';
import { region, ultrasound } from '../pipelines/input/dicom-sample.ts';

const WIDTH = 800;
const HEIGHT = 600;
const FRAMES = 100;
const HEADERS = 1000;
const ROUNDS = 3;

interface Measure {
  seconds: number;
  peakMegabytes: number;
}

/** Returns a moving fan of grey speckle on black, as RGB. */
function frame(index: number): Buffer {
  const rgb = Buffer.alloc(WIDTH * HEIGHT * 3);
  let seed = index + 1;
  for (let y = 0; y < HEIGHT; y += 1) {
    for (let x = 0; x < WIDTH; x += 1) {
      if (Math.abs(x - WIDTH / 2) > 60 + y / 2) continue;
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
      const tissue = 90 + 60 * Math.sin((x + 3 * index) / 47) * Math.cos((y - index) / 31);
      const value = Math.max(0, Math.min(255, tissue + (seed >>> 26)));
      rgb.fill(value, (y * WIDTH + x) * 3, (y * WIDTH + x) * 3 + 3);
    }
  }
  return rgb;
}

async function run(program: string, args: readonly string[]): Promise<void> {
  await promisify(execFile)(program, args, { env: { ...process.env, TCP_NODELAY: '1' } });
}

/** Measures the run time and the peak resident memory of a program. */
async function measureProgram(program: string, args: readonly string[]): Promise<Measure> {
  const begin = performance.now();
  const child = spawn(program, args, { stdio: 'ignore' });
  const exit = once(child, 'exit');
  let peakMegabytes = 0;
  while (child.exitCode === null && child.signalCode === null) {
    const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '');
    const kilobytes = Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0);
    peakMegabytes = Math.max(peakMegabytes, kilobytes / 1024);
    await Promise.race([exit, delay(5)]);
  }
  const seconds = (performance.now() - begin) / 1000;
  if (child.exitCode !== 0) throw new Error(`${program} ${args.join(' ')} failed`);
  return { seconds, peakMegabytes };
}

/** Runs in a separate process: reads one file and decodes all its frames as a pipeline does. */
async function decodeAll(path: string): Promise<void> {
  const begin = performance.now();
  const { clips } = await readStudy([{ name: 'cine', path }]);
  const waiting = (clips[0]?.frames ?? []).values();
  let decoded = 0;
  const next = async () => {
    for (const { rgb } of waiting) {
      await rgb();
      decoded += 1;
    }
  };
  await Promise.all(Array.from({ length: DECODING.atOnce }, next));
  if (decoded !== FRAMES) throw new Error(`${decoded} frames were decoded`);
  const seconds = (performance.now() - begin) / 1000;
  const peakMegabytes = process.resourceUsage().maxRSS / 1024;
  console.log(JSON.stringify({ seconds, peakMegabytes }));
}

async function measureOurs(path: string): Promise<Measure> {
  const args = [fileURLToPath(import.meta.url), path];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return JSON.parse(stdout);
}

const median = (values: readonly number[]) =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

async function compare(
  name: string,
  path: string,
  program: string,
  args: readonly string[],
): Promise<void> {
  const ours: Measure[] = [];
  const theirs: Measure[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    theirs.push(await measureProgram(program, args));
    ours.push(await measureOurs(path));
  }
  const rates = [ours, theirs].map((all) => FRAMES / median(all.map(({ seconds }) => seconds)));
  const [our = 0, their = 0] = rates;
  const peaks = [ours, theirs].map((all) =>
    Math.max(...all.map(({ peakMegabytes }) => peakMegabytes)).toFixed(0),
  );
  const [ourRate, theirRate] = rates.map((rate) => rate.toPrecision(3));
  const cells = [name, ourRate, peaks[0], program, theirRate, peaks[1]];
  console.log(`| ${cells.join(' | ')} | ${(our / their).toFixed(2)} |`);
}

async function compareCines(folder: string): Promise<void> {
  const pixels = Buffer.concat(Array.from({ length: FRAMES }, (_, index) => frame(index)));
  const file = (name: string) => join(folder, name);
  await writeFile(file('raw'), pixels);
  const native = ultrasound({
    sopClass: '1.2.840.10008.5.1.4.1.1.3.1',
    columns: WIDTH,
    rows: HEIGHT,
    frames: FRAMES,
    samples: 3,
    photometric: 'RGB',
    planar: 0,
    pixels: ['7FE00010', 'OB', pixels],
  });
  await writeFile(file('native.dcm'), native);
  await run('dcmcjpeg', ['+eb', '+q', '90', file('native.dcm'), file('jpeg.dcm')]);
  await run('dcmcrle', [file('native.dcm'), file('rle.dcm')]);
  await run('gdcmconv', ['--j2k', file('native.dcm'), file('j2k.dcm')]);
  const raw = ['-f', 'rawvideo', '-pix_fmt', 'rgb24', '-s', `${WIDTH}x${HEIGHT}`, '-r', '30'];
  const h264 = ['-c:v', 'libx264', '-pix_fmt', 'yuv420p'];
  await ffmpeg([...raw, '-i', file('raw'), ...h264, file('cine.mp4')]);
  console.log(`${FRAMES} frames of ${WIDTH} x ${HEIGHT}, RGB of each, ${ROUNDS} rounds:\n`);
  console.log('| cine | frames/s | peak MB | beside | frames/s | peak MB | ratio |');
  console.log('| --- | --- | --- | --- | --- | --- | --- |');
  const out = file('out.dcm');
  await compare('JPEG baseline', file('jpeg.dcm'), 'dcmdjpeg', [file('jpeg.dcm'), out]);
  await compare('RLE', file('rle.dcm'), 'dcmdrle', [file('rle.dcm'), out]);
  await compare('JPEG 2000', file('j2k.dcm'), 'gdcmconv', ['--raw', file('j2k.dcm'), out]);
  const rgb = ['-f', 'rawvideo', '-pix_fmt', 'rgb24', '-y', '/dev/null'];
  const decode = ['-v', 'error', '-nostdin', '-i', file('cine.mp4'), ...rgb];
  await compare('MP4, H.264', file('cine.mp4'), 'ffmpeg', decode);
}

async function compareHeaders(folder: string): Promise<void> {
  const headers = join(folder, 'headers');
  await mkdir(headers);
  const regions = Array.from({ length: 4 }, () => region());
  const names = Array.from({ length: HEADERS }, (_, index) => join(headers, `${index}.dcm`));
  const image = ultrasound({
    columns: 200,
    rows: 100,
    regions,
    pixels: ['7FE00010', 'OB', Buffer.alloc(20_000)],
  });
  for (const name of names) await writeFile(name, image);
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    theirs.push(
      (await measureProgram('dcmdump', ['-q', '+sd', '+P', '0028,0010', headers])).seconds,
    );
    const begin = performance.now();
    await inParallel(names, DECODING.files, (name) => withByteSource(name, readDicomHeader));
    ours.push((performance.now() - begin) / 1000);
  }
  const [our, their] = [HEADERS / median(ours), HEADERS / median(theirs)];
  console.log('\n| headers | files/s | dcmdump files/s | ratio |\n| --- | --- | --- | --- |');
  const cells = [HEADERS, our.toFixed(0), their.toFixed(0), (our / their).toFixed(2)];
  console.log(`| ${cells.join(' | ')} |`);
}

const [path] = process.argv.slice(2);
if (path) {
  await decodeAll(path);
} else {
  const folder = await mkdtemp(join(tmpdir(), 'bench-input-'));
  try {
    await compareCines(folder);
    await compareHeaders(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}
