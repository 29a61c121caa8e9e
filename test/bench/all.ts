/**
 * All tables of docs/benchmarks.md in one run: `npm run bench -- [--only TEXT] [--short]`. Starts
 * one benchmark after the other, each in a separate process, so that none of them sees the memory
 * or the threads of another. `--short` passes the smaller sizes below. If a benchmark fails, the
 * others still run, and the exit status is 1.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

interface Benchmark {
  /** File name without extension. */
  program: string;
  /** Heading of its section in docs/benchmarks.md. */
  section: string;
  /** Arguments of the full and of the short run. */
  full?: string[];
  short?: string[];
}

const BENCHMARKS: readonly Benchmark[] = [
  {
    program: 'intake',
    section: 'Intake beside other receivers',
    short: ['--rounds', '1', '--studies', '300'],
  },
  { program: 'dimse', section: 'Reception of one large object' },
  {
    program: 'listener',
    section: 'Fifty associations, and a hundred thousand studies',
    short: ['--rounds', '1', '--studies', '500', '--history', '1000'],
  },
  { program: 'release', section: 'From the release to the job', short: ['--studies', '10'] },
  { program: 'http', section: 'The HTTP door' },
  { program: 'input', section: 'Reading pixels' },
  {
    program: 'obstetric',
    section: 'A complete study, compared with its decoding and inference',
    short: ['1'],
  },
  {
    program: 'echo',
    section: 'A complete study, compared with its decoding and inference',
    short: ['1'],
  },
  {
    program: 'first-request',
    section: 'The first request after a start',
    short: ['--requests', '2'],
  },
  { program: 'memory', section: 'Memory of each role' },
  {
    program: 'growth',
    section: 'A long history',
    full: ['--studies', '10000', '--rounds', '10'],
    short: ['--studies', '1000', '--rounds', '10'],
  },
  {
    program: 'processes',
    section: 'Several processes of one site',
    short: ['--studies', '200', '--requests', '10'],
  },
  { program: 'mock-lane', section: 'Test keys beside a live study', short: ['--calls', '100'] },
  { program: 'review', section: 'A change in a review', short: ['--rounds', '3'] },
  { program: 'hc18', section: 'Errors of lengths by size', short: ['--limit', '20'] },
];

const { values: options } = parseArgs({
  options: { only: { type: 'string', default: '' }, short: { type: 'boolean', default: false } },
});

const failed: string[] = [];
for (const { program, section, full = [], short = full } of BENCHMARKS) {
  if (!program.includes(options.only)) continue;
  const args = options.short ? short : full;
  const command = ['node', `test/bench/${program}.ts`, ...args].join(' ');
  const load = loadavg()[0]?.toFixed(1);
  process.stdout.write(`\n## ${section}\n\n\`${command}\`, load ${load} at its start\n\n`);
  const path = fileURLToPath(new URL(`./${program}.ts`, import.meta.url));
  const child = spawn(process.execPath, [path, ...args], { stdio: 'inherit' });
  const [status] = (await once(child, 'exit')) as [number | null];
  if (status !== 0) failed.push(program);
}
if (failed.length > 0) {
  process.stdout.write(`\nFailed: ${failed.join(', ')}\n`);
  process.exitCode = 1;
}
