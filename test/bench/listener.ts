/**
 * Reception over many simultaneous associations: `node test/bench/listener.ts`. 50 parallel
 * associations send 2,000 single-object studies, each over a separate association, to each
 * receiver: Sonogate on the embedded database and on PostgreSQL (each empty and with 100,000
 * studies), DCMTK `storescp +B --fork`, and Orthanc. All stay running and take turns in rounds, so
 * that all of them face the same machine load. Prints a table and writes nothing else.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { dicomFile } from '../dimse/dicom-file.ts';
import { startPostgres } from '../peers/postgres.ts';
import {
  printTable,
  type Receiver,
  sendOverAssociations,
  startDcmtk,
  startOrthancReceiver,
  startSonogate,
  type Traffic,
} from './receivers.ts';

const { values: options } = parseArgs({
  options: {
    studies: { type: 'string', default: '2000' },
    history: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '2' },
  },
});
const STUDIES = Number(options.studies);
const HISTORY = Number(options.history);
const ROUNDS = Number(options.rounds);
const OBJECT_BYTES = 20_000;

interface Tried extends Receiver, Traffic {}

const folder = await mkdtemp(join(tmpdir(), 'sonogate-bench-'));
const postgres = await startPostgres({ durable: true });
const receivers: Tried[] = [];
try {
  for (const history of [0, HISTORY]) receivers.push(untried(await startOurs(history)));
  if (postgres) {
    for (const history of [0, HISTORY]) {
      receivers.push(untried(await startOurs(history, await postgres.createDatabase())));
    }
  }
  receivers.push(untried(await startDcmtk()));
  const orthanc = await startOrthancReceiver();
  if (orthanc) receivers.push(untried(orthanc));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const receiver of receivers) await send(receiver, round);
  }
  print();
} finally {
  for (const receiver of receivers) await receiver.stop();
  await postgres?.stop();
  await rm(folder, { recursive: true, force: true });
}

function untried(receiver: Receiver): Tried {
  return { ...receiver, seconds: 0, latencies: [], failed: 0 };
}

function startOurs(history: number, databaseUrl?: string): Promise<Receiver> {
  const database = databaseUrl ? 'PostgreSQL' : 'embedded database';
  const name = `Sonogate, ${database}, ${history.toLocaleString('en')} studies before`;
  return startSonogate({ name, history, databaseUrl });
}

async function send(receiver: Tried, round: number): Promise<void> {
  const share = STUDIES / ROUNDS;
  const paths: string[] = [];
  for (let n = 0; n < share; n += 1) {
    const studyInstanceUid = `1.2.840.98.${round}.${n}`;
    const path = join(folder, `${n}.dcm`);
    const pixels = Buffer.alloc(OBJECT_BYTES, n);
    const object = { studyInstanceUid, sopInstanceUid: `${studyInstanceUid}.1`, pixels };
    await writeFile(path, dicomFile(object));
    paths.push(path);
  }
  const { seconds, latencies, failed } = await sendOverAssociations(receiver, paths);
  receiver.seconds += seconds;
  receiver.latencies.push(...latencies);
  receiver.failed += failed;
}

function print(): void {
  const best = Math.min(...receivers.map(({ seconds }) => seconds));
  const rows = receivers.map(({ name, seconds, latencies, failed }) => {
    const sorted = latencies.toSorted((a, b) => a - b);
    const at = (share: number) => (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(0);
    const each = [(STUDIES / seconds).toFixed(0), (seconds / best).toFixed(2)];
    return [name, ...each, at(0.5), at(0.99), at(0.9999), failed];
  });
  const head = [
    'receiver',
    'studies/s',
    'times the best',
    'p50 ms',
    'p99 ms',
    'longest ms',
    'failed',
  ];
  printTable(head, rows);
}
