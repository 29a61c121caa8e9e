/**
 * Intake compared with other receivers: `node test/bench/intake.ts [--rounds 3] [--studies 2000]
 * [--only TEXT]`; the rounds share the studies. DCMTK storescp, dicom-storescp (Rust), Orthanc and a
 * whole Sonogate (role dimse, embedded database) all stay running and take turns in each round, so
 * that all of them face the same machine load. Of these, only Sonogate syncs to the disk. Prints
 * each receiver's best time, the ratios, and the gateway's event-loop delay, memory and processor
 * time. Writes nothing else.
 */
import { mkdir, mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { dicomFile } from '../dimse/dicom-file.ts';
import { dcmtk } from '../peers/dcmtk.ts';
import {
  ASSOCIATIONS,
  loopDelayOf,
  printTable,
  processorSeconds,
  type Receiver,
  residentMegabytes,
  sendOverAssociations,
  startDcmtk,
  startOrthancReceiver,
  startRust,
  startSonogate,
} from './receivers.ts';

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    studies: { type: 'string', default: '2000' },
    only: { type: 'string', default: '' },
  },
});
const ROUNDS = Number(options.rounds);
/** Studies of each round, because a study that is known already would cost less. */
const STUDIES = Math.ceil(Number(options.studies) / ROUNDS);

const OBJECT_BYTES = 500_000;
const SMALL_BYTES = 20_000;
const FRAMES = 145;
const FRAME_BYTES = 600 * 800 * 3;

/**
 * One row of the table. `send` sends the objects to a receiver and returns the seconds this took.
 */
interface Work {
  name: string;
  send(receiver: Receiver, round: number): Promise<number>;
}

const folder = await mkdtemp(join(tmpdir(), 'sonogate-bench-'));
const loopDelay = loopDelayOf(join(folder, 'loop-delay.json'));
const allWorks: Work[] = [
  {
    name: '500 objects of 0.5 MB, one association',
    send: async (receiver, round) => {
      const from = await objects(`one-${round}`, 500, OBJECT_BYTES);
      return timed(() => storescu(receiver, from));
    },
  },
  {
    name: '8 associations of 60 such objects',
    send: async (receiver, round) => {
      const froms: string[] = [];
      for (let n = 0; n < 8; n += 1)
        froms.push(await objects(`eight-${round}-${n}`, 60, OBJECT_BYTES));
      return timed(() => Promise.all(froms.map((from) => storescu(receiver, from))));
    },
  },
  {
    name: 'one object of 209 MB',
    send: async (receiver, round) => {
      const from = await largeObject(round);
      return timed(() => storescu(receiver, from));
    },
  },
  {
    name: `${STUDIES} studies of 20 kB over ${ASSOCIATIONS} associations`,
    send: async (receiver, round) => {
      const from = await objects(`studies-${round}`, STUDIES, SMALL_BYTES, true);
      const paths = Array.from({ length: STUDIES }, (_, n) => join(from, `${n}.dcm`));
      const { seconds, failed } = await sendOverAssociations(receiver, paths);
      if (failed > 0) throw new Error(`${receiver.name}: ${failed} studies failed`);
      return seconds;
    },
  },
];
const works = allWorks.filter(({ name }) => name.includes(options.only));

const receivers: Receiver[] = [];
try {
  for (const start of [startDcmtk, startRust, startOrthancReceiver]) {
    const receiver = await start();
    if (receiver) receivers.push(receiver);
  }
  const ours = await startSonogate({ name: 'Sonogate', environment: loopDelay.environment });
  receivers.push(ours);
  const rows: string[][] = [];
  const delays: string[][] = [];
  for (const work of works) {
    const seconds = receivers.map((): number[] => []);
    await loopDelay.take(ours.pid ?? 0);
    const before = await processorSeconds(ours.pid ?? 0);
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [at, receiver] of receivers.entries()) {
        seconds[at]?.push(await work.send(receiver, round));
      }
    }
    const processor = ((await processorSeconds(ours.pid ?? 0)) - before) / ROUNDS;
    const { p50, p99, longest } = await loopDelay.take(ours.pid ?? 0);
    const memory = await residentMegabytes(ours.pid ?? 0);
    rows.push(rowOf(work, seconds));
    delays.push([
      work.name,
      ...[p50, p99, longest].map((value) => value.toFixed(1)),
      memory.toFixed(0),
      processor.toFixed(2),
    ]);
  }
  const others = receivers.filter((receiver) => receiver !== ours).map(({ name }) => name);
  printTable(
    ['best of rounds, s', ...receivers.map(({ name }) => name), ...others.map((n) => `× ${n}`)],
    rows,
  );
  process.stdout.write('\n');
  printTable(
    [
      'Sonogate',
      'event loop p50 ms',
      'p99 ms',
      'longest ms',
      'resident MB afterwards',
      'processor s per round',
    ],
    delays,
  );
} finally {
  for (const receiver of receivers) await receiver.stop();
  await rm(folder, { recursive: true, force: true });
}

function rowOf({ name }: Work, seconds: readonly number[][]): string[] {
  const best = seconds.map((of) => Math.min(...of));
  const own = best.at(-1) ?? Number.NaN;
  return [
    name,
    ...best.map((of) => of.toFixed(2)),
    ...best.slice(0, -1).map((of) => (own / of).toFixed(2)),
  ];
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now();
  await work();
  return (performance.now() - begin) / 1000;
}

async function storescu({ aeTitle, port }: Receiver, from: string): Promise<void> {
  const where = ['-aec', aeTitle, '127.0.0.1', String(port), '+sd', from];
  const { exitCode, output } = await dcmtk('storescu', ['-R', '-xe', '-pdu', '131072', ...where]);
  if (exitCode !== 0) throw new Error(`storescu to ${aeTitle}: ${output}`);
}

/**
 * Returns a folder of objects that belong either to one study or to one study each. It is created
 * on first use and then reused.
 */
async function objects(
  name: string,
  count: number,
  bytes: number,
  studyEach = false,
): Promise<string> {
  const into = join(folder, name);
  if (!(await mkdir(into, { recursive: true }))) return into;
  const root = `1.2.840.98.${[...name].map((letter) => letter.charCodeAt(0)).join('')}`;
  for (let n = 0; n < count; n += 1) {
    const studyInstanceUid = studyEach ? `${root}.${n}` : root;
    const object = dicomFile({
      studyInstanceUid,
      sopInstanceUid: `${root}.${n}.1`,
      pixels: Buffer.alloc(bytes, n),
    });
    await writeFile(join(into, `${n}.dcm`), object);
  }
  return into;
}

async function largeObject(round: number): Promise<string> {
  const into = join(folder, `large-${round}`);
  if (!(await mkdir(into, { recursive: true }))) return into;
  const head = dicomFile({
    sopInstanceUid: `1.2.840.7.${round}`,
    sopClassUid: '1.2.840.10008.5.1.4.1.1.3.1',
    pixels: Buffer.alloc(0),
  });
  head.writeUInt32LE(FRAMES * FRAME_BYTES, head.length - 4);
  const file = await open(join(into, 'object.dcm'), 'w');
  await file.writeFile(head);
  const frame = Buffer.alloc(FRAME_BYTES, 0x5a ^ round);
  for (let index = 0; index < FRAMES; index += 1) await file.writeFile(frame);
  await file.close();
  return into;
}
