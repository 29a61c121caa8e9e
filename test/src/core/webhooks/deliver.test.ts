import { Webhook as StandardWebhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Outbox, startOutbox } from '../../../../src/core/outbox/outbox.ts';
import { MAX_BODY_BYTES } from '../../../../src/core/requests/announce.ts';
import type { Webhook } from '../../../../src/core/requests/request.ts';
import { transition } from '../../../../src/core/requests/transitions.ts';
import { createWebhookDeliverer } from '../../../../src/core/webhooks/deliver.ts';
import { listWebhookDeliveries, redeliver } from '../../../../src/core/webhooks/deliveries.ts';
import { isDisabled } from '../../../../src/core/webhooks/endpoints.ts';
import { currentSecret, rotateSecret } from '../../../../src/core/webhooks/signature.ts';
import { silentLogger as logger } from '../../../../src/platform/logging/logger.ts';
import {
  createOutboundClient,
  type OutboundClient,
} from '../../../../src/platform/outbound/client.ts';
import { createUrlGuard } from '../../../../src/platform/outbound/url-guard.ts';
import { openSite, type Site } from '../requests/site.ts';
import { type Receiver, startReceiver } from './receiver.ts';

const ACCOUNT = 'acc_1';
const BOTH = ['request.succeeded', 'request.failed'];
const HOUR_MS = 3_600_000;
/** The port of tcpmux, on which nothing listens. */
const CLOSED_PORT = 1;

describe('a webhook', () => {
  let site: Site;
  let receiver: Receiver;
  let client: OutboundClient;
  let outbox: Outbox | null;
  /** Seconds to wait after each failed attempt. In production these are minutes and hours. */
  let waits: number[];
  let ahead = 0;
  const now = () => new Date(Date.now() + ahead);

  beforeAll(async () => {
    site = await openSite();
    await site.startWorker();
  });
  afterAll(() => site.close());

  beforeEach(async () => {
    waits = [0, 0];
    ahead = 0;
    receiver = await startReceiver();
    const { port } = receiver;
    const own = {
      host: '127.0.0.1',
      addresses: ['127.0.0.1'],
      ports: [port, CLOSED_PORT],
      http: true,
    };
    client = createOutboundClient(
      createUrlGuard({
        hosts: [own],
        inputFiles: 'listed-hosts',
        maxFileBytes: 1,
        fetchTimeoutSeconds: 1,
      }),
    );
    await site.database.query('DELETE FROM deliveries');
    await site.database.query('DELETE FROM destination_holds');
    await site.database.query('DELETE FROM webhook_secrets');
    const deliverer = createWebhookDeliverer({
      database: site.database,
      bodyOf: (id, accountId, object) =>
        site.core.webhookBody(id, accountId, object, 'http://gateway.example'),
      client,
      logger,
      now,
    });
    outbox = await startOutbox({
      database: site.database,
      deliverers: [{ ...deliverer, retryWait: (tries) => waits[tries - 1] ?? null }],
      config: site.config,
      logger,
    });
  });
  afterEach(async () => {
    await outbox?.stop();
    await client.close();
    await receiver.close();
  });

  const hook = (changes: Partial<Webhook> = {}): Webhook => ({
    url: `http://127.0.0.1:${receiver.port}/hook?token=1`,
    events: BOTH,
    ...changes,
  });
  const submit = (behaviour = 'result', changes: Partial<Webhook> = {}) =>
    site.submit(behaviour, { webhook: hook(changes) });
  const deliveries = async () =>
    (await listWebhookDeliveries(site.database, { accountId: ACCOUNT, limit: 100 })).rows;
  const settled = async (state: string) => {
    await expect.poll(async () => (await deliveries()).map((row) => row.state)).toEqual([state]);
    const [delivery] = await deliveries();
    if (!delivery) throw new Error('no delivery');
    return delivery;
  };
  const secret = async () => (await currentSecret(site.database, ACCOUNT, now())).secret;
  const verify = async (call = receiver.received.at(-1)) =>
    new StandardWebhook(await secret()).verify(
      call?.body ?? '',
      call?.headers as Record<string, string>,
    );

  it('reports the end of a request with the request object, which its receiver can verify', async () => {
    const id = await submit();
    const delivery = await settled('delivered');
    expect(delivery).toMatchObject({ request_id: id, object: 'request.succeeded' });
    expect(delivery.id).toMatch(/^whd_[0-9a-z]{26}$/);
    expect(receiver.received).toMatchObject([
      {
        method: 'POST',
        path: '/hook?token=1',
        headers: { 'content-type': 'application/json', 'webhook-id': delivery.id },
      },
    ]);
    expect(await verify()).toMatchObject({
      id,
      object: 'request',
      status: 'succeeded',
      output: { texts: ['hello'] },
      urls: { self: `http://gateway.example/v1/requests/${id}` },
    });
    expect(delivery.attempts).toMatchObject([{ status: 204, answer_bytes: 0, error: null }]);
  });

  it.each([
    ['reject', 'rejected'],
    ['throw', 'failed'],
  ])('reports a request that ends by "%s" as request.failed', async (behaviour, status) => {
    await submit(behaviour);
    expect(await settled('delivered')).toMatchObject({ object: 'request.failed' });
    expect(await verify()).toMatchObject({ status, error: { code: expect.any(String) } });
  });

  it('leaves out events that were not requested, and requests that were canceled', async () => {
    const unasked = await submit('reject', { events: ['request.succeeded'] });
    await site.follow(unasked);
    const canceled = await submit('hang');
    await site.until(canceled, 'running');
    await site.core.cancel(canceled, ACCOUNT);
    expect(await deliveries()).toEqual([]);
  });

  it('leaves out an output that makes the body longer than 20 kB', async () => {
    const id = await site.submit(
      'result',
      { webhook: hook(), metadata: { long: 'é'.repeat(MAX_BODY_BYTES / 2) } },
      {},
    );
    await settled('delivered');
    expect(await verify()).toMatchObject({ id, output: null, output_omitted: true });
  });

  it('has the form of the compatible queue for its requests, and is also signed', async () => {
    const id = await submit('result', { shape: 'queue' });
    await settled('delivered');
    expect(await verify()).toMatchObject({
      request_id: id,
      status: 'OK',
      payload: { texts: ['hello'] },
    });
  });

  it.each([[500], [300], [301], [302], [404]])(
    'is retried after %i, under the same id, without following a redirect',
    async (status) => {
      const Location = `http://127.0.0.1:${receiver.port}/elsewhere`;
      receiver.replies.push({ status, headers: { Location }, body: 'sorry' });
      await submit();
      const { attempts } = await settled('delivered');
      expect(attempts).toMatchObject([{ status, answer_bytes: 5 }, { status: 204 }]);
      expect(receiver.received.map(({ path }) => path)).toEqual(['/hook?token=1', '/hook?token=1']);
      expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
      await verify();
    },
  );

  it('keeps the beginning of a response for the operator', async () => {
    receiver.replies.push({ status: 200, body: `\0${'x'.repeat(5000)}` });
    await submit();
    await settled('delivered');
    const { rows } = await site.database.query<{ answer: string }>(
      'SELECT answer FROM webhook_attempts ORDER BY at DESC LIMIT 1',
    );
    expect(rows[0]?.answer).toHaveLength(1024);
  });

  it('is abandoned after the last attempt, but a person can have it sent again', async () => {
    receiver.replies.push({ status: 500 }, { status: 500 }, { status: 500 }, { status: 500 });
    await submit();
    const dead = await settled('dead');
    expect(dead).toMatchObject({ code: 'webhook_refused', detail: 'HTTP 500' });
    expect(dead.attempts).toHaveLength(3);

    await redeliver(site.database, ACCOUNT, dead.id);
    const again = await settled('delivered');
    expect(again.attempts.map(({ status }) => status)).toEqual([500, 500, 500, 500, 204]);
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id']))).toEqual(
      new Set([dead.id]),
    );
  });

  it('can be sent again only by the account to which it belongs', async () => {
    await submit();
    const { id } = await settled('delivered');
    await expect(redeliver(site.database, 'acc_2', id)).rejects.toMatchObject({
      code: 'not_found',
    });
    await redeliver(site.database, ACCOUNT, id);
    await expect.poll(() => receiver.received.length).toBe(2);
  });

  it('to an address that answers 410 disables it, until a person redelivers', async () => {
    receiver.replies.push({ status: 410 });
    await submit();
    const dead = await settled('dead');
    expect(dead).toMatchObject({ code: 'webhook_disabled', disabled_at: expect.any(Date) });
    expect(await isDisabled(site.database, ACCOUNT, hook().url)).toBe(true);

    const second = await submit();
    await site.follow(second);
    await expect.poll(async () => (await deliveries())[0]?.state).toBe('dead');
    expect(receiver.received).toHaveLength(1);

    await redeliver(site.database, ACCOUNT, dead.id);
    await expect.poll(async () => (await deliveries())[1]?.state).toBe('delivered');
    expect(await isDisabled(site.database, ACCOUNT, hook().url)).toBe(false);
  });

  it('may be tried for five days, longer than its schedule', async () => {
    await submit();
    await settled('delivered');
    const { rows } = await site.database.query<{ hours: number }>(
      `SELECT EXTRACT(EPOCH FROM give_up_at - created_at)::float8 / 3600 AS hours FROM deliveries
       WHERE kind = 'webhook'`,
    );
    expect(rows).toEqual([{ hours: expect.closeTo(5 * 24, 3) }]);
  });

  it('that has failed for five days disables its address', async () => {
    receiver.replies.push({ status: 500 });
    waits = [];
    await submit();
    await settled('dead');
    expect(await isDisabled(site.database, ACCOUNT, hook().url)).toBe(false);
    ahead = 5 * 24 * HOUR_MS - 60_000;
    receiver.replies.push({ status: 500 });
    await site.follow(await submit());
    await expect.poll(async () => (await deliveries())[1]?.state).toBe('dead');
    expect(await isDisabled(site.database, ACCOUNT, hook().url)).toBe(false);
    ahead = 5 * 24 * HOUR_MS;
    receiver.replies.push({ status: 500 });
    await site.follow(await submit());
    await expect.poll(() => isDisabled(site.database, ACCOUNT, hook().url)).toBe(true);
  });

  it.each([
    [429, '40', 10, 40],
    [503, '40', 10, 40],
    [502, undefined, 41, 60],
    [504, undefined, 41, 60],
  ])('answered %i (Retry-After %s) holds its address', async (status, after, above, atMost) => {
    receiver.replies.push({ status, ...(after && { headers: { 'Retry-After': after } }) });
    await submit();
    await expect.poll(() => receiver.received.length).toBe(1);
    const held = async () => {
      const { rows } = await site.database.query<{ seconds: number }>(
        'SELECT EXTRACT(EPOCH FROM until - now())::float8 AS seconds FROM destination_holds',
      );
      return rows[0]?.seconds ?? 0;
    };
    await expect.poll(held).toBeGreaterThan(above);
    expect(await held()).toBeLessThanOrEqual(atMost);
    expect(receiver.received).toHaveLength(1);
  });

  it('is also signed with the old secret for 24 hours after a rotation', async () => {
    const old = await secret();
    await rotateSecret(site.database, ACCOUNT, now());
    expect(await secret()).not.toBe(old);
    const verifiedBy = (key: string) => () =>
      new StandardWebhook(key).verify(
        receiver.received.at(-1)?.body ?? '',
        receiver.received.at(-1)?.headers as Record<string, string>,
      );
    await submit();
    await settled('delivered');
    expect(verifiedBy(old)).not.toThrow();
    expect(verifiedBy(await secret())).not.toThrow();

    const { rows } = await site.database.query<{ ends_at: Date }>(
      'SELECT ends_at FROM webhook_secrets WHERE ends_at IS NOT NULL',
    );
    const left = (rows[0]?.ends_at.getTime() ?? 0) - Date.now();
    expect(left).toBeGreaterThan(23.9 * HOUR_MS);
    await site.database.query(
      `UPDATE webhook_secrets SET ends_at = now() WHERE ends_at IS NOT NULL`,
    );
    await site.follow(await submit());
    await expect.poll(() => receiver.received.length).toBe(2);
    expect(verifiedBy(old)).toThrow();
    expect(verifiedBy(await secret())).not.toThrow();
  });

  it('to an address that cannot be reached is an attempt without a status', async () => {
    waits = [];
    await submit('result', { url: `http://127.0.0.1:${CLOSED_PORT}/` });
    const { code, attempts } = await settled('dead');
    expect(code).toBe('webhook_unreachable');
    expect(attempts).toMatchObject([{ status: null, error: 'ECONNREFUSED' }]);
  });

  it('to an address that is no longer permitted ends at once', async () => {
    await submit('result', { url: `http://localhost:${receiver.port}/` });
    const { code, attempts } = await settled('dead');
    expect(code).toBe('url_not_permitted');
    expect(attempts).toMatchObject([{ status: null, error: 'not permitted' }]);
    expect(receiver.received).toEqual([]);
  });

  it('is not announced when the transaction that ends the request is rolled back', async () => {
    const id = await submit('hang');
    const { attempts } = await site.until(id, 'running');
    const fault = { code: 'internal' as const, detail: 'ended by the test' };
    const end = site.database.transaction(async (tx) => {
      await transition(tx, id, 'failed', { at: new Date(), attempt: attempts, fault });
      throw new Error('rolled back');
    });
    await expect(end).rejects.toThrow('rolled back');
    expect(await deliveries()).toEqual([]);
    await site.core.cancel(id, ACCOUNT);
  });
});
