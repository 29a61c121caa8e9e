import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../config/load.ts';
import { openCommands } from '../../src/app/wiring/operations.ts';
import { typedCommands } from '../../src/operations/commands.ts';
import { type CartObject, type CartStudies, cartStudies } from '../faults/cart-studies.ts';
import { type CountingPacs, startCountingPacs } from '../faults/counting-pacs.ts';
import { sendUntilStored, submitUntilAccepted } from '../faults/traffic.ts';
import { freePort } from '../peers/free-port.ts';
import { startMoto } from '../peers/moto.ts';
import { startPostgres } from '../peers/postgres.ts';
import { startRedis } from '../peers/redis.ts';
import { type Served, serve, siteFile } from './serve.ts';
import { siteSettings, waitUntil } from './site.ts';

const STUDIES = 20;
/**
 * Number of studies that are interpreted, because each takes a second or more. The other studies
 * are forwarded, which tests the same for their objects.
 */
const INTERPRETED = 2;
const SUBMITS = 4;

const ROLE_OF = {
  'listener 1': 'dimse',
  'listener 2': 'dimse',
  'api 1': 'api',
  'api 2': 'api',
  'worker 1': 'worker',
  'worker 2': 'worker',
  'delivery 1': 'delivery',
} as const;
type Machine = keyof typeof ROLE_OF;
const MACHINES = Object.keys(ROLE_OF) as Machine[];
/** One machine of each role, since a start takes five seconds of processor time. */
const RESTARTED = ['listener 1', 'api 1', 'worker 1', 'delivery 1'] as const;

/**
 * What the next version may do to the tables while this version still runs: it only adds to them.
 */
const EXPANSION = `
  ALTER TABLE studies ADD COLUMN next_version text;
  ALTER TABLE instances ADD COLUMN next_version text;
  ALTER TABLE requests ADD COLUMN next_version jsonb NOT NULL DEFAULT '{}';
  ALTER TABLE deliveries ADD COLUMN next_version text;
  CREATE TABLE next_version (id text PRIMARY KEY);
  CREATE INDEX next_version_received ON instances (received_at);`;

/** SQLSTATE of a transaction that PostgreSQL ended because of a deadlock. */
const DEADLOCK = '40P01';

const [postgres, redis, bucket] = await Promise.all([startPostgres(), startRedis(), startMoto()]);
afterAll(async () => {
  await postgres?.stop();
  await redis?.stop();
  await bucket?.stop();
});

/**
 * Each machine has its own data folder; everything that the machines share is in PostgreSQL, Redis
 * and a bucket.
 */
describe.skipIf(!postgres || !redis || !bucket)(
  'two listeners, two API servers and two workers',
  () => {
    const running = new Map<Machine, Served>();
    const folders = new Map<Machine, string>();
    const configs = new Map<Machine, string>();
    const ports = new Map<Machine, number>();
    let archive: CountingPacs;
    let pacs: CountingPacs;
    let database: pg.Pool;
    let cart: CartStudies;
    let key = '';

    beforeAll(async () => {
      [archive, pacs, cart] = await Promise.all([
        startCountingPacs(0),
        startCountingPacs(0),
        cartStudies('machines', STUDIES),
      ]);
      const databaseUrl = (await postgres?.createDatabase()) ?? '';
      database = new pg.Pool({ connectionString: databaseUrl, max: 2 });
      for (const machine of MACHINES) {
        const dataDir = await mkdtemp(join(tmpdir(), 'sonogate-machine-'));
        const port = await freePort();
        const settings = siteSettings(
          { dataDir },
          {
            databaseUrl,
            redisUrl: redis?.url,
            blobUrl: bucket?.url,
            roles: [ROLE_OF[machine]],
            http: { host: '127.0.0.1', port },
            dicom: { host: '127.0.0.1', port },
            destinations: [node('pacs', pacs.port), node('archive', archive.port)],
            sources: [
              {
                name: 'cart',
                callingAeTitles: ['CART'],
                addresses: ['127.0.0.0/8'],
                completion: { signal: 'quiet-time', quietSeconds: 3, afterReleaseSeconds: 1 },
              },
            ],
            routing: rules(cart.studies.slice(0, INTERPRETED)),
          },
        );
        folders.set(machine, dataDir);
        ports.set(machine, port);
        configs.set(machine, await siteFile(settings));
        if (key === '') {
          const { run, close } = await openCommands(loadConfig({}, settings));
          const made = await typedCommands(run)('keys.create', { name: 'client', test: true });
          ({ key } = made);
          await close();
        }
      }
      await Promise.all(MACHINES.map(start));
    });
    afterAll(async () => {
      await Promise.all([...running.values()].map((each) => each.stop('SIGTERM')));
      await Promise.all([archive.close(), pacs.close(), database.end(), cart.remove()]);
      for (const folder of folders.values()) await rm(folder, { recursive: true, force: true });
    });

    const start = async (machine: Machine) => {
      running.set(machine, await serve(configs.get(machine) ?? ''));
    };
    const restart = async (machine: Machine) => {
      await running.get(machine)?.stop('SIGTERM');
      await start(machine);
    };
    const query = async <Row extends pg.QueryResultRow>(sql: string) =>
      (await database.query<Row>(sql)).rows;

    it('lose no study while one of each is stopped and started and the tables grow', {
      timeout: 300_000,
    }, async () => {
      const acknowledged: CartObject[] = [];
      const submitted: string[] = [];
      // The objects of one study are sent to different machines.
      const sendTo = async (machine: Machine, index: number) => {
        for (const study of cart.studies) {
          const objects = study.slice(index, index + 1);
          await sendUntilStored(ports.get(machine) ?? 0, objects, (each) =>
            acknowledged.push(each),
          );
        }
      };
      const submitTo = async (machine: Machine) => {
        const url = `http://127.0.0.1:${ports.get(machine)}`;
        for (let n = 0; n < SUBMITS / 2; n += 1) {
          submitted.push(await submitUntilAccepted({ url, key, hook: null }, `${machine} ${n}`));
        }
      };
      const traffic = Promise.all([
        sendTo('listener 1', 0),
        sendTo('listener 2', 1),
        submitTo('api 1'),
        submitTo('api 2'),
      ]);
      for (const machine of RESTARTED) await restart(machine);
      // PostgreSQL may end the change of several tables because of a deadlock with the traffic. A
      // start that fails is repeated by the service manager (config/deploy).
      await waitUntil('the tables to grow', () =>
        database.query(EXPANSION).then(
          () => true,
          (error: { code?: string }) => {
            if (error.code === DEADLOCK) return null;
            throw error;
          },
        ),
      );
      await traffic;
      await waitUntil('everything to end', async () => {
        const [row] = await query<{ open: number }>(`SELECT (
        (SELECT count(*) FROM studies WHERE state IN ('receiving', 'complete'))
        + (SELECT count(*) FROM requests WHERE ended_at IS NULL)
        + (SELECT count(*) FROM deliveries WHERE state <> 'delivered'))::int AS open`);
        return row?.open === 0 ? true : null;
      });

      expect(acknowledged).toHaveLength(2 * STUDIES);
      expect(new Set(submitted).size).toBe(SUBMITS);
      const requests = await query<{ status: string }>('SELECT status FROM requests');
      expect(requests.map(({ status }) => status)).toEqual(requests.map(() => 'succeeded'));
      const arrived = new Map(archive.taken.map((each) => [each.sopInstanceUid, each]));
      for (const { sopInstanceUid, dataSetSha256 } of acknowledged) {
        expect(arrived.get(sopInstanceUid)?.dataSetSha256).toBe(dataSetSha256);
      }
      const interpreted = await query<{ revisions: number }>(
        'SELECT count(DISTINCT revision)::int AS revisions FROM study_requests GROUP BY study_id',
      );
      expect(interpreted).toHaveLength(INTERPRETED);
      const revisions = interpreted.reduce((sum, each) => sum + each.revisions, 0);
      expect(new Set(pacs.taken.map(({ sopInstanceUid }) => sopInstanceUid)).size).toBe(
        2 * revisions,
      );
    });

    it('hold in their intake only what they received themselves', async () => {
      const holds = async (machine: Machine, folder: string) =>
        (await readdir(folders.get(machine) ?? '')).includes(folder);
      for (const machine of MACHINES) {
        expect(await holds(machine, 'intake'), machine).toBe(ROLE_OF[machine] === 'dimse');
      }
      expect(await holds('delivery 1', 'fetched')).toBe(true);
    });
  },
);

function node(name: string, port: number) {
  return { type: 'dicom', name, host: '127.0.0.1', port, aeTitle: name.toUpperCase() };
}

/**
 * Returns rules on an attribute, so that whichever machine evaluates them for a study must open the
 * study's objects.
 */
function rules(interpreted: readonly (readonly CartObject[])[]) {
  const studies = interpreted.flatMap(([object]) => object?.studyUid ?? []);
  return {
    rules: [
      {
        name: 'interpreted',
        when: { attributes: { StudyInstanceUID: { in: studies } } },
        run: { endpoint: 'us/obstetric/interpret', options: {} },
        deliverTo: ['pacs'],
        forwardTo: ['archive'],
      },
      { name: 'forwarded', when: { modality: 'US' }, forwardTo: ['archive'] },
    ],
  };
}
