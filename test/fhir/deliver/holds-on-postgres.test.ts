import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHoldQueue } from '../../../fhir/deliver/holds.ts';
import { closeDelivery } from '../../../src/core/outbox/close.ts';
import { sendAgain } from '../../../src/core/outbox/deliveries.ts';
import { migrate } from '../../../src/platform/database/migrate.ts';
import { openDatabase, type PooledDatabase } from '../../../src/platform/database/open.ts';
import type { Queryable } from '../../../src/platform/database/port.ts';
import { silentLogger } from '../../../src/platform/logging/logger.ts';
import { type PostgresServer, startPostgres } from '../../peers/postgres.ts';

const server = await startPostgres();

describe.skipIf(server === null)('a held report on which two people decide at once', () => {
  let database: PooledDatabase;

  beforeAll(async () => {
    const databaseUrl = await (server as PostgresServer).createDatabase();
    database = await openDatabase({ databaseUrl, dataDir: '', logger: silentLogger });
    await migrate(database);
    await database.query(
      `INSERT INTO requests (id, account_id, model, endpoint, version, status, stage, priority, test,
         input, files, prior_files, metadata, source, cost, deliver_to, created_at)
       VALUES ('req_1', 'default', 'm', 'e', '1', 'succeeded', '{}', 'normal', false, '{}', '[]',
         '[]', '{}', '{"kind": "http"}', '{}', '[]', now())`,
    );
  });
  afterAll(async () => {
    await database?.close();
    await server?.stop();
  });

  const addHeld = (id: string) =>
    database.query(
      `INSERT INTO deliveries (id, request_id, kind, destination, object, state, code, give_up_at)
       VALUES ($1, 'req_1', 'fhir', 'ehr', $1, 'dead', 'ehr_patient_ambiguous', now())`,
      [id],
    );
  /** The hold queue; a decision takes a while between its steps. */
  const slow = () => {
    const again = async (tx: Queryable, id: string) => {
      await delay(300);
      await sendAgain(tx, id, ['dead', 'pending'], 60);
    };
    return createHoldQueue({
      database,
      subjectOf: async () => null,
      sendAgain: again,
      close: closeDelivery,
    });
  };

  it('is released or rejected, but not both', async () => {
    await addHeld('dlv_1');
    const holds = slow();
    const released = holds.release({ id: 'dlv_1', person: 'ana', withoutOrder: true });
    await delay(100);
    const rejected = holds.reject({ id: 'dlv_1', person: 'bo', reason: 'a phantom' });
    await expect(rejected).rejects.toMatchObject({ code: 'not_found' });
    await released;
  });

  it('is released with the patient of one person only', async () => {
    await addHeld('dlv_2');
    const holds = slow();
    const choose = (person: string, patient: string) =>
      holds.release({ id: 'dlv_2', person, patient, withoutOrder: false });
    const chosen = await Promise.allSettled([
      choose('ana', 'Patient/1'),
      choose('bo', 'Patient/2'),
    ]);
    expect(chosen.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  });
});
