import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Answer, Task } from './child.ts';
import { randomOf } from './mutate.ts';

/**
 * Fuzzes the study reader: mutates generated files and those in a folder, and reads them in a child
 * process with a memory limit and a hang detector. By hand:
 *
 * node test/fuzz/reader.ts --minutes 10 --seed 1 --data ../shared/data --out fuzz-findings
 *
 * Each input that broke the reader is written to `--out` with its error. The exit status is 1 if
 * there are any such inputs. Nothing derived from the data folder may be committed.
 */
const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string', default: '1' },
    data: { type: 'string', default: '' },
    /** Mutates only the samples whose names contain this text; if it is empty, all samples. */
    only: { type: 'string', default: '' },
    out: { type: 'string', default: 'fuzz-findings' },
  },
});

const HEAP_MIB = 512;
/** At rest, with every codec loaded, resident memory is about 250 MiB. */
const RESIDENT_BYTES = 1.5 * 1024 ** 3;
/** Limit of the processor time. The largest sample takes a tenth of it. */
const SLOW_CPU_MS = 5_000;
/** Limit of the wall-clock time, which is generous because the machine may be loaded. */
const HANG_MS = 60_000;
const HANG = `no answer after ${HANG_MS} ms`;
const MOST_SAMPLE_BYTES = 1024 ** 2;
const PAGE_BYTES = 4096;

const lastInput = join(options.out, 'last-input');
const random = randomOf(Number(options.seed));
const findings = new Map<string, number>();
let executions = 0;
let slowest = 0;
let peak = 0;

async function residentBytes(pid: number): Promise<number> {
  const pages = (await readFile(`/proc/${pid}/statm`, 'utf8').catch(() => '0 0')).split(' ')[1];
  return Number(pages) * PAGE_BYTES;
}

/**
 * Returns the processor time used by a process, in ms (proc(5): fields 14 and 15, in ticks of 10
 * ms).
 */
async function processorMs(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return 10 * (Number(fields[11]) + Number(fields[12]));
}

/**
 * Returns the error without its numbers, so that one fault is kept once or twice instead of a
 * thousand times.
 */
function faultOf(name: string, error: string): string {
  const lines = error.split('\n').slice(0, 3).join(' ');
  return `${name}: ${lines.replaceAll(/\d+/g, '#')}`;
}

async function keep(name: string, error: string, bytes: Buffer | null): Promise<void> {
  const fault = faultOf(name, error);
  const count = (findings.get(fault) ?? 0) + 1;
  findings.set(fault, count);
  if (count > 2) return;
  const path = join(options.out, `${findings.size}-${count}-${name}`);
  if (bytes) await writeFile(path, bytes);
  else await copyFile(lastInput, path);
  await writeFile(`${path}.txt`, error);
  process.stderr.write(`${path}: ${error.split('\n')[0]}\n`);
}

async function startChild(): Promise<ChildProcess> {
  const child = fork(
    join(import.meta.dirname, 'child.ts'),
    [options.data, String(MOST_SAMPLE_BYTES), lastInput, options.only],
    { execArgv: [`--max-old-space-size=${HEAP_MIB}`], serialization: 'json' },
  );
  await once(child, 'message');
  return child;
}

type Outcome = { kind: 'answer'; answer: Answer } | { kind: 'broken'; how: string };

/** Runs one task. Ends a child that hangs, dies or uses too much memory, and reports the fault. */
async function run(child: ChildProcess, task: Task): Promise<Outcome> {
  const ending = new AbortController();
  const { signal } = ending;
  const before = await processorMs(child.pid ?? 0);
  const answered = once(child, 'message', { signal }).then(
    ([answer]: Answer[]): Outcome =>
      answer ? { kind: 'answer', answer } : { kind: 'broken', how: 'no answer' },
  );
  const died = once(child, 'exit', { signal }).then(
    ([code, killedBy]): Outcome => ({
      kind: 'broken',
      how: `the child ended with ${code ?? killedBy}`,
    }),
  );
  const hung = new Promise<Outcome>((resolve) => {
    const timer = setTimeout(() => resolve({ kind: 'broken', how: HANG }), HANG_MS);
    signal.addEventListener('abort', () => clearTimeout(timer));
  });
  child.send(task);
  const outcome = await Promise.race([answered, died, hung]);
  ending.abort();
  await Promise.allSettled([answered, died]);
  if (outcome.kind === 'answer' || outcome.how !== HANG) return outcome;
  const took = (await processorMs(child.pid ?? 0)) - before;
  return { ...outcome, how: `${HANG}: ${took} ms of the processor` };
}

await mkdir(options.out, { recursive: true });
const until = Date.now() + Number(options.minutes) * 60_000;
let child = await startChild();
while (Date.now() < until) {
  const pick = () => Math.floor(random() * 2 ** 31);
  const task: Task = { sample: pick(), other: pick(), seed: pick() };
  const outcome = await run(child, task);
  executions += 1;
  if (outcome.kind === 'answer') {
    const { name, error, bytes, cpuMs } = outcome.answer;
    slowest = Math.max(slowest, cpuMs);
    if (error) await keep(name, error, Buffer.from(bytes ?? '', 'base64'));
    if (cpuMs > SLOW_CPU_MS) await keep(name, `slow: ${Math.round(cpuMs)} ms`, null);
    if (executions % 20 !== 0) continue;
    const resident = await residentBytes(child.pid ?? 0);
    peak = Math.max(peak, resident);
    if (resident <= RESIDENT_BYTES) continue;
    await keep(name, `resident memory of ${Math.round(resident / 1024 ** 2)} MiB`, null);
  } else {
    await keep('crash', outcome.how, null);
  }
  child.kill('SIGKILL');
  child = await startChild();
}
child.kill('SIGKILL');
process.stdout.write(
  `${executions} executions, ${findings.size} kinds of findings, slowest ${Math.round(slowest)} ms of the processor, ` +
    `peak ${Math.round(peak / 1024 ** 2)} MiB resident\n`,
);
for (const [fault, count] of findings) process.stdout.write(`${count} x ${fault}\n`);
process.exitCode = findings.size > 0 ? 1 : 0;
