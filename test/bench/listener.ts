/**
 * Reception by many associations at a time: `node test/bench/listener.ts`. 50 associations side by
 * side bring 2,000 studies of one object, each on a separate association, to each receiver: ours
 * on the embedded database and on PostgreSQL, each empty and with 100,000 studies, DCMTK `storescp
 * +B --fork` and Orthanc. All run at once and take their turns in rounds, so that each sees the same
 * machine. Prints a table and writes nothing else.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { sendFiles } from '../../dimse/send/store-scu.ts';
import { migrate } from '../../src/platform/database/migrate.ts';
import { openDatabase } from '../../src/platform/database/open.ts';
import { silentLogger } from '../../src/platform/logging/logger.ts';
import { dicomFile } from '../dimse/dicom-file.ts';
import { serve, siteFile } from '../gateway/serve.ts';
import { siteSettings } from '../gateway/site.ts';
import { startStorescp } from '../peers/dcmtk.ts';
import { freshDataDir } from '../peers/embedded.ts';
import { startOrthanc } from '../peers/orthanc.ts';
import { startPostgres } from '../peers/postgres.ts';
import { fillHistory } from './history.ts';

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
const ASSOCIATIONS = 50;
const OBJECT_BYTES = 20_000;

interface Receiver {
  name: string;
  aeTitle: string;
  port: number;
  /** Of all rounds. */
  seconds: number;
  latencies: number[];
  failed: number;
  stop(): Promise<void>;
}

const folder = await mkdtemp(join(tmpdir(), 'sonogate-bench-'));
const postgres = await startPostgres({ durable: true });
const receivers: Receiver[] = [];
try {
  for (const history of [0, HISTORY]) receivers.push(await startOurs(history));
  if (postgres) {
    for (const history of [0, HISTORY]) {
      receivers.push(await startOurs(history, await postgres.createDatabase()));
    }
  }
  receivers.push(await startDcmtk());
  const orthanc = await startOrthanc();
  if (orthanc) {
    const { aeTitle, dicomPort: port } = orthanc;
    receivers.push({ ...untried('Orthanc'), aeTitle, port, stop: () => orthanc.stop() });
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const receiver of receivers) await send(receiver, round);
  }
  print();
} finally {
  for (const receiver of receivers) await receiver.stop();
  await postgres?.stop();
  await rm(folder, { recursive: true, force: true });
}

function untried(name: string) {
  return { name, seconds: 0, latencies: [], failed: 0 };
}

async function startOurs(history: number, databaseUrl?: string): Promise<Receiver> {
  const dataDir = await freshDataDir();
  const database = await openDatabase({ dataDir, databaseUrl, logger: silentLogger });
  await migrate(database);
  if (history > 0) await fillHistory(database, history);
  await database.close();
  const config = await siteFile(
    siteSettings(dataDir, {
      databaseUrl,
      roles: ['dimse'],
      dicom: { host: '127.0.0.1', port: 0, maxAssociations: 2 * ASSOCIATIONS },
      routing: { rules: [{ name: 'none', when: { modality: 'US' }, ignore: true }] },
    }),
  );
  const served = await serve(config, { SONOGATE_LOG_LEVEL: 'info' });
  return {
    ...untried(
      `Sonogate, ${databaseUrl ? 'PostgreSQL' : 'embedded database'}, ${history.toLocaleString('en')} studies before`,
    ),
    aeTitle: 'SONOGATE',
    port: served.dicomPort,
    async stop() {
      await served.stop('SIGTERM');
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

async function startDcmtk(): Promise<Receiver> {
  const to = join(folder, 'storescp');
  await mkdir(to);
  return {
    ...untried('DCMTK storescp +B --fork'),
    aeTitle: 'STORESCP',
    ...(await startStorescp(to, ['--fork'])),
  };
}

async function send(receiver: Receiver, round: number): Promise<void> {
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
  const node = {
    host: '127.0.0.1',
    port: receiver.port,
    aeTitle: receiver.aeTitle,
    callingAeTitle: 'CART',
    timeoutSeconds: 60,
  };
  const begin = performance.now();
  const association = async () => {
    for (let path = paths.pop(); path !== undefined; path = paths.pop()) {
      const sent = performance.now();
      const [result] = await sendFiles(node, [path]).catch(() => []);
      receiver.latencies.push(performance.now() - sent);
      if (result?.outcome !== 'stored') receiver.failed += 1;
    }
  };
  await Promise.all(Array.from({ length: ASSOCIATIONS }, association));
  receiver.seconds += (performance.now() - begin) / 1000;
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
  const table = [head, head.map(() => '---'), ...rows];
  process.stdout.write(`${table.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n`);
}
