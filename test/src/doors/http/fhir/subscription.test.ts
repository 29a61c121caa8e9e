import type { Bundle, OperationOutcome, Parameters, Subscription } from '@medplum/fhirtypes';
import { Client } from 'fhir-kit-client';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { subscriptionDeliverer } from '../../../../../src/app/wiring/subscriptions.ts';
import { revokeKey } from '../../../../../src/core/accounts/keys.ts';
import { createAuditWriter } from '../../../../../src/core/audit/audit.ts';
import { type Outbox, startOutbox } from '../../../../../src/core/outbox/outbox.ts';
import { announceFlag, announceVerified } from '../../../../../src/core/requests/announce.ts';
import { lockRequest } from '../../../../../src/core/requests/transitions.ts';
import {
  keepSubscriptions,
  MOST_SUBSCRIPTIONS,
} from '../../../../../src/core/subscriptions/subscriptions.ts';
import type { PooledDatabase } from '../../../../../src/platform/database/pooled.ts';
import { silentLogger as logger } from '../../../../../src/platform/logging/logger.ts';
import {
  createOutboundClient,
  type OutboundClient,
} from '../../../../../src/platform/outbound/client.ts';
import { createUrlGuard } from '../../../../../src/platform/outbound/url-guard.ts';
import { sampleResult } from '../../../../fhir/sample.ts';
import { indexDefinitions, validationErrors } from '../../../../fhir/validators.ts';
import { type Receiver, startReceiver } from '../../../core/webhooks/receiver.ts';
import { type Gateway, startGateway } from '../gateway.ts';

const BACKPORT = 'http://hl7.org/fhir/uv/subscriptions-backport/StructureDefinition';
const TOPIC = 'urn:sonogate:subscription-topic:';

let gateway: Gateway;
let receiver: Receiver;
let guarded: OutboundClient;
let outbox: Outbox;
let client: Client;
let key: string;
/** Seconds to wait after each failed attempt. In production these are minutes and hours. */
let waits: number[];

const clientOf = (bearerToken: string) =>
  new Client({ baseUrl: `${gateway.url}/fhir`, bearerToken });

beforeAll(async () => {
  indexDefinitions();
  receiver = await startReceiver();
  const guard = createUrlGuard({
    hosts: [{ host: '127.0.0.1', addresses: ['127.0.0.1'], ports: [receiver.port], http: true }],
    inputFiles: 'listed-hosts',
    maxFileBytes: 1,
    fetchTimeoutSeconds: 1,
  });
  guarded = createOutboundClient(guard);
  gateway = await startGateway({ outbound: guard });
  const database = gateway.database as PooledDatabase;
  const deliverer = subscriptionDeliverer({
    database,
    core: {
      get: async (id) => lockRequest(database, id),
      result: async () => sampleResult(),
    },
    outbound: guarded,
    audit: { write: createAuditWriter(database) },
    logger,
  });
  outbox = await startOutbox({
    database,
    deliverers: [{ ...deliverer, retryWait: (tries) => waits[tries - 1] ?? null }],
    config: {
      delivery: {
        retryBaseSeconds: 1,
        retryCapSeconds: 1,
        giveUpAfterHours: 1,
        breaker: { failures: 100, openSeconds: 1, longestOpenSeconds: 1 },
        alternateAfterMinutes: 1,
      },
    },
    logger,
  });
});
afterAll(async () => {
  await outbox.stop();
  await guarded.close();
  await gateway.stop();
  await receiver.close();
});

beforeEach(async () => {
  waits = [0, 0];
  key = await gateway.key();
  client = clientOf(key);
});
afterEach(async () => {
  await gateway.database.query(`DELETE FROM deliveries WHERE kind = 'subscription'`);
  await gateway.database.query('DELETE FROM destination_holds');
  await gateway.database.query('DELETE FROM fhir_subscriptions');
  await gateway.database.query('DELETE FROM webhook_endpoints');
  receiver.received.length = 0;
  receiver.replies.length = 0;
});

interface Asked {
  topic?: string;
  filter?: string;
  content?: string;
  endpoint?: string;
  header?: string[];
  heartbeat?: number;
  end?: string;
}

const resourceOf = ({
  topic = 'report-finished',
  filter,
  content = 'id-only',
  endpoint = `http://127.0.0.1:${receiver.port}/hook`,
  header,
  heartbeat,
  end,
}: Asked) => ({
  resourceType: 'Subscription',
  meta: { profile: [`${BACKPORT}/backport-subscription`] },
  status: 'requested',
  reason: 'Reports for the ward',
  ...(end && { end }),
  criteria: TOPIC + topic,
  ...(filter && {
    _criteria: {
      extension: [{ url: `${BACKPORT}/backport-filter-criteria`, valueString: filter }],
    },
  }),
  channel: {
    ...(heartbeat && {
      extension: [{ url: `${BACKPORT}/backport-heartbeat-period`, valueUnsignedInt: heartbeat }],
    }),
    type: 'rest-hook',
    endpoint,
    payload: 'application/fhir+json',
    _payload: { extension: [{ url: `${BACKPORT}/backport-payload-content`, valueCode: content }] },
    ...(header && { header }),
  },
});

const create = async (asked: Asked = {}, by = client) =>
  (await by.create({
    resourceType: 'Subscription',
    body: resourceOf(asked) as never,
  })) as unknown as Subscription;
const stored = async (id: string | undefined) =>
  (await client.read({
    resourceType: 'Subscription',
    id: String(id),
  })) as unknown as Subscription;
const activated = async (asked: Asked = {}, by = client) => {
  const made = await create(asked, by);
  await expect.poll(async () => (await stored(made.id)).status).toBe('active');
  return made;
};
const notifications = () => receiver.received.map(({ body }) => JSON.parse(body) as Bundle);
const parameter = (bundle: Bundle | undefined, name: string) => {
  const status = bundle?.entry?.[0]?.resource as Parameters | undefined;
  return status?.parameter?.filter((each) => each.name === name) ?? [];
};
const typeOf = (bundle: Bundle | undefined) => parameter(bundle, 'type')[0]?.valueCode;
const notified = async (count: number) => {
  await expect.poll(() => receiver.received.length).toBe(count);
  return notifications();
};
const finish = async () => {
  const id = await gateway.submit();
  await gateway.worker.start(id);
  await gateway.worker.succeed(id);
  outbox.wake();
  return id;
};
async function refusal(call: Promise<unknown>) {
  const error = await call.then(
    () => null,
    (thrown: { response: { status: number; data: OperationOutcome } }) => thrown,
  );
  const { status = 0, data } = error?.response ?? {};
  const [issue] = data?.issue ?? [];
  return { status, code: issue?.code, at: issue?.expression?.[0], text: issue?.diagnostics };
}

describe('a Subscription', () => {
  it('becomes active with its handshake, and sends a notification of a finished report', async () => {
    const made = await activated({ header: ['Authorization: Bearer ward-7'] });
    const request = await finish();
    const bundles = await notified(2);
    expect([made, ...bundles].flatMap(validationErrors)).toEqual([]);
    expect(bundles.map(typeOf)).toEqual(['handshake', 'event-notification']);
    expect(parameter(bundles[0], 'status')[0]?.valueCode).toBe('requested');

    const task = `${gateway.url}/fhir/Task/${request.replace('_', '-')}`;
    expect(parameter(bundles[1], 'events-since-subscription-start')[0]?.valueString).toBe('1');
    expect(parameter(bundles[1], 'notification-event')[0]?.part).toMatchObject([
      { name: 'event-number', valueString: '1' },
      { name: 'timestamp' },
      { name: 'focus', valueReference: { reference: task } },
    ]);
    expect(bundles[1]?.entry?.[1]).toMatchObject({
      fullUrl: task,
      resource: { resourceType: 'Task', status: 'completed' },
    });
    const [{ headers } = { headers: {} as Record<string, string> }] = receiver.received;
    expect(headers).toMatchObject({
      authorization: 'Bearer ward-7',
      'webhook-signature': expect.stringMatching(/^v1,/),
      'content-type': expect.stringContaining('application/fhir+json'),
    });
    expect(made.channel?.header).toEqual(['Authorization: hidden']);
  });

  it('sends no more than was requested: an empty payload has neither the Task nor its id', async () => {
    await activated({ content: 'empty' });
    const request = await finish();
    const bundles = await notified(2);
    expect(bundles.flatMap(validationErrors)).toEqual([]);
    expect(bundles[1]?.entry).toHaveLength(1);
    expect(JSON.stringify(bundles[1])).not.toContain(request.replace('_', '-'));
  });

  it('sends the whole report only for a live key that may retrieve studies, and audits it', async () => {
    expect(await refusal(create({ content: 'full-resource' }))).toMatchObject({
      status: 403,
      code: 'forbidden',
    });
    const test = await gateway.key({ test: true, scopes: ['read', 'retrieve'] });
    expect(await refusal(create({ content: 'full-resource' }, clientOf(test)))).toMatchObject({
      status: 403,
    });
    const other = await gateway.key({ accountId: 'other', scopes: ['read', 'retrieve'] });
    expect(await refusal(create({ content: 'full-resource' }, clientOf(other)))).toMatchObject({
      status: 403,
    });
    const radiology = await gateway.key({ scopes: ['read', 'retrieve'] });
    await activated({ content: 'full-resource' }, clientOf(radiology));
    const request = await finish();
    const bundles = await notified(2);
    expect(bundles.flatMap(validationErrors)).toEqual([]);
    const types = bundles[1]?.entry?.map(({ resource }) => resource?.resourceType) ?? [];
    expect(types.slice(0, 2)).toEqual(['Parameters', 'Task']);
    expect(types).toEqual(expect.arrayContaining(['DiagnosticReport', 'Observation']));
    await expect
      .poll(async () => {
        const { rows } = await gateway.database.query(
          `SELECT 1 FROM audit WHERE action = 'report.sent' AND request_id = $1`,
          [request],
        );
        return rows.length;
      })
      .toBe(1);
  });

  it('is notified only of events at its endpoint and in its account', async () => {
    const foreign = clientOf(await gateway.key({ accountId: 'other' }));
    await create({}, foreign);
    await activated({ filter: 'Task?code=us/echo/interpret' });
    const wanted = await activated({ filter: 'Task?code=us/obstetric/interpret' });
    await activated({ filter: 'Task?focus:identifier=urn:dicom:uid|urn:oid:1.2.3' });
    await expect.poll(() => receiver.received.length).toBe(4);
    await finish();
    const bundles = await notified(5);
    expect(parameter(bundles[4], 'subscription')[0]?.valueReference?.reference).toContain(
      wanted.id,
    );
  });

  it('made with a live key is not notified of what the mock pipeline makes up', async () => {
    await activated();
    const isOf = (test: boolean) =>
      gateway.database.query('UPDATE fhir_subscriptions SET test = $1', [test]);
    await isOf(true);
    await finish();
    await isOf(false);
    const request = await gateway.submit();
    await gateway.database.query('UPDATE requests SET test = true WHERE id = $1', [request]);
    await gateway.worker.start(request);
    await gateway.worker.succeed(request);
    const { rows } = await gateway.database.query('SELECT 1 FROM fhir_subscription_events');
    expect(rows).toEqual([]);
  });

  it('is notified of flags, failures and signatures, each with its own topic and once', async () => {
    await activated({ topic: 'critical-flag' });
    await activated({ topic: 'request-failed' });
    await activated({ topic: 'report-signed' });
    const id = await gateway.submit();
    await gateway.worker.start(id);
    await gateway.database.transaction(async (tx) => {
      const row = await lockRequest(tx, id);
      if (!row) throw new Error('no request');
      const flag = { section: 'pericardial-effusion', code: 'large' };
      await announceFlag(tx, row, flag);
      await announceFlag(tx, row, flag);
      await announceVerified(tx, row, 1);
      await announceVerified(tx, row, 2);
    });
    await gateway.worker.reject(id, 'no image');
    outbox.wake();
    const bundles = (await notified(7)).slice(3);
    const topics = bundles.map((bundle) => parameter(bundle, 'topic')[0]?.valueCanonical);
    expect(topics.sort()).toEqual(
      ['critical-flag', 'report-signed', 'report-signed', 'request-failed'].map(
        (one) => TOPIC + one,
      ),
    );
  });

  it('shows its status and its events, with which a client can fill a gap', async () => {
    const made = await activated();
    const requests = [await finish(), await finish()];
    await notified(3);
    const operation = async (name: string, parameters = '') =>
      (await (
        await gateway.call(`/fhir/Subscription/${made.id}/${name}${parameters}`)
      ).json()) as Bundle;
    const status = await operation('$status');
    expect(validationErrors(status)).toEqual([]);
    expect(parameter(status, 'events-since-subscription-start')[0]?.valueString).toBe('2');
    const events = await operation('$events', '?eventsSinceNumber=2');
    expect(validationErrors(events)).toEqual([]);
    expect(typeOf(events)).toBe('query-event');
    expect(parameter(events, 'notification-event')).toHaveLength(1);
    expect(events.entry?.[1]?.resource?.id).toBe(requests[1]?.replace('_', '-'));
  });

  it('is in error while its address does not respond, and active again afterwards', async () => {
    receiver.replies.push({ status: 500 });
    waits = [1];
    const made = await create();
    await expect.poll(async () => (await stored(made.id)).status).toBe('error');
    expect((await stored(made.id)).error).toBe('HTTP 500');
    await expect.poll(async () => (await stored(made.id)).status).toBe('active');
  });

  it('is switched off once its address is gone, its time is over or its key is revoked', async () => {
    const gone = await activated();
    receiver.replies.push({ status: 410 });
    await finish();
    await expect.poll(async () => (await stored(gone.id)).status).toBe('off');

    await gateway.database.query('UPDATE webhook_endpoints SET disabled_at = NULL');
    const over = await activated({ end: new Date(Date.now() + 3_600_000).toISOString() });
    await keepSubscriptions(gateway.database, new Date(Date.now() + 3_700_000));
    expect((await stored(over.id)).status).toBe('off');

    const short = await gateway.key();
    const orphan = await activated({}, clientOf(short));
    const { rows } = await gateway.database.query<{ key_id: string }>(
      'SELECT key_id FROM fhir_subscriptions WHERE id = $1',
      [orphan.id?.replace('-', '_')],
    );
    await revokeKey(gateway.database, rows[0]?.key_id ?? '');
    const before = receiver.received.length;
    await finish();
    await expect.poll(async () => (await stored(orphan.id)).status).toBe('off');
    expect(receiver.received.length).toBe(before);
  });

  it('sends a heartbeat after its period of silence, with one row for all heartbeats', async () => {
    const made = await activated({ heartbeat: 60 });
    const beat = async (minutes: number) => {
      await keepSubscriptions(gateway.database, new Date(Date.now() + minutes * 60_000));
      outbox.wake();
    };
    await beat(0.5);
    await beat(2);
    await notified(2);
    await expect.poll(async () => typeOf(notifications()[1])).toBe('heartbeat');
    const settled = () =>
      gateway.database.query(
        `SELECT 1 FROM deliveries WHERE object = 'heartbeat' AND state = 'delivered'`,
      );
    await expect.poll(async () => (await settled()).rows.length).toBe(1);
    await beat(3);
    await notified(3);
    await expect.poll(async () => (await settled()).rows.length).toBe(1);
    expect(typeOf(notifications()[2])).toBe('heartbeat');
    expect((await stored(made.id)).status).toBe('active');
  });

  it('is found and read by its account only, and deleted by its own key or an administrator', async () => {
    const made = await activated();
    const find = async (searchParams: Record<string, string>, by = client) =>
      (
        (await by.resourceSearch({
          resourceType: 'Subscription',
          searchParams,
        })) as unknown as Bundle
      ).entry?.map(({ resource }) => resource?.id) ?? [];
    expect(await find({ status: 'active', criteria: `${TOPIC}report-finished` })).toEqual([
      made.id,
    ]);
    expect(await find({ status: 'off' })).toEqual([]);
    for (const by of [
      clientOf(await gateway.key({ accountId: 'other' })),
      clientOf(await gateway.key({ test: true })),
    ]) {
      const id = String(made.id);
      expect(await find({}, by)).toEqual([]);
      expect(await refusal(by.read({ resourceType: 'Subscription', id }))).toMatchObject({
        status: 404,
      });
      expect(await refusal(by.delete({ resourceType: 'Subscription', id }))).toMatchObject({
        status: 404,
      });
    }
    const colleague = clientOf(await gateway.key());
    expect(await find({ _id: String(made.id) }, colleague)).toEqual([made.id]);
    const kept = { resourceType: 'Subscription', id: String(made.id) };
    expect(await refusal(colleague.delete(kept))).toMatchObject({ status: 403 });
    await client.delete(kept);
    expect(await find({})).toEqual([]);
    await finish();
    expect(receiver.received).toHaveLength(1);
    const { id: second } = await activated();
    const administrator = clientOf(await gateway.key({ scopes: ['admin'] }));
    await administrator.delete({ resourceType: 'Subscription', id: String(second) });
    expect(await find({})).toEqual([]);
  });
});

describe('a Subscription that is refused', () => {
  it.each<[string, Asked, string]>([
    ['an unknown topic', { topic: 'anything' }, 'criteria'],
    ['a filter on another resource', { filter: 'Patient?name=x' }, 'criteria.extension'],
    ['a content that does not exist', { content: 'all' }, 'channel.payload.extension'],
    ['a heartbeat every second', { heartbeat: 1 }, 'channel.extension'],
    ['an end in the past', { end: '2020-01-01T00:00:00Z' }, 'end'],
    ['a header that is ours', { header: ['Webhook-Id: 1'] }, 'channel.header[0]'],
    ['a header with two lines', { header: ['A: b\r\nHost: x'] }, 'channel.header[0]'],
    ['an address inside', { endpoint: 'https://127.0.0.1/x' }, 'channel.endpoint'],
    ['cloud metadata', { endpoint: 'https://169.254.169.254/latest' }, 'channel.endpoint'],
    ['an internal name', { endpoint: 'https://intranet/x' }, 'channel.endpoint'],
    ['another scheme', { endpoint: 'file:///etc/passwd' }, 'channel.endpoint'],
  ])('reports the element of %s', async (_, asked, at) => {
    const { status, code, ...found } = await refusal(create(asked));
    expect({ status, code, at: found.at }).toEqual({ status: 422, code: 'invalid', at });
  });

  it('is not R4, is too large, or is one too many', async () => {
    const post = (body: unknown) => gateway.call('/fhir/Subscription', { body });
    expect((await post({ ...resourceOf({}), modifierExtension: [{ url: 'x' }] })).status).toBe(422);
    expect((await post({ resourceType: 'Bundle' })).status).toBe(422);
    expect((await post({ ...resourceOf({}), text: 'x'.repeat(20_000) })).status).toBe(413);
    const short = clientOf(await gateway.key());
    for (let n = 0; n < MOST_SUBSCRIPTIONS; n += 1) await create({}, short);
    expect(await refusal(create({}, short))).toMatchObject({ status: 429, code: 'throttled' });
  });
});
