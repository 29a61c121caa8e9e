import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Worklist } from '../../../../src/core/studies/order.ts';
import { orderFor, orderSearch } from '../../../../src/core/studies/order.ts';
import { startOrderRounds } from '../../../../src/core/studies/order-rounds.ts';
import { findStudy } from '../../../../src/core/studies/study-store.ts';
import {
  DatabaseUnreachableError,
  type PooledDatabase,
} from '../../../../src/platform/database/pooled.ts';
import { silentLogger } from '../../../../src/platform/logging/logger.ts';
import type { Rounds } from '../../../../src/platform/rounds.ts';
import { instanceHeader } from '../../../dimse/instance-header.ts';
import { type OpenDatabase, openFreshDatabase } from '../../../peers/database.ts';

const START = new Date('2026-01-01T08:00:00Z');
const { identity } = instanceHeader({ identity: { PatientID: 'P1', AccessionNumber: 'A1' } });

let fresh: OpenDatabase;
let database: PooledDatabase;
beforeAll(async () => {
  fresh = await openFreshDatabase();
  ({ database } = fresh);
});
afterAll(async () => {
  await fresh.close();
});

let rounds: Rounds | null = null;
let audited: { worklist: string; found: number | null }[] = [];
let logged: string[] = [];
beforeEach(async () => {
  audited = [];
  logged = [];
  await database.query('DELETE FROM studies');
  await database.query(
    `INSERT INTO studies (id, study_instance_uid, source, calling_ae_title, called_ae_title, state,
       identity, first_received_at, last_received_at, complete_after)
     VALUES (gen_random_uuid(), '1.2.3', 'cart', 'CART', 'SONOGATE', 'complete', $2, $1, $1, $1)`,
    [START, identity],
  );
});
afterEach(() => rounds?.stop());

const study = async () => {
  const row = await findStudy(database, '1.2.3');
  if (!row) throw new Error('the study is gone');
  return row;
};
const wanted = async (waitSeconds: number) =>
  orderFor(database, await study(), { waitSeconds, at: START });
const start = (worklists: readonly Worklist[], now: Date | (() => Date) = START) => {
  rounds = startOrderRounds({
    worklists,
    database,
    queried: async (worklist, found) => void audited.push({ worklist, found }),
    logger: {
      ...silentLogger,
      event: (id: string, fields?: object) => void logged.push(`${id} ${JSON.stringify(fields)}`),
    },
    now: typeof now === 'function' ? now : () => now,
  });
  return rounds;
};

const silent = (name: string, asked = () => {}): Worklist => ({
  name,
  orders: (_keys, signal) =>
    new Promise((_resolve, reject) => {
      asked();
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    }),
});
const empty: Worklist = { name: 'healthy', orders: async () => [] };

describe('the searches for orders', () => {
  test('are repeated if the database with the received orders was away', async () => {
    let asked = 0;
    let now = START;
    await wanted(60);
    start(
      [
        {
          name: 'received',
          isLocal: true,
          async orders() {
            asked += 1;
            if (asked === 1) throw new DatabaseUnreachableError('the connection was lost');
            return [];
          },
        },
      ],
      () => now,
    );
    await expect.poll(() => asked).toBe(1);
    now = new Date(START.getTime() + 31_000);
    await expect.poll(async () => (await orderSearch(database, await study()))?.state).toBe('none');
  });

  test('give a worklist that hangs only its share of the time', async () => {
    let answeredInTime: boolean | null = null;
    const healthy: Worklist = {
      name: 'healthy',
      async orders(_keys, signal) {
        answeredInTime = !signal.aborted;
        signal.throwIfAborted();
        return [];
      },
    };
    await wanted(0.5);
    start([silent('hanging'), healthy]);
    await expect
      .poll(async () => orderSearch(database, await study()), { timeout: 60_000 })
      .toEqual({
        state: 'unavailable',
        detail: 'Not available: hanging did not respond in time.',
      });
    expect(answeredInTime).toBe(true);
    expect(audited).toEqual([
      { worklist: 'hanging', found: null },
      { worklist: 'healthy', found: 0 },
    ]);
    expect(logged.filter((line) => line.includes('healthy'))).toEqual([]);
  });

  test('are available to another process as soon as this one stops', async () => {
    let asked = () => {};
    const isAsked = new Promise<void>((resolve) => {
      asked = resolve;
    });
    await wanted(120);
    const first = start([silent('hanging', asked), empty]);
    await isAsked;
    await first.stop();
    expect(audited.map(({ worklist }) => worklist)).not.toContain('healthy');
    expect(logged).toEqual([]);
    start([empty]);
    await expect
      .poll(async () => orderSearch(database, await study()), { timeout: 60_000 })
      .toMatchObject({ state: 'none' });
  });

  test('of a process that was killed are repeated after half a minute', async () => {
    let asked = () => {};
    const isAsked = new Promise<void>((resolve) => {
      asked = resolve;
    });
    await wanted(120);
    // The first process hangs and does not stop, so nothing releases its claim.
    const killed = start([silent('hanging', asked)]);
    await isAsked;
    start([empty], new Date(START.getTime() + 31_000));
    await expect
      .poll(async () => orderSearch(database, await study()))
      .toMatchObject({ state: 'none' });
    await killed.stop();
  });
});
