import { Agent, type IncomingMessage, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Gateway, read, startGateway } from './gateway.ts';

/**
 * Both ends of each socket are in this process, which limits their number. `test/bench/http.ts`
 * opens 10,000.
 */
const STREAMS = 1000;

describe(`${STREAMS} open event streams`, () => {
  let gateway: Gateway;
  let key: string;
  const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY });
  const open: IncomingMessage[] = [];
  const texts: string[] = [];

  beforeAll(async () => {
    gateway = await startGateway({
      callLimits: { callsPerMinute: 100_000, openStreamsPerKey: STREAMS },
    });
    key = await gateway.key();
  });
  afterAll(async () => {
    agent.destroy();
    await gateway.stop();
  });

  const follow = (id: string) =>
    new Promise<number>((resolve, reject) => {
      const headers = { Authorization: `Bearer ${key}` };
      request(`${gateway.url}/v1/requests/${id}/events`, { agent, headers }, (answer) => {
        const n = open.push(answer) - 1;
        texts[n] = '';
        answer.setEncoding('utf8').on('data', (chunk: string) => {
          texts[n] += chunk;
        });
        resolve(answer.statusCode ?? 0);
      })
        .on('error', reject)
        .end();
    });

  it('are all served until their request ends; one more is refused, and other requests continue', {
    timeout: 60_000,
  }, async () => {
    const [first, second] = [await gateway.submit(), await gateway.submit()];
    for (let n = 0; n < STREAMS; n += 100) {
      const ids = Array.from({ length: 100 }, (_, k) => (k % 2 === 0 ? first : second));
      expect(new Set(await Promise.all(ids.map(follow)))).toEqual(new Set([200]));
    }
    expect((await gateway.call(`/v1/requests/${first}/events`, { key })).status).toBe(429);
    expect((await read(await gateway.call(`/v1/requests/${first}`))).status).toBe('queued');

    await gateway.worker.start(first);
    await gateway.worker.succeed(first);
    const ended = () => texts.filter((text) => text.includes('event: done')).length;
    await expect.poll(ended).toBe(STREAMS / 2);
    expect((await read(await gateway.call(`/v1/requests/${second}`))).status).toBe('queued');
  });
});
