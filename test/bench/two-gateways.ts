/**
 * Two gateways with the role `dimse` and an embedded database take turns: `node
 * test/bench/two-gateways.ts [--other FOLDER] [--set NAME=VALUE] [--flag FLAG] [--rounds 5] [--studies
 * 400]`. The first is that of this folder. The second is that of another folder of the project, such
 * as a work tree of an earlier version, or has another environment variable or flag of Node.js; the
 * two options may be repeated. In each round, each receives that many studies of one object of 20 kB
 * over 50 associations. Prints resident memory, processor time and the delay of the event loop of
 * both, which can be compared on a busy machine too. Prints a table and writes nothing else.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { dicomFile } from '../dimse/dicom-file.ts';
import {
  loopDelayOf,
  printTable,
  processorSeconds,
  residentMegabytes,
  sendOverAssociations,
  startSonogate,
} from './receivers.ts';

const { values: options } = parseArgs({
  options: {
    other: { type: 'string', default: '.' },
    set: { type: 'string', multiple: true, default: [] },
    flag: { type: 'string', multiple: true, default: [] },
    rounds: { type: 'string', default: '5' },
    studies: { type: 'string', default: '400' },
  },
});
const ROUNDS = Number(options.rounds);
const STUDIES = Number(options.studies);
const OBJECT_BYTES = 20_000;
/** Until then the gateway optimizes its database, for which it needs several hundred megabytes. */
const SETTLED_MS = 10_000;

const folder = await mkdtemp(join(tmpdir(), 'sonogate-bench-'));
const gateways: Awaited<ReturnType<typeof start>>[] = [];
try {
  gateways.push(await start('this one', {}));
  const set = Object.fromEntries(options.set.map((each) => each.split(/=(.*)/s)));
  const tree = resolve(options.other);
  gateways.push(await start('the other', { tree, flags: options.flag, environment: set }));
  await pause(SETTLED_MS);
  for (const gateway of gateways) gateway.atRest = await residentMegabytes(gateway.pid);
  for (let round = 0; round < ROUNDS; round += 1) {
    const paths = await studiesOf(round);
    for (const gateway of gateways) await measure(gateway, paths);
  }
  await print();
} finally {
  for (const { receiver } of gateways) await receiver.stop();
  await rm(folder, { recursive: true, force: true });
}

async function start(
  name: string,
  { environment = {}, ...program }: Omit<Parameters<typeof startSonogate>[0], 'name'>,
) {
  const delay = loopDelayOf(join(folder, `${name}.json`));
  const variables = { ...environment, ...delay.environment };
  const receiver = await startSonogate({ name, environment: variables, ...program });
  const rounds: { processor: number; p50: number; p99: number }[] = [];
  return { name, receiver, pid: receiver.pid ?? 0, delay, atRest: Number.NaN, rounds };
}

async function studiesOf(round: number): Promise<string[]> {
  const paths: string[] = [];
  for (let n = 0; n < STUDIES; n += 1) {
    const studyInstanceUid = `1.2.840.98.${round}.${n}`;
    const path = join(folder, `${n}.dcm`);
    const pixels = Buffer.alloc(OBJECT_BYTES, n);
    const object = { studyInstanceUid, sopInstanceUid: `${studyInstanceUid}.1`, pixels };
    await writeFile(path, dicomFile(object));
    paths.push(path);
  }
  return paths;
}

async function measure(gateway: (typeof gateways)[number], paths: string[]): Promise<void> {
  const { name, receiver, pid, delay, rounds } = gateway;
  await delay.take(pid);
  const before = await processorSeconds(pid);
  const { failed } = await sendOverAssociations(receiver, paths);
  if (failed > 0) throw new Error(`${name}: ${failed} studies failed`);
  const { p50, p99 } = await delay.take(pid);
  const processor = ((await processorSeconds(pid)) - before) / STUDIES;
  rounds.push({ processor: processor * 1000, p50, p99 });
}

async function print(): Promise<void> {
  const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
  const rows: string[][] = [];
  for (const { name, pid, atRest, rounds } of gateways) {
    const afterwards = await residentMegabytes(pid);
    const medians = (['processor', 'p50', 'p99'] as const).map((key) =>
      median(rounds.map((round) => round[key])).toFixed(1),
    );
    rows.push([name, atRest.toFixed(0), afterwards.toFixed(0), ...medians]);
  }
  const head = ['gateway', 'at rest, MB', 'afterwards, MB', 'processor ms for each study'];
  printTable([...head, 'event loop p50 ms', 'p99 ms'], rows);
}
