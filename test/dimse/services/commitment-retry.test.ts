import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { loadConfig } from '../../../config/load.ts';
import type { DicomDestination } from '../../../config/schema.ts';
import { type Listener, listen } from '../../../dimse/network/listener.ts';
import { requestCommitments } from '../../../dimse/services/commitment-scu.ts';
import { EXPLICIT_VR_LITTLE_ENDIAN } from '../../../pipelines/dicom/transfer-syntaxes.ts';
import { askAgainSeconds, settleReport } from '../../../src/core/outbox/commitment.ts';
import { silentLogger } from '../../../src/platform/logging/logger.ts';
import { ClientCertificates } from '../../../src/platform/tls/client-files.ts';
import { freePort } from '../../peers/free-port.ts';
import { openSite, type Site } from '../site.ts';

let site: Site;
/**
 * A PACS that accepts each commitment request and closes the association without sending a report.
 */
let taker: Listener;
beforeAll(async () => {
  site = await openSite();
  taker = await listen({
    host: '127.0.0.1',
    port: 0,
    aeTitle: null,
    maxPduBytes: 16_384,
    maxAssociations: 4,
    offer: () => ({ preferred: [], others: [EXPLICIT_VR_LITTLE_ENDIAN] }),
    admit: () => ({ idleTimeoutSeconds: 0.3 }),
    storage: {
      open: () => Promise.reject(new Error('no objects here')),
      ended: async () => {},
    },
    normalized: async () => ({ status: 0 }),
    logger: silentLogger,
  });
});
afterAll(async () => {
  await taker?.close();
  await site?.close();
});

test.each([
  [1, 60],
  [2, 120],
  [6, 1920],
  [7, 3600],
  [100, 3600],
])('after %i failed requests the next follows in %i seconds', (failures, seconds) => {
  expect(askAgainSeconds(failures)).toBe(seconds);
});

test('objects whose request was cut short when its process ended are requested again within minutes', async () => {
  const silent = createServer();
  await once(silent.listen(0, '127.0.0.1'), 'listening');
  const { port } = silent.address() as AddressInfo;
  const pacs = { type: 'dicom', name: 'silent', host: '127.0.0.1', port, aeTitle: 'PACS' };
  const { destinations } = loadConfig({}, { destinations: [{ ...pacs, storageCommitment: true }] });
  await site.database.query(
    `WITH made AS (INSERT INTO deliveries (id, kind, destination, object, state, give_up_at)
       VALUES ('dlv_2', 'forward', 'silent', 'p', 'delivered', now()) RETURNING id)
     INSERT INTO delivered_objects (delivery_id, destination, sop_class_uid, sop_instance_uid)
     SELECT id, 'silent', '1.2', '1.4' FROM made`,
  );
  const now = new Date();
  const connected = once(silent, 'connection');
  const asking = requestCommitments({
    database: site.database,
    destinations: destinations.filter((each): each is DicomDestination => each.type === 'dicom'),
    aeTitle: 'SONOGATE',
    certificates: new ClientCertificates(),
    logger: silentLogger,
    now: () => now,
  });
  const [socket] = (await connected) as [Socket];
  const { rows } = await site.database.query<{ seconds: number }>(
    `SELECT extract(epoch FROM ask_at - asked_at)::float8 AS seconds FROM delivered_objects
     WHERE destination = 'silent'`,
  );
  expect(rows[0]?.seconds).toBe(240);
  socket.destroy();
  silent.close();
  await asking;
});

test('a request that is interrupted because the gateway stops does not count, and is due again at once', async () => {
  const silent = createServer();
  await once(silent.listen(0, '127.0.0.1'), 'listening');
  const { port } = silent.address() as AddressInfo;
  const pacs = { type: 'dicom', name: 'stopped', host: '127.0.0.1', port, aeTitle: 'PACS' };
  const { destinations } = loadConfig({}, { destinations: [{ ...pacs, storageCommitment: true }] });
  await site.database.query(
    `WITH made AS (INSERT INTO deliveries (id, kind, destination, object, state, give_up_at)
       VALUES ('dlv_3', 'forward', 'stopped', 'p', 'delivered', now()) RETURNING id)
     INSERT INTO delivered_objects (delivery_id, destination, sop_class_uid, sop_instance_uid)
     SELECT id, 'stopped', '1.2', '1.5' FROM made`,
  );
  const now = new Date();
  const stopping = new AbortController();
  const connected = once(silent, 'connection');
  const asking = requestCommitments({
    database: site.database,
    destinations: destinations.filter((each): each is DicomDestination => each.type === 'dicom'),
    aeTitle: 'SONOGATE',
    certificates: new ClientCertificates(),
    logger: silentLogger,
    now: () => now,
    signal: stopping.signal,
  });
  await connected;
  stopping.abort();
  await asking;
  silent.close();
  const { rows } = await site.database.query(
    `SELECT failed_asks, asks, ask_at FROM delivered_objects WHERE destination = 'stopped'`,
  );
  expect(rows).toEqual([{ failed_asks: 0, asks: 0, ask_at: now }]);
});

test('a PACS that cannot be reached is asked again after a minute, then after two', async () => {
  const port = await freePort();
  const pacs = { type: 'dicom', name: 'pacs', host: '127.0.0.1', port, aeTitle: 'PACS' };
  const { destinations } = loadConfig({}, { destinations: [{ ...pacs, storageCommitment: true }] });
  await site.database.query(
    `INSERT INTO deliveries (id, kind, destination, object, state, give_up_at)
     VALUES ('dlv_1', 'forward', 'pacs', 'o', 'delivered', now())`,
  );
  await site.database.query(
    `INSERT INTO delivered_objects (delivery_id, destination, sop_class_uid, sop_instance_uid)
     VALUES ('dlv_1', 'pacs', '1.2', '1.3')`,
  );
  let now = Date.now();
  const transactionAfter = async (seconds: number) => {
    now += seconds * 1000;
    await requestCommitments({
      database: site.database,
      destinations: destinations.filter((each): each is DicomDestination => each.type === 'dicom'),
      aeTitle: 'SONOGATE',
      certificates: new ClientCertificates(),
      logger: silentLogger,
      now: () => new Date(now),
    });
    const { rows } = await site.database.query<{ transaction_uid: string }>(
      `SELECT transaction_uid FROM delivered_objects WHERE destination = 'pacs'`,
    );
    return rows[0]?.transaction_uid;
  };
  const first = await transactionAfter(0);
  expect(await transactionAfter(59)).toBe(first);
  const second = await transactionAfter(1);
  expect(second).not.toBe(first);
  expect(await transactionAfter(119)).toBe(second);
  expect(await transactionAfter(1)).not.toBe(second);
});

describe('a PACS that accepts the request but reports whenever it likes', () => {
  const DAY = 86_400;
  let count = 0;
  let uid = '';
  let delivery = '';
  let now = new Date();

  beforeEach(async () => {
    count += 1;
    uid = `1.2.840.93.${count}`;
    delivery = `late-${count}`;
    now = new Date();
    await site.database.query(
      `INSERT INTO deliveries (id, kind, destination, object, state, give_up_at)
       VALUES ($1, 'forward', $1, 'p', 'delivered', now())`,
      [delivery],
    );
    await deliver();
  });

  /** Writes the same rows as the outbox once the PACS has accepted the object. */
  const deliver = () =>
    site.database.query(
      `INSERT INTO delivered_objects (delivery_id, destination, sop_class_uid, sop_instance_uid)
       VALUES ($1, $1, '1.2', $2) ON CONFLICT (delivery_id, sop_instance_uid) DO UPDATE SET
         transaction_uid = NULL, asked_at = NULL, ask_at = NULL, failed_asks = 0,
         committed_at = NULL, failure_reason = NULL`,
      [delivery, uid],
    );

  /**
   * Lets the given number of seconds pass, then requests commitment from a PACS that returns
   * success but sends no report.
   */
  async function askAfter(seconds: number): Promise<string> {
    now = new Date(now.getTime() + seconds * 1000);
    const { destinations } = loadConfig(
      {},
      {
        destinations: [
          {
            type: 'dicom',
            name: delivery,
            host: '127.0.0.1',
            port: taker.port,
            aeTitle: 'PACS',
            storageCommitment: true,
          },
        ],
      },
    );
    await requestCommitments({
      database: site.database,
      destinations: destinations.filter((each): each is DicomDestination => each.type === 'dicom'),
      aeTitle: 'SONOGATE',
      certificates: new ClientCertificates(),
      logger: silentLogger,
      now: () => now,
    });
    const { rows } = await site.database.query<{ transaction_uid: string }>(
      'SELECT transaction_uid FROM delivered_objects WHERE delivery_id = $1',
      [delivery],
    );
    return rows[0]?.transaction_uid ?? '';
  }

  const report = (transactionUid: string, reason: number | null = null) => {
    const object = { sopClassUid: '1.2', sopInstanceUid: uid };
    const told = {
      transactionUid,
      committed: reason === null ? [object] : [],
      failed: reason === null ? [] : [{ ...object, reason }],
    };
    return settleReport(site.database, told, now);
  };
  const state = async () => {
    const { rows } = await site.database.query<{ state: string; committed: boolean }>(
      'SELECT state, committed_at IS NOT NULL AS committed FROM deliveries WHERE id = $1',
      [delivery],
    );
    return rows[0];
  };

  test('is asked again after one day, two, four, then each week', async () => {
    let last = await askAfter(0);
    for (const days of [1, 2, 4, 7, 7]) {
      expect(await askAfter(days * DAY - 1)).toBe(last);
      const next = await askAfter(1);
      expect(next).not.toBe(last);
      last = next;
    }
  });

  test('may still report on the first transaction after a second one was requested', async () => {
    const first = await askAfter(0);
    expect(await askAfter(DAY)).not.toBe(first);
    expect(await report(first)).toBe(true);
    expect(await state()).toEqual({ state: 'delivered', committed: true });
  });

  test('stays committed when another transaction fails, before or after', async () => {
    const first = await askAfter(0);
    const second = await askAfter(DAY);
    expect(await report(second, 0x0213)).toBe(true);
    expect(await state()).toEqual({ state: 'dead', committed: false });
    await report(first);
    expect(await state()).toEqual({ state: 'delivered', committed: true });
    await report(second, 0x0213);
    expect(await state()).toEqual({ state: 'delivered', committed: true });
  });

  test('ends a delivery at the time of its refusal, which the figures of dead deliveries go by', async () => {
    const endedAgo = async () => {
      const { rows } = await site.database.query<{ state: string; hours: number }>(
        `SELECT state, floor(EXTRACT(EPOCH FROM now() - ended_at) / 3600)::int AS hours
         FROM deliveries WHERE id = $1`,
        [delivery],
      );
      return rows[0];
    };
    await site.database.query(
      "UPDATE deliveries SET ended_at = now() - interval '25 hours' WHERE id = $1",
      [delivery],
    );
    const transaction = await askAfter(0);
    expect(await endedAgo()).toEqual({ state: 'delivered', hours: 25 });
    await report(transaction, 0x0110);
    expect(await endedAgo()).toEqual({ state: 'dead', hours: 0 });

    // The PACS had the object all the time, and the delivery was counted when it accepted it.
    await report(transaction);
    expect(await endedAgo()).toEqual({ state: 'delivered', hours: 25 });
  });

  test('cannot commit an object through a report from before it was delivered again', async () => {
    const first = await askAfter(0);
    await deliver();
    expect(await report(first)).toBe(false);
    const second = await askAfter(0);
    expect(await report(first)).toBe(false);
    expect(await report(second)).toBe(true);
  });

  test('learns that a transaction which was never ours is unknown', async () => {
    await askAfter(0);
    expect(await report('2.25.1')).toBe(false);
  });
});
