import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type BreakerRow,
  claimProbes,
  listBreakers,
  mayBeObjectFailure,
  peerAfter,
  recordPeerFailure,
  recordPeerSuccess,
  recordProbeFailure,
  recordProbeSuccess,
} from '../../../../src/core/outbox/breaker.ts';
import {
  type DeliveryRow,
  enqueueDeliveries,
  enqueueForwards,
  replayAll,
} from '../../../../src/core/outbox/deliveries.ts';
import type { Deliverer, SendOutcome } from '../../../../src/core/outbox/delivery.ts';
import { divertByHand, divertOverdue } from '../../../../src/core/outbox/divert.ts';
import {
  claimDelivery,
  endWaits,
  type Outbox,
  startOutbox,
} from '../../../../src/core/outbox/outbox.ts';
import type { PooledDatabase } from '../../../../src/platform/database/pooled.ts';
import type { Queryable } from '../../../../src/platform/database/port.ts';
import type { ErrorCode } from '../../../../src/platform/errors/catalogue.ts';
import { silentLogger as logger } from '../../../../src/platform/logging/logger.ts';
import { openSite, type Site } from '../requests/site.ts';

const HOUR = 3600;
const settings = { failures: 3, openSeconds: 10, longestOpenSeconds: 35 };
const OK: SendOutcome = { outcome: 'delivered', detail: 'status 0000H' };
const failed = (
  code: ErrorCode,
  failure: 'transient' | 'permanent' = 'transient',
): SendOutcome => ({
  outcome: 'failed',
  failure,
  code,
  detail: '',
});

let site: Site;
let count = 0;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site?.close());
beforeEach(async () => {
  await site.database.query('DELETE FROM deliveries');
  await site.database.query('DELETE FROM destination_breakers');
});

async function add(
  destination = 'pacs',
  study = `${count}`,
  giveUpSeconds = HOUR,
): Promise<string> {
  count += 1;
  const instance = `object-${count}`;
  await site.database.transaction((tx) =>
    enqueueForwards(tx, [{ instance, study, revision: 1 }], [destination], giveUpSeconds),
  );
  return instance;
}
const breaker = async (): Promise<BreakerRow | undefined> => (await listBreakers(site.database))[0];
/**
 * Performs a step and returns the seconds until the next probe. Both happen in one transaction, in
 * which the clock does not advance.
 */
const waitAfter = (step: (tx: Queryable) => Promise<unknown>): Promise<number> =>
  site.database.transaction(async (tx) => {
    await step(tx);
    const { rows } = await tx.query<{ seconds: number }>(
      'SELECT EXTRACT(EPOCH FROM probe_at - now())::float8 AS seconds FROM destination_breakers',
    );
    return rows[0]?.seconds ?? 0;
  });
const fail = (tx: Queryable = site.database) =>
  recordPeerFailure(tx, 'pacs', 'peer_unreachable', settings);
const open = async (tx: Queryable = site.database) => {
  for (let n = 0; n < settings.failures; n += 1) await fail(tx);
};

describe('after the clock was set back by an hour', () => {
  it('nothing waits an hour longer', async () => {
    const { database } = site;
    await add('pacs');
    await add('archive');
    await add('lost');
    await claimDelivery(database, ['forward'], ['pacs', 'archive'], 2 * HOUR);
    await open();
    await database.query(`UPDATE deliveries SET next_at = now() + interval '1 hour'`);
    await database.query(`UPDATE destination_breakers SET probe_at = now() + interval '1 hour'`);
    await database.query(
      `INSERT INTO destination_holds VALUES ('archive', now() + interval '2 hours')`,
    );
    const claim = async () => (await claimDelivery(database, ['forward'], [], HOUR))?.destination;
    expect(await claim()).toBeUndefined();
    await endWaits(database);
    await endWaits(database);
    expect(await claim()).toBe('archive');
    expect(await claimProbes(database, ['pacs'], 60)).toEqual(['pacs']);
    const { rows } = await database.query(
      `SELECT 1 FROM deliveries WHERE destination = 'lost' AND lease_until > now() + interval '1 minute'`,
    );
    expect(rows).toEqual([]);
  });

  it('a webhook keeps its schedule, but the first attempt is made at once', async () => {
    const { database } = site;
    await add('client');
    await add('new client');
    await database.query(
      `UPDATE deliveries SET kind = 'webhook', next_at = now() + interval '1 hour',
         attempt = CASE WHEN destination = 'client' THEN 3 ELSE 0 END`,
    );
    await endWaits(database);
    const claim = async () => (await claimDelivery(database, ['webhook'], [], HOUR))?.destination;
    expect([await claim(), await claim()]).toEqual(['new client', undefined]);
  });
});

describe('the breaker of a destination', () => {
  it('is closed one failure before the limit and open at it', async () => {
    expect([await fail(), await fail(), await fail()]).toEqual(['closed', 'closed', 'open']);
  });

  it('counts consecutive failures: one success resets the count', async () => {
    await fail();
    await fail();
    expect(await recordPeerSuccess(site.database, 'pacs')).toBe(false);
    expect(await fail()).toBe('closed');
    expect(await breaker()).toMatchObject({ failures: 1, opened_at: null });
  });

  it('lets nothing through while it is open, and one at a time half-open', async () => {
    await add();
    await add();
    await add('archive');
    const claim = async () =>
      (await claimDelivery(site.database, ['forward'], [], HOUR))?.destination ?? null;
    await open();
    expect([await claim(), await claim()]).toEqual(['archive', null]);
    await recordProbeSuccess(site.database, 'pacs');
    expect([await claim(), await claim()]).toEqual(['pacs', null]);
    await recordPeerSuccess(site.database, 'pacs');
    expect(await claim()).toBe('pacs');
  });

  it('probes when the time has come, from only one process', async () => {
    await open();
    expect(await claimProbes(site.database, ['pacs'], 60)).toEqual([]);
    await site.database.query('UPDATE destination_breakers SET probe_at = now()');
    expect(await claimProbes(site.database, ['pacs'], 60)).toEqual(['pacs']);
    expect(await claimProbes(site.database, ['pacs'], 60)).toEqual([]);
  });

  it('probes at once when a person replays, because they know that the peer is back', async () => {
    await add();
    await open();
    await site.database.query(`UPDATE deliveries SET state = 'dead', ended_at = now()`);
    expect(await claimProbes(site.database, ['pacs'], 60)).toEqual([]);
    expect(await replayAll(site.database, 'pacs', HOUR)).toBe(1);
    expect(await claimProbes(site.database, ['pacs'], 60)).toEqual(['pacs']);
  });

  it('waits twice as long before each probe, up to the maximum', async () => {
    const seconds = [await waitAfter(open)];
    for (let n = 0; n < 3; n += 1) {
      const unanswered = (tx: Queryable) =>
        recordProbeFailure(tx, 'pacs', 'peer_unreachable', settings);
      seconds.push(await waitAfter(unanswered));
    }
    expect(seconds).toEqual([10, 20, 35, 35]);
  });

  it('opens again if the trial fails, for longer, and remembers since when', async () => {
    await open();
    const since = (await breaker())?.opened_at;
    await recordProbeSuccess(site.database, 'pacs');
    expect(await breaker()).toMatchObject({ state: 'half-open' });
    const again = async (tx: Queryable) => expect(await fail(tx)).toBe('open');
    expect(await waitAfter(again)).toBe(20);
    expect((await breaker())?.opened_at).toEqual(since);
  });

  it('makes waiting deliveries due at once when the destination answers', async () => {
    await add();
    await site.database.query(`UPDATE deliveries SET next_at = now() + interval '1 hour'`);
    await open();
    await recordProbeSuccess(site.database, 'pacs');
    expect(await claimDelivery(site.database, ['forward'], [], HOUR)).not.toBeNull();
  });
});

describe('a failure that may be due to the object itself', () => {
  it.each([
    ['peer_unreachable', false],
    ['peer_rejected_association', false],
    ['peer_out_of_resources', false],
    ['ehr_unavailable', false],
    ['peer_connection_lost', true],
    ['ehr_ambiguous', true],
    ['ehr_patient_not_found', true],
    ['internal', true],
  ] as const)('%s: %s', (code, own) => {
    expect(mayBeObjectFailure(code)).toBe(own);
  });
});

describe('a failed attempt shows that the peer', () => {
  it.each([
    ['fails', 'peer_unreachable', 'fails'],
    ['fails, perhaps because of the object', 'peer_answer_unclear', 'fails'],
    ['works, because it refused the object', 'peer_refused_object', 'works'],
    ['works, because it lacks the patient', 'ehr_patient_not_found', 'works'],
    ['may work or not, because the result was removed', 'expired', null],
    ['may work or not, because the settings are wrong', 'invalid_config', null],
  ] as const)('%s: %s', (_, code, shown) => {
    expect(peerAfter(code)).toBe(shown);
  });
});

const WAITING_FOR_A_LOCK = `SELECT 1 FROM pg_stat_activity
  WHERE datname = current_database() AND wait_event_type = 'Lock'`;

describe('an outbox with breakers and alternates', () => {
  const outboxes: Outbox[] = [];
  afterEach(() => Promise.all(outboxes.splice(0).map((outbox) => outbox.stop())));

  const start = async (
    send: Deliverer['send'],
    {
      probe,
      alternates = new Map<string, string>(),
      alternateAfterMinutes = 60,
      database = site.database,
    }: Partial<{
      probe: Deliverer['probe'];
      alternates: Map<string, string>;
      alternateAfterMinutes: number;
      database: PooledDatabase;
    }> = {},
  ) => {
    const outbox = await startOutbox({
      database,
      deliverers: [{ kind: 'forward', send, ...(probe && { probe }) }],
      config: {
        delivery: {
          retryBaseSeconds: 0.02,
          retryCapSeconds: 0.02,
          giveUpAfterHours: 1,
          breaker: { failures: 3, openSeconds: 0.1, longestOpenSeconds: 0.2 },
          alternateAfterMinutes,
        },
      },
      alternates,
      logger,
    });
    outboxes.push(outbox);
    return outbox;
  };
  const rowOf = async (object: string, destination = 'pacs'): Promise<DeliveryRow | undefined> => {
    const { rows } = await site.database.query<DeliveryRow>(
      'SELECT * FROM deliveries WHERE object = $1 AND destination = $2',
      [object, destination],
    );
    return rows[0];
  };
  const stateOf = (object: string, destination?: string) =>
    expect.poll(async () => (await rowOf(object, destination))?.state ?? null);

  it('uses no attempt while a destination cannot be reached, and delivers when it answers', async () => {
    let away = true;
    let asked = 0;
    await start(async () => (away ? failed('peer_unreachable') : OK), {
      probe: async () => {
        asked += 1;
        return away ? 'peer_unreachable' : null;
      },
    });
    const object = await add();
    await expect.poll(() => asked).toBeGreaterThan(3);
    expect(await rowOf(object)).toMatchObject({ state: 'pending', attempt: 3 });
    expect(await breaker()).toMatchObject({ state: 'open', code: 'peer_unreachable' });
    away = false;
    await stateOf(object).toBe('delivered');
    expect(await rowOf(object)).toMatchObject({ attempt: 4 });
    expect(await breaker()).toBeUndefined();
  });

  it('tries the oldest delivery if there is no way to probe', async () => {
    let sends = 0;
    await start(async () => {
      sends += 1;
      return sends > 4 ? OK : failed('ehr_unavailable');
    });
    const object = await add();
    await stateOf(object).toBe('delivered');
    expect(sends).toBe(5);
  });

  describe.each([
    ['was removed', failed('expired', 'permanent')],
    ['made our own code fail', failed('internal')],
    ['had nothing to send', { ...OK, notSent: true }],
  ] as const)('whose trial %s before the destination was contacted', (_what, ended) => {
    const trialAfterThreeFailures = async () => {
      const sent = { count: 0 };
      await start(
        async () => {
          sent.count += 1;
          return sent.count === 4 ? ended : failed('peer_unreachable');
        },
        { probe: async () => (sent.count === 3 ? null : 'peer_unreachable') },
      );
      return sent;
    };

    it('lets the next delivery be the trial', async () => {
      const sent = await trialAfterThreeFailures();
      await add();
      await add();
      await expect.poll(() => sent.count).toBe(5);
      await expect.poll(breaker).toMatchObject({ state: 'open', failures: 4 });
    });
  });

  it('closes if no delivery is left for a trial', async () => {
    let sends = 0;
    await start(
      async () => {
        sends += 1;
        return sends > 3 ? failed('expired', 'permanent') : failed('peer_unreachable');
      },
      { probe: async () => null },
    );
    await stateOf(await add()).toBe('dead');
    await expect.poll(breaker).toBeUndefined();
  });

  it('stays closed if objects are refused one by one', async () => {
    await start(async () => failed('peer_refused_object', 'permanent'));
    const objects = [await add(), await add(), await add(), await add()];
    for (const object of objects) await stateOf(object).toBe('dead');
    expect(await breaker()).toBeUndefined();
  });

  it('sends dead deliveries to the alternate, and each of the two refers to the other', async () => {
    await start(
      async ({ destination }) =>
        destination === 'pacs' ? failed('peer_refused_object', 'permanent') : OK,
      { alternates: new Map([['pacs', 'archive']]) },
    );
    const object = await add();
    await stateOf(object, 'archive').toBe('delivered');
    const first = await rowOf(object);
    expect(first).toMatchObject({ state: 'diverted', code: 'peer_refused_object' });
    expect(await rowOf(object, 'archive')).toMatchObject({ alternate_of: first?.id });
  });

  /** A database on which no delivery can be diverted, as if the gateway was killed just before. */
  const killedBeforeDiverting = (onKill = () => {}): PooledDatabase => {
    const cut = (queryable: Queryable): Queryable => ({
      query: async (text, ...rest) => {
        if (text.includes('alternate_of, result_revision')) {
          onKill();
          throw new Error('killed');
        }
        return queryable.query(text, ...rest);
      },
    });
    const { database } = site;
    return {
      ...database,
      ...cut(database),
      transaction: (work) => database.transaction((tx) => work(cut(tx))),
    };
  };

  it.each([
    ['was refused', 'permanent', HOUR],
    ['was tried for too long', 'transient', 0],
  ] as const)('diverts what %s even if the gateway is killed in between', async (_, kind, life) => {
    const refusing: Deliverer['send'] = async ({ destination }) =>
      destination === 'pacs' ? failed('peer_refused_object', kind) : OK;
    const alternates = new Map([['pacs', 'archive']]);
    let kills = 0;
    const database = killedBeforeDiverting(() => {
      kills += 1;
    });
    const killed = await start(refusing, { alternates, database });
    const object = await add('pacs', 's', life);
    await expect.poll(() => kills).toBeGreaterThan(0);
    await killed.stop();
    expect(await rowOf(object)).toMatchObject({ state: 'sending' });
    await site.database.query('UPDATE deliveries SET lease_until = now()');
    await start(refusing, { alternates });
    await stateOf(object, 'archive').toBe('delivered');
  });

  it('diverts what waited too long for a closed destination even if the gateway is killed', async () => {
    const sends: Deliverer['send'] = async ({ destination }) =>
      destination === 'pacs' ? failed('peer_unreachable') : OK;
    const alternates = new Map([['pacs', 'archive']]);
    const probe = async () => 'peer_unreachable' as const;
    await site.database.query(
      `INSERT INTO destination_breakers (destination, state, failures, code, opened_at, probe_at)
       VALUES ('pacs', 'open', 9, 'peer_unreachable', now(), now())`,
    );
    const object = await add('pacs', 's', 0);
    const killed = await start(sends, { alternates, probe, database: killedBeforeDiverting() });
    await killed.stop();
    await start(sends, { alternates, probe });
    await stateOf(object, 'archive').toBe('delivered');
  });

  it('sends to the alternate what has waited longer than configured, but not to both', async () => {
    const sent: string[] = [];
    await start(
      async ({ destination }) => {
        sent.push(destination);
        return destination === 'pacs' ? failed('peer_unreachable') : OK;
      },
      {
        probe: async () => 'peer_unreachable',
        alternates: new Map([['pacs', 'archive']]),
        alternateAfterMinutes: 0.005,
      },
    );
    const object = await add();
    await stateOf(object, 'archive').toBe('delivered');
    expect(await rowOf(object)).toMatchObject({ state: 'diverted', code: 'peer_unreachable' });
    expect(sent).toEqual(['pacs', 'pacs', 'pacs', 'archive']);
    const { created_at, give_up_at } = (await rowOf(object, 'archive')) ?? {};
    const allowed = (Number(give_up_at) - Number(created_at)) / 1000;
    expect(allowed, 'seconds of giveUpAfterHours').toBeCloseTo(HOUR, 0);
  });

  it('diverts a signed document although the alternate has the draft', async () => {
    const request = await site.submit();
    const enqueue = (destination: string, revision: number) =>
      site.database.transaction((tx) =>
        enqueueDeliveries(
          tx,
          request,
          [{ kind: 'dicom', destination, object: 'sr-tid5000' }],
          HOUR,
          revision,
        ),
      );
    await enqueue('archive', 0);
    await enqueue('pacs', 0);
    await enqueue('pacs', 1);
    for (let n = 0; n < settings.failures; n += 1) {
      await recordPeerFailure(site.database, 'pacs', 'peer_unreachable', settings);
    }
    const ways = { destination: 'pacs', alternate: 'archive' };
    const patience = { patienceSeconds: 0, giveUpSeconds: HOUR };
    expect(await divertOverdue(site.database, ways, patience)).toBe(1);
    const { rows } = await site.database.query(
      `SELECT result_revision FROM deliveries WHERE destination = 'archive' ORDER BY 1`,
    );
    expect(rows).toEqual([{ result_revision: 0 }, { result_revision: 1 }]);
  });

  it('does not divert to the alternate what is sent there anyway', async () => {
    const sent: string[] = [];
    await start(
      async ({ destination }) => {
        sent.push(destination);
        return destination === 'pacs' ? failed('peer_refused_object', 'permanent') : OK;
      },
      { alternates: new Map([['pacs', 'archive']]) },
    );
    count += 1;
    const object = { instance: `object-${count}`, study: 's', revision: 1 };
    await site.database.transaction((tx) =>
      enqueueForwards(tx, [object], ['pacs', 'archive'], HOUR),
    );
    await stateOf(object.instance).toBe('dead');
    await stateOf(object.instance, 'archive').toBe('delivered');
    expect(sent.sort()).toEqual(['archive', 'pacs']);
  });

  it('leaves to a person what also fails at the alternate', async () => {
    await start(async () => failed('peer_refused_object', 'permanent'), {
      alternates: new Map([
        ['pacs', 'archive'],
        ['archive', 'pacs'],
      ]),
    });
    const object = await add();
    await stateOf(object, 'archive').toBe('dead');
  });

  it('does not divert what is claimed at the same moment, because it would be sent to both', async () => {
    const object = await add();
    const id = (await rowOf(object))?.id ?? '';
    const { diverted } = await site.database.transaction(async (tx) => {
      expect(await claimDelivery(tx, ['forward'], [], HOUR)).toMatchObject({ id });
      const diverted = divertByHand(site.database, id, 'archive', HOUR).catch(
        (error: unknown) => error,
      );
      // The embedded database runs one transaction after the other.
      if (!site.database.exclusive) {
        await expect
          .poll(async () => (await tx.query(WAITING_FOR_A_LOCK)).rows.length, { timeout: 10_000 })
          .toBe(1);
      }
      return { diverted };
    });
    expect(await diverted).toMatchObject({ code: 'not_found' });
    expect(await rowOf(object)).toMatchObject({ state: 'sending' });
    expect(await rowOf(object, 'archive')).toBeUndefined();
  });

  it('lets a person send a waiting delivery to another destination, once', async () => {
    const object = await add();
    const id = (await rowOf(object))?.id ?? '';
    const made = await divertByHand(site.database, id, 'archive', HOUR);
    expect(made).toMatchObject({ destination: 'archive', alternate_of: id, state: 'pending' });
    await expect(divertByHand(site.database, id, 'archive', HOUR)).rejects.toMatchObject({
      code: 'not_found',
    });
  });
});
