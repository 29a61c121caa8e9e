import { once } from 'node:events';
import { request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEFAULT_ACCOUNT_ID, type Principal } from '../../../../src/core/accounts/keys.ts';
import { type Gateway, startGateway } from './gateway.ts';

describe('an event stream', () => {
  let gateway: Gateway;
  let keyChecked = Promise.resolve();
  let auditFails = false;

  beforeAll(async () => {
    const authenticate = async (): Promise<Principal> => {
      await keyChecked;
      return { accountId: DEFAULT_ACCOUNT_ID, keyId: 'key_1', test: false, scopes: ['admin'] };
    };
    gateway = await startGateway({
      authenticate,
      writeAudit: async () => {
        if (auditFails) throw new Error('the audit cannot be written');
      },
      callLimits: { callsPerMinute: 100_000, openStreamsPerKey: 1 },
    });
  });
  afterAll(() => gateway.stop());

  it('of a client that disconnects before it begins does not count as open', async () => {
    const id = await gateway.submit();
    const url = `${gateway.url}/v1/requests/${id}/events`;
    const slow = Promise.withResolvers<void>();
    keyChecked = slow.promise;
    const call = request(url, { headers: { Authorization: 'Bearer sg_live_x' } }).end();
    call.on('error', () => {});
    await once(call, 'socket');
    await delay(50);
    call.destroy();
    await delay(50);
    slow.resolve();
    await delay(50);

    const answer = await gateway.call(`/v1/requests/${id}/events`);
    expect(answer.status).toBe(200);
    await answer.body?.cancel();
  });

  it('answers HEAD at once with the headers of the stream, and does not count as open', async () => {
    const path = `/v1/requests/${await gateway.submit()}/events`;
    for (const _ of [1, 2]) {
      const answer = await gateway.call(path, { method: 'HEAD' });
      expect(answer.status).toBe(200);
      expect(answer.headers.get('Content-Type')).toContain('text/event-stream');
    }
    const stream = await gateway.call(path);
    expect(stream.status).toBe(200);
    await stream.body?.cancel();
  });

  it('sends nothing if the call cannot be audited', async () => {
    const id = await gateway.submit();
    auditFails = true;
    const answer = await gateway.call(`/v1/requests/${id}/events`);
    auditFails = false;
    expect(answer.status).toBe(500);
    expect(await answer.text()).not.toContain('event:');
  });
});
