import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { closeByHand } from '../../../../src/core/outbox/close.ts';
import { COMMITMENT_REFUSED, settleReport } from '../../../../src/core/outbox/commitment.ts';
import {
  enqueueDeliveries,
  enqueueForwards,
  listDeliveries,
  replayAll,
  replayDelivery,
} from '../../../../src/core/outbox/deliveries.ts';
import { claimDelivery } from '../../../../src/core/outbox/outbox.ts';
import { migrate } from '../../../../src/platform/database/migrate.ts';
import { freshDataDir } from '../../../peers/embedded.ts';
import { type PostgresServer, startPostgres } from '../../../peers/postgres.ts';
import { openSite, type Site } from '../requests/site.ts';

const postgres: PostgresServer | null = await startPostgres();
afterAll(() => postgres?.stop());

const HOUR = 3600;
const REPLACED = { at: '2026-11-30T06:00:00.000Z', by: 'Sam', reason: 'The PACS was replaced' };

describe.each([
  { name: 'embedded', server: false },
  { name: 'PostgreSQL server', server: true },
])('a delivery that a person closes: $name', ({ server }) => {
  const missing = server && !postgres;
  let site: Site;
  let count = 0;

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
  });

  /** Adds the delivery of a received object, with further columns. */
  const add = async (columns: string, revision = 1): Promise<string> => {
    count += 1;
    const instance = `object-${count}`;
    await site.database.transaction((tx) =>
      enqueueForwards(tx, [{ instance, study: 's', revision }], ['pacs'], HOUR),
    );
    const { rows } = await site.database.query<{ id: string }>(
      `UPDATE deliveries SET ${columns} WHERE object = $1 RETURNING id`,
      [instance],
    );
    return rows[0]?.id ?? '';
  };
  const addReport = async (columns: string): Promise<string> => {
    const request = await site.submit();
    const target = { kind: 'fhir', destination: 'ehr', object: 'fhir-bundle' } as const;
    await site.database.transaction((tx) => enqueueDeliveries(tx, request, [target], HOUR));
    const { rows } = await site.database.query<{ id: string }>(
      `UPDATE deliveries SET ${columns} WHERE request_id = $1 RETURNING id`,
      [request],
    );
    return rows[0]?.id ?? '';
  };
  const rowOf = async (id: string) => (await listDeliveries(site.database, { id }))[0];
  const close = (id: string) => closeByHand(site.database, id, REPLACED);

  it('keeps who closed it and why, its error and the time at which it failed', async () => {
    const ended = new Date('2026-11-29T06:00:00Z');
    const id = await add(
      "state = 'dead', code = 'peer_unreachable', ended_at = '2026-11-29T06:00Z'",
    );
    await close(id);
    expect(await rowOf(id)).toMatchObject({
      state: 'closed',
      closed: REPLACED,
      code: 'peer_unreachable',
      ended_at: ended,
    });
  });

  it.each(['pending', 'sending', 'delivered', 'diverted', 'closed'])(
    'must be dead, not %s',
    async (state) => {
      const id = await add(`state = '${state}'`);
      await expect(close(id)).rejects.toMatchObject({
        code: 'delivery_not_closable',
        detail: `The delivery is ${state}; only a dead one can be closed.`,
      });
      expect(await rowOf(id)).toMatchObject({ state, closed: null });
    },
  );

  it('must exist', async () => {
    await expect(close('dlv_none')).rejects.toMatchObject({ code: 'not_found' });
  });

  it('is not a held report: those who decide about it reject it', async () => {
    const id = await addReport("state = 'dead', code = 'ehr_patient_ambiguous'");
    await expect(close(id)).rejects.toMatchObject({
      code: 'delivery_not_closable',
      detail: expect.stringContaining('hold reject'),
    });
  });

  it('is sent again when a person replays it, but not with all dead ones of its destination', async () => {
    const id = await add("state = 'dead'");
    await close(id);
    expect(await replayAll(site.database, 'pacs', HOUR)).toBe(0);
    await replayDelivery(site.database, id, HOUR);
    expect(await rowOf(id)).toMatchObject({ state: 'pending', closed: null, ended_at: null });
  });

  it('delays no later delivery of its study, and goes first once it is replayed', async () => {
    const [first, later] = [await add("state = 'dead'"), await add("state = 'pending'", 2)];
    const next = async () => (await claimDelivery(site.database, ['forward'], [], HOUR))?.id;
    await close(first);
    expect(await next()).toBe(later);
    await site.database.query("UPDATE deliveries SET state = 'pending' WHERE id = $1", [later]);
    await replayDelivery(site.database, first, HOUR);
    expect(await next()).toBe(first);
    expect(await next()).toBeUndefined();
  });

  it('is delivered after all if the PACS commits to its object later', async () => {
    const id = await add(`state = 'dead', code = '${COMMITMENT_REFUSED.code}'`);
    await site.database.query(
      `INSERT INTO delivered_objects (delivery_id, destination, sop_class_uid, sop_instance_uid,
         transaction_uid) VALUES ($1, 'pacs', '1.2.3', '1.2.4', '1.2.5')`,
      [id],
    );
    await close(id);
    expect(await rowOf(id)).toMatchObject({ state: 'closed', maybe_received: true });
    const committed = [{ sopClassUid: '1.2.3', sopInstanceUid: '1.2.4' }];
    await settleReport(
      site.database,
      { transactionUid: '1.2.5', committed, failed: [] },
      new Date(),
    );
    expect(await rowOf(id)).toMatchObject({ state: 'delivered', closed: null, code: null });
  });

  it('was a report rejected by an earlier version, which left it dead', async () => {
    const decided = async (...actions: string[]) => {
      const id = await addReport("state = 'dead', code = 'ehr_withdrawn'");
      for (const action of actions) {
        await site.database.query(
          `INSERT INTO hold_actions (at, delivery_id, request_id, destination, action, person, reason)
           VALUES ('2026-11-30T06:00Z', $1, '', 'ehr', $2, 'ana', 'a phantom')`,
          [id, action],
        );
      }
      return id;
    };
    const rejected = await decided('reject', 'show');
    const released = await decided('reject', 'release');
    await site.database.query('ALTER TABLE deliveries DROP COLUMN closed');
    await site.database.query('DELETE FROM schema_migrations WHERE name LIKE $1', ['%closed%']);
    await migrate(site.database);
    expect(await rowOf(rejected)).toMatchObject({
      state: 'closed',
      closed: { at: REPLACED.at, by: 'ana', reason: 'a phantom' },
    });
    expect(await rowOf(released)).toMatchObject({ state: 'dead', closed: null });
  });
});
