import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { sendDueReports } from '../../../dimse/services/commitment-scp.ts';
import { createLogger } from '../../../src/platform/logging/logger.ts';
import { freePort } from '../../peers/free-port.ts';
import { openSite, type Site } from '../site.ts';

const DAY = 86_400;
const REQUESTED = new Date('2026-05-01T08:00:00Z');

let site: Site;
const events: string[] = [];
const logger = createLogger('warn', { write: (line) => events.push(JSON.parse(line).event) });
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site?.close());
beforeEach(() => {
  events.length = 0;
});

/**
 * Creates a pending report. Returns a function that tries to send it some time later and returns
 * its row.
 */
async function waiting(transaction: string, port: number | null) {
  const [first] = site.config.sources;
  if (!first) throw new Error('the site has no source');
  const node = port === null ? undefined : { host: '127.0.0.1', port, aeTitle: 'CART' };
  await site.database.query(
    `INSERT INTO commitment_reports (transaction_uid, calling_ae_title, source, committed, failed,
       requested_at, next_at) VALUES ($1, 'CART', $2, '[]', '[]', $3, $3)`,
    [transaction, first.name, REQUESTED],
  );
  return async (seconds: number) => {
    await sendDueReports({
      database: site.database,
      sources: [{ ...first, node }],
      aeTitle: 'SONOGATE',
      logger,
      now: () => new Date(REQUESTED.getTime() + seconds * 1000),
    });
    const { rows } = await site.database.query<{
      attempt: number;
      code: string;
      given_up: boolean;
    }>(
      `SELECT attempt, code, given_up_at IS NOT NULL AS given_up FROM commitment_reports
       WHERE transaction_uid = $1`,
      [transaction],
    );
    return rows[0];
  };
}

test('the report for a source without a `node` is tried every day, and abandoned after seven', async () => {
  const tell = await waiting('1.1', null);
  const code = 'invalid_config';
  expect(await tell(0)).toEqual({ attempt: 1, code, given_up: false });
  expect(await tell(DAY - 1)).toMatchObject({ attempt: 1 });
  expect(await tell(7 * DAY - 1)).toEqual({ attempt: 2, code, given_up: false });
  expect(await tell(8 * DAY - 1)).toEqual({ attempt: 3, code, given_up: true });
  expect(await tell(20 * DAY)).toMatchObject({ attempt: 3 });
  expect(events).toEqual([
    'commitment_without_node',
    'commitment_without_node',
    'commitment_given_up',
  ]);
});

test('the report to a machine that does not answer is abandoned after exactly seven days', async () => {
  const tell = await waiting('1.2', await freePort());
  const code = 'peer_unreachable';
  expect(await tell(7 * DAY - 3600)).toEqual({ attempt: 1, code, given_up: false });
  expect(await tell(7 * DAY)).toEqual({ attempt: 2, code, given_up: true });
  expect(events).toEqual(['commitment_unreported', 'commitment_given_up']);
});

test('a machine that is silent delays neither other machines nor the stop of the gateway', async () => {
  const silent = createServer(() => {}).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const [first] = site.config.sources;
  if (!first) throw new Error('the site has no source');
  const at = (port: number) => ({ host: '127.0.0.1', port, aeTitle: 'CART' });
  const sources = [
    { ...first, name: 'silent', node: at((silent.address() as AddressInfo).port) },
    { ...first, name: 'other', node: at(await freePort()) },
  ];
  for (const [transaction, source] of Object.entries({ '1.3': 'silent', '1.4': 'other' })) {
    await site.database.query(
      `INSERT INTO commitment_reports (transaction_uid, calling_ae_title, source, committed,
         failed, requested_at, next_at) VALUES ($1, 'CART', $2, '[]', '[]', $3, $3)`,
      [transaction, source, REQUESTED],
    );
  }
  const attempts = async (transaction: string) =>
    (
      await site.database.query<{ attempt: number }>(
        'SELECT attempt FROM commitment_reports WHERE transaction_uid = $1',
        [transaction],
      )
    ).rows[0]?.attempt;
  const stopping = new AbortController();
  const sending = sendDueReports({
    database: site.database,
    sources,
    aeTitle: 'SONOGATE',
    logger,
    now: () => REQUESTED,
    signal: stopping.signal,
  });
  await expect.poll(() => attempts('1.4'), { timeout: 5000 }).toBe(1);
  stopping.abort();
  const began = performance.now();
  await sending;
  expect(performance.now() - began).toBeLessThan(5000);
  expect(await attempts('1.3')).toBe(0);
  silent.close();
}, 60_000);
