import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  enqueueDeliveries,
  holdDestination,
  listDeliveries,
  replayAll,
  replayDelivery,
} from '../../../../src/core/outbox/deliveries.ts';
import type {
  Deliverer,
  Delivery,
  DeliveryTarget,
  SendOutcome,
} from '../../../../src/core/outbox/delivery.ts';
import {
  claimDelivery,
  MAX_CONCURRENT_DELIVERIES,
  type Outbox,
  startOutbox,
} from '../../../../src/core/outbox/outbox.ts';
import {
  DatabaseUnreachableError,
  type PooledDatabase,
} from '../../../../src/platform/database/pooled.ts';
import { catalogueEntry, SonogateError } from '../../../../src/platform/errors/catalogue.ts';
import {
  createLogger,
  type Logger,
  silentLogger,
} from '../../../../src/platform/logging/logger.ts';
import { freshDataDir } from '../../../peers/embedded.ts';
import { type PostgresServer, startPostgres } from '../../../peers/postgres.ts';
import { openSite, type Site } from '../requests/site.ts';

const postgres: PostgresServer | null = await startPostgres();
afterAll(() => postgres?.stop());

const HOUR = 3600;
const OK: SendOutcome = { outcome: 'delivered', detail: 'Success (0000H)' };
const failed = (
  failure: 'transient' | 'ambiguous' | 'permanent',
  retryAfter?: number,
): SendOutcome => ({
  outcome: 'failed',
  failure,
  code: failure === 'permanent' ? 'ehr_rejected' : 'ehr_unavailable',
  detail: 'HTTP 503',
  ...(retryAfter === undefined ? {} : { retryAfter }),
});
const sr = (destination = 'pacs'): DeliveryTarget => ({
  kind: 'dicom',
  destination,
  object: 'sr-tid1500',
});

describe.each([
  { name: 'embedded', server: false },
  { name: 'PostgreSQL server', server: true },
])('outbox: $name', ({ server }) => {
  const missing = server && !postgres;
  let site: Site;
  const outboxes: Outbox[] = [];

  beforeAll(async () => {
    if (missing) return;
    site = await openSite(
      server
        ? { databaseUrl: await postgres?.createDatabase() }
        : { dataDir: await freshDataDir() },
    );
  });
  afterAll(() => site?.close());
  beforeEach(async ({ skip }) => {
    if (missing) skip('PostgreSQL is not installed');
    await site.database.query('DELETE FROM deliveries');
    await site.database.query('DELETE FROM destination_holds');
    await site.database.query('DELETE FROM destination_breakers');
  });
  afterEach(() => Promise.all(outboxes.splice(0).map((outbox) => outbox.stop())));

  const enqueue = async (targets: DeliveryTarget[], giveUpSeconds = HOUR) => {
    const id = await site.submit();
    await site.database.transaction((tx) => enqueueDeliveries(tx, id, targets, giveUpSeconds));
    return id;
  };
  const start = (send: Deliverer['send'], ...kinds: Deliverer['kind'][]) =>
    startWith((kinds.length > 0 ? kinds : (['dicom'] as const)).map((kind) => ({ kind, send })));
  const startWith = async (
    deliverers: Deliverer[],
    database: PooledDatabase = site.database,
    logger: Logger = silentLogger,
  ) => {
    const delivery = {
      retryBaseSeconds: 0.02,
      retryCapSeconds: 0.05,
      giveUpAfterHours: 1,
      breaker: { failures: 100, openSeconds: 1, longestOpenSeconds: 1 },
      alternateAfterMinutes: 1,
    };
    const outbox = await startOutbox({
      database,
      deliverers,
      config: { delivery },
      logger,
    });
    outboxes.push(outbox);
    return outbox;
  };
  const states = async (requestId: string) =>
    (await listDeliveries(site.database, { requestId })).map(({ state }) => state);
  const settled = (requestId: string, state: string) =>
    expect.poll(() => states(requestId)).toEqual(expect.arrayContaining([state]));

  it("sends an object once and keeps the peer's response", async () => {
    const sent: Delivery[] = [];
    await start(async (delivery) => {
      sent.push(delivery);
      return OK;
    });
    const id = await enqueue([sr()]);
    await settled(id, 'delivered');
    expect(sent).toMatchObject([
      { requestId: id, kind: 'dicom', destination: 'pacs', object: 'sr-tid1500', attempt: 1 },
    ]);
    expect(await listDeliveries(site.database, { requestId: id })).toMatchObject([
      { state: 'delivered', code: null, detail: 'Success (0000H)' },
    ]);
  });

  it('has one delivery per request, destination and object', async () => {
    const id = await enqueue([sr(), sr(), sr('archive')]);
    await site.database.transaction((tx) => enqueueDeliveries(tx, id, [sr()], HOUR));
    await start(async () => OK);
    expect(await listDeliveries(site.database, { requestId: id })).toHaveLength(2);
  });

  it.each(['transient', 'ambiguous'] as const)(
    'retries after a failure that is %s',
    async (failure) => {
      const outcomes = [failed(failure), failed(failure), OK];
      await start(async ({ attempt }) => outcomes[attempt - 1] ?? OK);
      const id = await enqueue([sr()]);
      await settled(id, 'delivered');
      expect(await listDeliveries(site.database, { requestId: id })).toMatchObject([
        { attempt: 3, code: null },
      ]);
    },
  );

  it('leaves a permanent failure to a person, who can send it again', async () => {
    let mended = false;
    await start(async () => (mended ? OK : failed('permanent')));
    const id = await enqueue([sr()]);
    await settled(id, 'dead');
    const [dead] = await listDeliveries(site.database, { requestId: id });
    expect(dead).toMatchObject({ attempt: 1, code: 'ehr_rejected', detail: 'HTTP 503' });

    mended = true;
    await replayDelivery(site.database, dead?.id ?? '', HOUR);
    await settled(id, 'delivered');
    await expect(replayDelivery(site.database, dead?.id ?? '', HOUR)).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  it.each([
    ['it', (id: string) => replayDelivery(site.database, id, HOUR)],
    ['all of its destination', () => replayAll(site.database, 'pacs', HOUR)],
  ] as const)('lifts the hold of a destination when a person sends %s again', async (_, again) => {
    let mended = false;
    await start(async () => (mended ? OK : failed('permanent')));
    const id = await enqueue([sr()]);
    await settled(id, 'dead');
    await holdDestination(site.database, 'pacs', HOUR);
    await holdDestination(site.database, 'archive', HOUR);
    mended = true;
    const [dead] = await listDeliveries(site.database, { requestId: id });
    await again(dead?.id ?? '');
    await settled(id, 'delivered');
    const { rows } = await site.database.query('SELECT destination FROM destination_holds');
    expect(rows).toEqual([{ destination: 'archive' }]);
  });

  it('gives up after the configured time', async () => {
    await start(async () => failed('transient'));
    const id = await enqueue([sr()], 0);
    await settled(id, 'dead');
    expect(await listDeliveries(site.database, { requestId: id })).toMatchObject([
      { attempt: 1, code: 'ehr_unavailable' },
    ]);
  });

  it('gives up after a number of failures, not counting those of an absent peer', async () => {
    const { tries = 0 } = catalogueEntry('peer_processing_failure');
    const failure: SendOutcome = {
      outcome: 'failed',
      failure: 'transient',
      code: 'peer_processing_failure',
      detail: 'status 0110H',
    };
    const outcomes = [failed('transient'), failure, failure];
    const id = await enqueue([sr()]);
    await site.database.query('UPDATE deliveries SET own_failures = $1', [tries - 2]);
    await start(async ({ attempt }) => outcomes[attempt - 1] ?? OK);
    await settled(id, 'dead');
    const [dead] = await listDeliveries(site.database, { requestId: id });
    expect(dead).toMatchObject({ attempt: 3, code: 'peer_processing_failure' });

    outcomes.push(failure);
    await replayDelivery(site.database, dead?.id ?? '', HOUR);
    await settled(id, 'delivered');
  });

  it('treats a deliverer that throws as our own defect, and retries', async () => {
    await start(async ({ attempt }) => {
      if (attempt === 1) throw new Error('inside');
      return OK;
    });
    const id = await enqueue([sr()]);
    await settled(id, 'delivered');
  });

  it('treats an error of the catalogue that a deliverer throws by its class', async () => {
    await start(async () => {
      throw new SonogateError('result_format_unknown');
    });
    const id = await enqueue([sr()]);
    await settled(id, 'dead');
    expect(await listDeliveries(site.database, { requestId: id })).toMatchObject([
      { attempt: 1, code: 'result_format_unknown' },
    ]);
  });

  it('does not let a destination that hangs delay any other', async () => {
    await start(async ({ destination }, signal) => {
      if (destination === 'pacs') {
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
        return failed('ambiguous');
      }
      return OK;
    });
    const slow = await enqueue([sr('pacs'), { ...sr('pacs'), object: 'sr-tid5000' }]);
    const quick = await enqueue([sr('archive')]);
    await settled(quick, 'delivered');
    expect((await states(slow)).sort()).toEqual(['pending', 'sending']);
  });

  it('pauses the whole destination if a peer asks for it', async () => {
    const sent: string[] = [];
    const outbox = await start(async ({ destination }) => {
      sent.push(destination);
      return destination === 'pacs' ? failed('transient', 60) : OK;
    });
    const held = await enqueue([sr('pacs')]);
    await expect.poll(() => sent).toContain('pacs');
    await settled(held, 'pending');
    await enqueue([sr('pacs')]);
    const other = await enqueue([sr('archive')]);
    await settled(other, 'delivered');
    outbox.wake();
    await settled(other, 'delivered');
    expect(sent.filter((destination) => destination === 'pacs')).toHaveLength(1);
  });

  it('sends again what a dead process had claimed, once its lease is over', async () => {
    const id = await enqueue([sr()]);
    expect(await claimDelivery(site.database, ['dicom'], [], HOUR)).toMatchObject({ attempt: 1 });
    const outbox = await start(async () => OK);
    expect(await states(id)).toEqual(['sending']);
    await site.database.query("UPDATE deliveries SET lease_until = now() - interval '1 s'");
    outbox.wake();
    await settled(id, 'delivered');
    expect(await listDeliveries(site.database, { requestId: id })).toMatchObject([{ attempt: 2 }]);
  });

  it('releases what it is sending when it stops, so that it is sent at the next start', async () => {
    const first = await start(async (_, signal) => {
      await once(signal, 'abort');
      return failed('ambiguous');
    });
    const id = await enqueue([sr()]);
    await settled(id, 'sending');
    await first.stop();
    expect(await states(id)).toEqual(['pending']);
    await start(async () => OK);
    await settled(id, 'delivered');
  });

  it('counts no failure if a send throws because the gateway is stopping', async () => {
    const outbox = await start(
      (_, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
        }),
    );
    const id = await enqueue([sr()]);
    await settled(id, 'sending');
    await outbox.stop();
    expect(await listDeliveries(site.database, { requestId: id })).toMatchObject([
      { state: 'pending', code: null, own_failures: 0, lost_attempts: 1 },
    ]);
  });

  it('begins no send if the gateway stops just after a claim, and the delivery stays due', async () => {
    let sent = 0;
    const claimed = Promise.withResolvers<void>();
    let stopped: Promise<void> | undefined;
    const database: PooledDatabase = {
      ...site.database,
      async query<Row extends object>(text: string, values?: unknown[]) {
        const answer = await site.database.query<Row>(text, values);
        if (
          text.startsWith("UPDATE deliveries d SET state = 'sending'") &&
          answer.rows.length > 0
        ) {
          stopped = outbox.stop();
          claimed.resolve();
        }
        return answer;
      },
    };
    const send = async () => {
      sent += 1;
      return OK;
    };
    const outbox = await startWith([{ kind: 'dicom', send }], database);
    const id = await enqueue([sr()]);
    await claimed.promise;
    await stopped;
    expect(sent).toBe(0);
    expect(await listDeliveries(site.database, { requestId: id })).toMatchObject([
      { state: 'pending', attempt: 1, own_failures: 0, lost_attempts: 1 },
    ]);
  });

  it('lists deliveries of all kinds by age, newest first', async () => {
    const hook = { kind: 'webhook', destination: 'hook', object: 'request.failed' } as const;
    for (const target of [sr('first'), hook, sr('last')]) await enqueue([target]);
    const listed = await listDeliveries(site.database);
    expect(listed.map(({ destination }) => destination)).toEqual(['last', 'hook', 'first']);
  });

  it('does not count attempts that were lost with our own process or database', async () => {
    const MOST = 10;
    const id = await enqueue([{ kind: 'webhook', destination: 'hook', object: 'request.failed' }]);
    for (let lost = 0; lost < MOST; lost += 1) {
      await claimDelivery(site.database, ['webhook'], [], HOUR);
      await site.database.query("UPDATE deliveries SET lease_until = now() - interval '1 s'");
    }
    let failures = 0;
    const counted: number[] = [];
    await startWith([
      {
        kind: 'webhook',
        retryWait(tries) {
          counted.push(tries);
          return tries < MOST ? 0 : null;
        },
        async send() {
          failures += 1;
          if (failures < 3) throw new DatabaseUnreachableError('Connection terminated');
          return failures < 5 ? failed('transient') : OK;
        },
      },
    ]);
    await settled(id, 'delivered');
    expect(counted).toEqual([1, 2]);
    expect(await listDeliveries(site.database, { requestId: id })).toMatchObject([
      { attempt: MOST + 5, lost_attempts: MOST + 2, own_failures: 0 },
    ]);
  });

  it('does not log as delivered what another process had claimed in the meantime', async () => {
    const lines: string[] = [];
    const log = createLogger('info', { write: (line) => lines.push(line) });
    const send = async () => {
      await site.database.query(
        `UPDATE deliveries SET attempt = attempt + 1, lease_until = now() + interval '1 hour'`,
      );
      return OK;
    };
    const outbox = await startWith([{ kind: 'dicom', send }], site.database, log);
    const id = await enqueue([sr()]);
    await expect.poll(() => lines.length).toBeGreaterThan(0);
    await outbox.stop();
    expect(await listDeliveries(site.database, { requestId: id })).toMatchObject([
      { state: 'sending', attempt: 2 },
    ]);
    const events = lines.map((line) => JSON.parse(line).event);
    expect(events).toContain('delivery_unrecorded');
    expect(events).not.toContain('delivered');
  });

  it('sends only once what was confirmed while the database was away', async () => {
    let away = 0;
    const database: PooledDatabase = {
      ...site.database,
      transaction: (work) => {
        if (away === 0) return site.database.transaction(work);
        away -= 1;
        throw new DatabaseUnreachableError('Connection terminated');
      },
    };
    let sent = 0;
    const deliverer: Deliverer = {
      kind: 'dicom',
      async send() {
        sent += 1;
        away = 2;
        return OK;
      },
    };
    await startWith([deliverer], database);
    const id = await enqueue([sr()]);
    await expect.poll(() => states(id), { timeout: 10_000 }).toEqual(['delivered']);
    expect({ sent, away }).toEqual({ sent: 1, away: 0 });
  });

  it('sends only a limited number of a kind at a time', async () => {
    const underWay: (() => void)[] = [];
    await start(
      async ({ kind }, signal) =>
        kind === 'fhir'
          ? OK
          : new Promise((resolve) => {
              underWay.push(() => resolve(OK));
              signal.addEventListener('abort', () => resolve(failed('ambiguous')));
            }),
      'dicom',
      'fhir',
    );
    await enqueue(Array.from({ length: MAX_CONCURRENT_DELIVERIES + 2 }, (_, n) => sr(`pacs-${n}`)));
    await expect.poll(() => underWay.length).toBe(MAX_CONCURRENT_DELIVERIES);
    // The delivery that has waited longest is claimed first. Once this one is claimed, the others
    // would have been claimed too.
    const later = await enqueue([{ kind: 'fhir', destination: 'ehr', object: 'fhir-bundle' }]);
    await settled(later, 'delivered');
    expect(underWay).toHaveLength(MAX_CONCURRENT_DELIVERIES);
    underWay[0]?.();
    await expect.poll(() => underWay.length).toBe(MAX_CONCURRENT_DELIVERIES + 1);
  });

  it('does not touch kinds for which it has no deliverer', async () => {
    await start(async () => OK, 'fhir');
    const id = await enqueue([sr()]);
    const bundle = await enqueue([{ kind: 'fhir', destination: 'ehr', object: 'fhir-bundle' }]);
    await settled(bundle, 'delivered');
    expect(await states(id)).toEqual(['pending']);
  });

  it('sends each object once when two processes share the database', async () => {
    const sent: string[] = [];
    const send: Deliverer['send'] = async ({ id }) => {
      sent.push(id);
      return OK;
    };
    const ids = [];
    for (let i = 0; i < 10; i += 1) ids.push(await enqueue([sr('pacs'), sr('archive')]));
    await Promise.all([start(send), start(send)]);
    for (const id of ids) {
      await expect.poll(() => states(id)).toEqual(['delivered', 'delivered']);
    }
    expect(new Set(sent).size).toBe(20);
    expect(sent).toHaveLength(20);
  });
});

describe('a request that succeeds', () => {
  it('creates its deliveries in the same step; a failed one creates none', async () => {
    const site = await openSite();
    await site.startWorker();
    const deliverTo = [sr(), { kind: 'fhir' as const, destination: 'ehr', object: 'fhir-bundle' }];
    const good = await site.submit('result', { deliverTo });
    const bad = await site.submit('reject', { deliverTo });
    await site.follow(good);
    await site.follow(bad);
    const { rows } = await site.database.query(
      'SELECT request_id, destination, state FROM deliveries ORDER BY destination',
    );
    expect(rows).toEqual([
      { request_id: good, destination: 'ehr', state: 'pending' },
      { request_id: good, destination: 'pacs', state: 'pending' },
    ]);
    await site.close();
  });
});
