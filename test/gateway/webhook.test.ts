import { createFalClient } from '@fal-ai/client';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Receiver, startReceiver } from '../src/core/webhooks/receiver.ts';
import { openSite, type Site } from './site.ts';

/** A run takes two seconds on an idle machine, and many times that on a busy one. */
const PATIENCE_MS = 110_000;

describe('the whole gateway and a client with its own webhook server', { timeout: 120_000 }, () => {
  let client: Receiver;
  let site: Site;
  let url: string;
  let secret: string;
  let key: string;

  beforeAll(async () => {
    client = await startReceiver();
    const host = { host: '127.0.0.1', addresses: ['127.0.0.1'], ports: [client.port], http: true };
    site = await openSite({
      outbound: { hosts: [host] },
      http: { host: '127.0.0.1', port: 0, fhirSubscriptions: true },
    });
    url = site.gateway.http?.url ?? '';
    const made = await site.gateway.run('keys.create', {
      name: 'tester',
      test: true,
      scopes: ['admin'],
    });
    key = made.key;
    const administrator = await site.gateway.run('keys.create', {
      name: 'administrator',
      scopes: ['admin'],
    });
    const answer = await fetch(`${url}/v1/webhooks/secret`, {
      headers: { Authorization: `Bearer ${administrator.key}` },
    });
    secret = ((await answer.json()) as { secret: string }).secret;
  });
  afterAll(async () => {
    await site.close();
    await client.close();
  });

  const call = async (path: string, body?: object): Promise<unknown> => {
    const answer = await fetch(url + path, {
      method: body ? 'POST' : 'GET',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    return answer.json();
  };
  const hosted = () => `http://127.0.0.1:${client.port}/study.dcm`;
  const hook = () => `http://127.0.0.1:${client.port}/hook`;
  const verified = async (requestId: string): Promise<unknown> => {
    const told = () => client.received.find(({ body }) => body.includes(requestId));
    await expect.poll(told, { timeout: PATIENCE_MS }).toBeDefined();
    const { body = '', headers = {} } = told() ?? {};
    return new Webhook(secret).verify(body, headers as Record<string, string>);
  };

  it.each([
    ['succeed', 'succeeded'],
    ['reject', 'rejected'],
    ['fail', 'failed'],
  ])('notifies the client how its request ended: %s', async (mock, status) => {
    const { id } = (await call('/v1/run/us/obstetric', {
      input: { files: [hosted()] },
      metadata: mock === 'succeed' ? {} : { mock },
      webhook: { url: hook() },
    })) as { id: string };
    expect(await verified(id)).toMatchObject({
      id,
      status,
      test: true,
      cost: { total: '0.00' },
      urls: { self: `${url}/v1/requests/${id}` },
    });
  });

  it('notifies a client of the compatible queue in the form of that queue', async () => {
    const fal = createFalClient({
      credentials: key,
      requestMiddleware: async (sent) => ({
        ...sent,
        url: sent.url.replace('https://queue.fal.run', `${url}/queue`),
      }),
    });
    const { request_id } = await fal.queue.submit('us/obstetric/interpret', {
      input: { files: [hosted()] },
      webhookUrl: hook(),
    });
    expect(await verified(request_id)).toMatchObject({ request_id, status: 'OK' });
  });

  it('notifies a FHIR subscriber of the report, after a handshake', async () => {
    const backport = 'http://hl7.org/fhir/uv/subscriptions-backport/StructureDefinition';
    const { id } = (await call('/fhir/Subscription', {
      resourceType: 'Subscription',
      status: 'requested',
      reason: 'ward',
      criteria: 'urn:sonogate:subscription-topic:report-finished',
      channel: {
        type: 'rest-hook',
        endpoint: `http://127.0.0.1:${client.port}/fhir-hook`,
        payload: 'application/fhir+json',
        _payload: {
          extension: [{ url: `${backport}/backport-payload-content`, valueCode: 'id-only' }],
        },
      },
    })) as { id: string };
    const active = async () => (await call(`/fhir/Subscription/${id}`)) as { status: string };
    await expect.poll(active, { timeout: PATIENCE_MS }).toMatchObject({ status: 'active' });
    const request = (await call('/v1/run/us/obstetric', {
      input: { files: [hosted()] },
    })) as { id: string };
    const told = () =>
      client.received.find(
        ({ path, body }) => path === '/fhir-hook' && body.includes(request.id.replace('_', '-')),
      );
    await expect.poll(told, { timeout: PATIENCE_MS }).toBeDefined();
    expect(JSON.parse(told()?.body ?? '')).toMatchObject({
      resourceType: 'Bundle',
      type: 'history',
      entry: [
        { resource: { resourceType: 'Parameters' } },
        { resource: { resourceType: 'Task', status: 'completed' } },
      ],
    });
  });
});
