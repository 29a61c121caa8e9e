import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadConfig } from '../../../../config/load.ts';
import {
  createMetrics,
  createProcessMeters,
  startMonitoring,
  startMonitoringServer,
} from '../../../../src/app/monitoring/metrics.ts';
import type { DirectAccess } from '../../../../src/core/files/blob-store.ts';
import type { PooledDatabase } from '../../../../src/platform/database/pooled.ts';
import { SonogateError } from '../../../../src/platform/errors/catalogue.ts';
import { observedLogger, silentLogger } from '../../../../src/platform/logging/logger.ts';
import { type OpenDatabase, openFreshDatabase } from '../../../peers/database.ts';
import { type Family, parseExposition } from './exposition-parser.ts';

let fresh: OpenDatabase;
let dataDir: string;
let database: PooledDatabase;
beforeAll(async () => {
  fresh = await openFreshDatabase();
  ({ database, dataDir } = fresh);
});
afterAll(async () => {
  await fresh.close();
});

const queue = { counts: async () => ({ waiting: 3, active: 1 }), requireWritable: async () => {} };
const collector = (meters = createProcessMeters()) =>
  createMetrics({
    database,
    queue,
    meters,
    version: '9.9.9',
    commit: 'c0ffee',
    roles: ['api'],
    dataDir,
  });

const scrape = async (metrics: ReturnType<typeof collector>) => parseExposition(await metrics());

/**
 * Returns the value of the family's only sample with these labels, or null if there is not exactly
 * one.
 */
function sampleOf(family: Family | undefined, labels: Record<string, string>, suffix = '') {
  const found = family?.samples.filter(
    ({ name, labels: own }) =>
      name.endsWith(suffix) && Object.entries(labels).every(([key, value]) => own[key] === value),
  );
  return found?.length === 1 ? (found[0]?.value ?? null) : null;
}

/**
 * Adds a study that arrived `doorSeconds` ago, its request, and a delivery that was confirmed just
 * now.
 */
async function finishStudy(id: string, doorSeconds: number): Promise<void> {
  await database.query(
    `INSERT INTO studies (id, study_instance_uid, source, calling_ae_title, called_ae_title, state,
       identity, first_received_at, last_received_at, complete_after)
     VALUES (gen_random_uuid(), $1, 'cart', 'CART', 'SONOGATE', 'submitted', '{}',
       clock_timestamp() - make_interval(secs => $2), now(), now())`,
    [id, doorSeconds],
  );
  await database.query(
    `INSERT INTO requests (id, model, endpoint, version, status, stage, priority, test, input, files,
       prior_files, metadata, source, cost, deliver_to, created_at, started_at, ended_at)
     VALUES ($1, 'us/echo', 'us/echo/interpret', '1', 'succeeded', '{}', 'normal', false, '{}', '[]',
       '[]', '{}', '{}', '{}', '[]', clock_timestamp() - interval '40 seconds',
       clock_timestamp() - interval '15 seconds', clock_timestamp())`,
    [id],
  );
  await database.query(
    `INSERT INTO study_requests (study_id, revision, rule, request_id, submitted_at)
     SELECT id, 1, 'r', $1, now() FROM studies WHERE study_instance_uid = $1`,
    [id],
  );
  for (const [seq, name, secondsAgo] of [
    [1, 'starting', 14],
    [2, 'reading', 12],
    [3, 'completed', 4],
  ] as const) {
    await database.query(
      `INSERT INTO request_events (request_id, seq, name, data, at)
       VALUES ($1, $2, 'stage', jsonb_build_object('name', $3::text),
         clock_timestamp() - make_interval(secs => $4))`,
      [id, seq, name, secondsAgo],
    );
  }
  await database.query(
    `INSERT INTO deliveries (id, request_id, kind, destination, object, state, give_up_at, ended_at)
     VALUES ($1, $1, 'dicom', 'pacs', 'sr', 'delivered', now(), clock_timestamp())`,
    [id],
  );
}

describe('work that has ended', () => {
  test('is counted once, from startup on, by every process', async () => {
    await finishStudy('before', 50);
    const [one, other] = [collector(), collector()];
    await scrape(one);
    await scrape(other);
    await finishStudy('after', 50);
    for (const metrics of [one, other, one]) {
      const families = await scrape(metrics);
      const endpoint = { endpoint: 'us/echo/interpret' };
      const count = (name: string, labels: Record<string, string>) =>
        sampleOf(families.get(name), labels, '_count');
      expect(count('sonogate_door_to_report_seconds', { destination: 'pacs' })).toBe(1);
      expect(count('sonogate_study_to_result_seconds', endpoint)).toBe(1);
      expect(count('sonogate_request_wait_seconds', endpoint)).toBe(1);
      expect(sampleOf(families.get('sonogate_requests_ended_total'), { status: 'succeeded' })).toBe(
        1,
      );
      expect(
        sampleOf(families.get('sonogate_deliveries_ended_total'), { state: 'delivered' }),
      ).toBe(1);
    }
  });

  test('has its times in the right buckets', async () => {
    const metrics = collector();
    await scrape(metrics);
    await finishStudy('timed', 50);
    const families = await scrape(metrics);
    const bucket = (name: string, le: string, labels: Record<string, string> = {}) =>
      sampleOf(families.get(name), { ...labels, le });
    expect(bucket('sonogate_door_to_report_seconds', '30')).toBe(0);
    expect(bucket('sonogate_door_to_report_seconds', '60')).toBe(1);
    expect(bucket('sonogate_request_wait_seconds', '20')).toBe(0);
    expect(bucket('sonogate_request_wait_seconds', '30')).toBe(1);
    expect(bucket('sonogate_request_run_seconds', '10')).toBe(0);
    expect(bucket('sonogate_request_run_seconds', '20')).toBe(1);
    expect(bucket('sonogate_request_stage_seconds', '5', { stage: 'reading' })).toBe(0);
    expect(bucket('sonogate_request_stage_seconds', '10', { stage: 'reading' })).toBe(1);
  });
});

describe('open work', () => {
  test('is reported with its age by destination; webhook addresses are not used as a label', async () => {
    await database.query(
      `INSERT INTO deliveries (id, kind, destination, object, state, give_up_at, created_at)
       VALUES ('d1', 'dicom', 'archive', 'o1', 'pending', now(), now() - interval '90 seconds'),
         ('d2', 'dicom', 'archive', 'o2', 'pending', now(), now()),
         ('d3', 'webhook', 'whe_1', 'o3', 'pending', now(), now()),
         ('d4', 'webhook', 'whe_2', 'o4', 'pending', now(), now()),
         ('d5', 'dicom', 'archive', 'o5', 'dead', now(), now())`,
    );
    const families = await scrape(collector());
    const deliveries = families.get('sonogate_deliveries');
    expect(sampleOf(deliveries, { destination: 'archive', state: 'pending' })).toBe(2);
    expect(sampleOf(deliveries, { destination: 'webhooks', state: 'pending' })).toBe(2);
    expect(sampleOf(families.get('sonogate_deliveries_dead'), { destination: 'archive' })).toBe(1);
    const age = sampleOf(families.get('sonogate_delivery_oldest_seconds'), {
      destination: 'archive',
    });
    expect(age).toBeGreaterThanOrEqual(90);
    expect(JSON.stringify([...families])).not.toContain('whe_');
    expect(sampleOf(families.get('sonogate_queue_jobs'), { state: 'waiting' })).toBe(3);
  });

  test('includes the oldest object to which a PACS was asked to commit, until it reports', async () => {
    // Of three objects that were delivered an hour ago, one is committed, and one went to a PACS
    // that is never asked to commit.
    for (const [id, destination, asked, committed] of [
      ['waits', 'commits', true, false],
      ['done', 'commits', true, true],
      ['unasked', 'does-not', false, false],
    ] as const) {
      await database.query(
        `INSERT INTO deliveries (id, kind, destination, object, state, give_up_at, ended_at)
         VALUES ($1, 'dicom', $2, $1, 'delivered', now(), now() - interval '1 hour')`,
        [id, destination],
      );
      await database.query(
        `INSERT INTO delivered_objects
           (delivery_id, destination, sop_class_uid, sop_instance_uid, asked_at, committed_at)
         VALUES ($1, $2, '1.2', $1, CASE WHEN $3 THEN now() END, CASE WHEN $4 THEN now() END)`,
        [id, destination, asked, committed],
      );
    }
    const ages = async () => {
      const family = (await scrape(collector())).get('sonogate_commitment_oldest_seconds');
      return family?.samples.map(({ labels, value }) => [labels.destination, Math.round(value)]);
    };
    const [[destination, age] = []] = (await ages()) ?? [];
    expect(destination).toBe('commits');
    expect(age).toBeGreaterThanOrEqual(3600);
    await database.query(
      'UPDATE delivered_objects SET committed_at = now() WHERE asked_at IS NOT NULL',
    );
    expect(await ages()).toEqual([]);
  });

  test('is read from indexes, however long the history is', { timeout: 60_000 }, async () => {
    // Only the history matters in this test, so triggers do not copy it to the worklist.
    await database.transaction(async (tx) => {
      await tx.query("SET LOCAL session_replication_role = 'replica'");
      await tx.query(
        `INSERT INTO studies (id, study_instance_uid, source, calling_ae_title, called_ae_title,
           state, identity, first_received_at, last_received_at, complete_after)
         SELECT gen_random_uuid(), 'h' || n, 'cart', 'CART', 'S', 'submitted', '{}',
           now() - interval '1 day', now(), now() FROM generate_series(1, 20000) AS n`,
      );
      await tx.query(
        `INSERT INTO requests (id, model, endpoint, version, status, stage, priority, test, input,
           files, prior_files, metadata, source, cost, deliver_to, created_at, started_at, ended_at)
         SELECT 'h' || n, 'm', 'e', '1', 'succeeded', '{}', 'normal', false, '{}', '[]', '[]', '{}',
           '{}', '{}', '[]', now() - interval '1 day', now(), now() - interval '1 day'
         FROM generate_series(1, 20000) AS n`,
      );
      await tx.query(
        `INSERT INTO deliveries (id, kind, destination, object, state, give_up_at, ended_at)
         SELECT 'h' || n, 'dicom', 'pacs', 'h' || n, 'delivered', now(), now() - interval '1 day'
         FROM generate_series(1, 20000) AS n`,
      );
      await tx.query(
        `INSERT INTO delivered_objects (delivery_id, destination, sop_class_uid, sop_instance_uid)
         SELECT 'h' || n, 'pacs', '1.2', 'h' || n FROM generate_series(1, 20000) AS n`,
      );
    });
    await database.query('ANALYZE studies, requests, deliveries, delivered_objects');
    const metrics = collector();
    await scrape(metrics);
    const plans: string[] = [];
    const explained = createMetrics({
      database: {
        query: async (text: string, values?: readonly unknown[]) => {
          const { rows } = await database.query<{ 'QUERY PLAN': string }>(
            `EXPLAIN ${text}`,
            values,
          );
          plans.push(rows.map((row) => row['QUERY PLAN']).join('\n'));
          return database.query(text, values) as never;
        },
      },
      queue,
      meters: createProcessMeters(),
      version: '',
      commit: null,
      roles: [],
      dataDir,
    });
    await explained();
    await explained();
    expect(plans.length).toBeGreaterThan(10);
    expect(
      plans.filter((plan) =>
        /Seq Scan on (studies|requests|deliveries|delivered_objects)/.test(plan),
      ),
    ).toEqual([]);
  });
});

describe('this process', () => {
  test('reports its version, commit, memory, disk and event-loop delay', async () => {
    const families = await scrape(collector());
    const labels = { version: '9.9.9', commit: 'c0ffee', roles: 'api' };
    expect(sampleOf(families.get('sonogate_build_info'), labels)).toBe(1);
    for (const name of ['process_memory_bytes', 'disk_free_bytes', 'disk_size_bytes']) {
      expect(families.get(`sonogate_${name}`)?.samples[0]?.value, name).toBeGreaterThan(0);
    }
    expect(families.get('sonogate_event_loop_delay_seconds')?.samples).toHaveLength(3);
  });

  test('counts what it logs, whatever level is written, and the open associations', async () => {
    const meters = createProcessMeters();
    const logger = observedLogger(silentLogger, meters.onEvent);
    const peer = { callingAeTitle: 'CART', address: '127.0.0.1' };
    const accepted = { implementation: 'X', accepted: 1, refused: 0 };
    logger.event('association_accepted', { association: 'a', ...peer, ...accepted });
    logger.event('association_accepted', { association: 'b', ...peer, ...accepted });
    logger.event('association_rejected', {
      association: 'c',
      ...peer,
      calledAeTitle: 'SONOGATE',
      code: 'calling_ae_not_recognized',
      operator: '',
    });
    logger.event('association_ended', { association: 'a', ...peer, end: 'released' });
    logger.debug({}, 'no event');
    const families = parseExposition(await meters.registry.metrics());
    const events = families.get('sonogate_events_total');
    expect(
      sampleOf(events, { event: 'association_rejected', code: 'calling_ae_not_recognized' }),
    ).toBe(1);
    expect(events?.samples).toHaveLength(3);
    expect(families.get('sonogate_dicom_associations_open')?.samples[0]?.value).toBe(1);
  });

  test('counts objects by source and outcome; only stored ones have a time', async () => {
    const meters = createProcessMeters();
    meters.onReception('cart', { outcome: 'stored', bytes: 100, seconds: 0.3 });
    meters.onReception('cart', { outcome: 'refused', bytes: 7, seconds: 9 });
    const families = parseExposition(await meters.registry.metrics());
    const objects = families.get('sonogate_dicom_objects_total');
    expect(sampleOf(objects, { source: 'cart', outcome: 'refused' })).toBe(1);
    const bytes = families.get('sonogate_dicom_received_bytes_total');
    expect(bytes?.samples[0]?.value).toBe(107);
    const seconds = families.get('sonogate_dicom_store_seconds');
    expect(sampleOf(seconds, { source: 'cart' }, '_count')).toBe(1);
  });
});

describe("a model's metrics", () => {
  test('show the time of its calls, wherever its pipeline runs', async () => {
    const meters = createProcessMeters();
    meters.onInference({ model: 'fetal-head', images: 8, seconds: 0.03 });
    meters.onInference({ model: 'fetal-head', images: 2, seconds: 0.2 });
    const families = parseExposition(await meters.registry.metrics());
    const model = { model: 'fetal-head' };
    expect(sampleOf(families.get('sonogate_model_images_total'), model)).toBe(10);
    expect(sampleOf(families.get('sonogate_model_seconds'), { ...model, le: '0.05' })).toBe(1);
    expect(sampleOf(families.get('sonogate_model_seconds'), model, '_count')).toBe(2);
  });
});

test('a gateway whose database is read-only, such as a standby, is not ready', async () => {
  const config = loadConfig({}, { dataDir, dicom: { minFreeBytes: 0 } });
  const blobs = { direct: null, requireWritable: async () => {} };
  const parts = { database, queue, blobs, meters: createProcessMeters() };
  const { checks, stop } = await startMonitoring(config, parts);
  await checks.database?.();
  await database.query('SET default_transaction_read_only = on');
  await expect(checks.database?.()).rejects.toThrow('the database is read-only');
  await database.query('RESET default_transaction_read_only');
  await stop();
});

test('a gateway whose bucket refuses writes is not ready, and asks it rarely', async () => {
  const config = loadConfig({}, { dataDir, dicom: { minFreeBytes: 0 } });
  let writes = 0;
  const blobs = {
    direct: {} as DirectAccess,
    async requireWritable() {
      writes += 1;
      throw new SonogateError('storage_unreachable');
    },
  };
  const parts = { database, queue, blobs, meters: createProcessMeters() };
  const { checks, stop } = await startMonitoring(config, parts);
  for (let n = 0; n < 3; n += 1) {
    await expect(checks.bucket?.()).rejects.toMatchObject({ code: 'storage_unreachable' });
  }
  expect(writes).toBe(1);
  await stop();
});

describe('the port for monitoring', () => {
  test('answers probes and scrapes and nothing else', async () => {
    let ready = true;
    const server = await startMonitoringServer(
      { host: '127.0.0.1', port: 0 },
      {
        metrics: collector(),
        ready: async () => {
          if (!ready) throw new Error('secret host');
        },
      },
    );
    const call = (path: string) => fetch(`http://127.0.0.1:${server.port}${path}`);
    expect(parseExposition(await (await call('/metrics')).text()).size).toBeGreaterThan(5);
    expect((await call('/health/ready')).status).toBe(200);
    ready = false;
    const answer = await call('/health/ready');
    expect([answer.status, await answer.text()]).toEqual([503, 'not ready\n']);
    expect((await call('/health/live')).status).toBe(200);
    expect((await call('/v1/models')).status).toBe(404);
    await server.stop();
  });
});
