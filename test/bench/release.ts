/**
 * Delay from the release of an association to its request: `node test/bench/release.ts [--studies
 * 30]`. A cart sends studies of eight small objects one after the other to a whole gateway whose
 * source completes a study at the release (`association-release`, `afterReleaseSeconds: 0.001`), first
 * with the embedded database, then with PostgreSQL and Redis if they are installed. The next study
 * follows when the request of the previous one has ended, so that a worker is always free. Prints a
 * table and writes nothing else.
 */
import { parseArgs } from 'node:util';
import { Requestor } from '../../dimse/network/requestor.ts';
import { outgoingBuffer } from '../../dimse/send/store-scu.ts';
import { dicomFile } from '../dimse/dicom-file.ts';
import { explain, openSite, type Site, waitUntil } from '../gateway/site.ts';
import { startPostgres } from '../peers/postgres.ts';
import { startRedis } from '../peers/redis.ts';
import { printTable } from './receivers.ts';

const { values: options } = parseArgs({ options: { studies: { type: 'string', default: '30' } } });
const STUDIES = Number(options.studies);
const OBJECTS = 8;
/** Ended before the measured ones: the first request of a process opens the models. */
const WARM_UP = 2;
const ENDED = ['succeeded', 'failed', 'rejected', 'canceled'];

interface Delays {
  /** Milliseconds from the release request to our response, to the stored request, to its start. */
  released: number;
  submitted: number;
  started: number;
}

const settings = (overrides: Record<string, unknown>) => ({
  sources: [
    {
      name: 'cart',
      callingAeTitles: ['*'],
      addresses: ['127.0.0.0/8'],
      completion: { signal: 'association-release', quietSeconds: 60, afterReleaseSeconds: 0.001 },
    },
  ],
  routing: {
    rules: [{ name: 'all', when: { modality: 'US' }, run: { endpoint: 'us/obstetric/interpret' } }],
  },
  ...overrides,
});

const rows: string[][] = [];
await measure('embedded database', {});
const [postgres, redis] = await Promise.all([startPostgres({ durable: true }), startRedis()]);
try {
  if (postgres && redis) {
    const databaseUrl = await postgres.createDatabase();
    await measure('PostgreSQL and Redis', { databaseUrl, redisUrl: redis.url });
  }
} finally {
  await postgres?.stop();
  await redis?.stop();
}
const columns = ['answered', 'request stored', 'job started'].flatMap((name) => [
  `${name}, p50 ms`,
  'p95 ms',
]);
printTable(['from the release', 'studies', ...columns], rows);

async function measure(name: string, overrides: Record<string, unknown>): Promise<void> {
  const site = await openSite(settings(overrides));
  try {
    const delays: Delays[] = [];
    for (let n = 0; n < WARM_UP + STUDIES; n += 1) delays.push(await delaysOf(site, n));
    const measured = delays.slice(WARM_UP);
    const cells = (['released', 'submitted', 'started'] as const).flatMap((key) => {
      const sorted = measured.map((each) => each[key]).toSorted((a, b) => a - b);
      return [0.5, 0.95].map((q) => (sorted[Math.floor(sorted.length * q)] ?? 0).toFixed(0));
    });
    rows.push([name, String(STUDIES), ...cells]);
  } finally {
    await site.close();
  }
}

async function delaysOf(site: Site, n: number): Promise<Delays> {
  const studyInstanceUid = `1.2.840.97.${n}`;
  const objects = Array.from({ length: OBJECTS }, (_, index) =>
    outgoingBuffer(
      dicomFile({ studyInstanceUid, sopInstanceUid: `${studyInstanceUid}.${index + 1}` }),
    ),
  );
  const node = {
    host: '127.0.0.1',
    port: site.dicomPort,
    aeTitle: 'SONOGATE',
    callingAeTitle: 'CART',
    timeoutSeconds: 60,
  };
  const contexts = objects.slice(0, 1).map(({ sopClassUid, transferSyntax }) => ({
    id: 1,
    abstractSyntax: sopClassUid,
    transferSyntaxes: [transferSyntax],
  }));
  const cart = await Requestor.open(node, contexts);
  for (const object of objects) await cart.store(object);
  const release = Date.now();
  await cart.release();
  const released = Date.now() - release;
  const id = await waitUntil('the request', async () => {
    const study = await explain(site.gateway, studyInstanceUid);
    return study?.requests[0]?.request_id ?? null;
  });
  const row = await waitUntil('its end', async () => {
    const found = await site.gateway.core.get(id, null);
    return found && ENDED.includes(found.status) ? found : null;
  });
  const events = await site.gateway.core.events.list(id, 0, '');
  const at = events
    .map(({ data }) => data as { status?: string; at?: string } | null)
    .find((data) => data?.status === 'preparing')?.at;
  if (at === undefined) throw new Error('the request was never started');
  return {
    released,
    submitted: row.created_at.getTime() - release,
    started: Date.parse(at) - release,
  };
}
