import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadConfig } from '../../../config/load.ts';
import type { DicomDestination } from '../../../config/schema.ts';
import {
  askAgainSeconds,
  askForCommitment,
} from '../../../dimse/services/storage-commitment-scu.ts';
import { silentLogger } from '../../../src/logging/logger.ts';
import { freePort } from '../../peers/free-port.ts';
import { openSite, type Site } from '../site.ts';

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site?.close());

test.each([
  [1, 60],
  [2, 120],
  [6, 1920],
  [7, 3600],
  [100, 3600],
])('after %i failed requests the next comes in %i seconds', (failures, seconds) => {
  expect(askAgainSeconds(failures)).toBe(seconds);
});

test('objects whose request was cut short by the end of its process are asked for again within minutes', async () => {
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
  const asking = askForCommitment({
    database: site.database,
    destinations: destinations.filter((each): each is DicomDestination => each.type === 'dicom'),
    aeTitle: 'SONOGATE',
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

test('a PACS that is away is asked again after a minute, then after two', async () => {
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
    await askForCommitment({
      database: site.database,
      destinations: destinations.filter((each): each is DicomDestination => each.type === 'dicom'),
      aeTitle: 'SONOGATE',
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
