import { afterEach, describe, expect, it } from 'vitest';
import { createCallLimits, rateLimitHeaders } from '../../../src/http/call-limits.ts';
import { type Gateway, read, startGateway } from './gateway.ts';

describe('calls of a key', () => {
  const at = (start = 0) => {
    const clock = { seconds: start };
    const settings = { callsPerMinute: 60, openStreamsPerKey: 2 };
    return { clock, limits: createCallLimits(settings, () => clock.seconds) };
  };

  it("are allowed a minute's worth at once, then one for each that has come back", () => {
    const { clock, limits } = at();
    const burst = Array.from({ length: 61 }, () => limits.take('a').allowed);
    expect(burst.filter(Boolean)).toHaveLength(60);
    expect(burst.at(-1)).toBe(false);
    clock.seconds = 0.9;
    expect(limits.take('a')).toMatchObject({ allowed: false, retrySeconds: 1 });
    clock.seconds = 1.1;
    expect(limits.take('a').allowed).toBe(true);
    expect(limits.take('a').allowed).toBe(false);
  });

  it('come back up to a minute’s worth and no more', () => {
    const { clock, limits } = at();
    for (let n = 0; n < 60; n++) limits.take('a');
    clock.seconds = 3600;
    expect(limits.take('a').remaining).toBe(59);
  });

  it('of one key take nothing from another', () => {
    const { limits } = at();
    for (let n = 0; n < 61; n++) limits.take('a');
    expect(limits.take('b')).toMatchObject({ allowed: true, remaining: 59 });
  });

  it('are told in header fields', () => {
    const { limits } = at();
    expect(rateLimitHeaders(limits.take('a'))).toEqual({
      'RateLimit-Policy': '"calls";q=60;w=60',
      RateLimit: '"calls";r=59;t=1',
    });
  });

  it('may hold so many streams open, and another once one has closed', () => {
    const { limits } = at();
    const close = limits.openStream('a');
    limits.openStream('a');
    expect(() => limits.openStream('a')).toThrow('rate_limited');
    limits.openStream('b');
    close();
    close();
    limits.openStream('a');
    expect(() => limits.openStream('a')).toThrow('rate_limited');
  });
});

describe('the HTTP door', () => {
  let gateway: Gateway;
  afterEach(() => gateway.stop());
  const start = async (callsPerMinute: number, openStreamsPerKey: number) => {
    gateway = await startGateway({
      limits: createCallLimits({ callsPerMinute, openStreamsPerKey }),
    });
  };

  it('answers 429 and says when to come back', async () => {
    await start(2, 1);
    const first = await gateway.call('/v1/models');
    expect(first.status).toBe(200);
    expect(first.headers.get('RateLimit')).toBe('"calls";r=1;t=30');
    await gateway.call('/v1/models');
    const refused = await gateway.call('/v1/models');
    expect(refused.status).toBe(429);
    expect((await read(refused)).code).toBe('rate_limited');
    const wait = Number(refused.headers.get('Retry-After'));
    expect(wait).toBeGreaterThan(1);
    expect(wait).toBeLessThanOrEqual(30);
    expect(refused.headers.get('RateLimit-Policy')).toBe('"calls";q=2;w=60');
    const other = await gateway.call('/v1/models', { key: await gateway.key() });
    expect(other.status).toBe(200);
  });

  it('refuses one open stream too many, and takes it when another has closed', async () => {
    await start(1000, 1);
    const id = await gateway.submit();
    const leave = new AbortController();
    const events = `/v1/requests/${id}/events`;
    const stream = await gateway.call(events, { signal: leave.signal });
    expect(stream.status).toBe(200);
    const refused = await gateway.call(events);
    expect(refused.status).toBe(429);
    expect(refused.headers.get('Retry-After')).toBe('1');
    leave.abort();
    await expect
      .poll(async () => {
        const again = await gateway.call(events, { signal: AbortSignal.timeout(5000) });
        await again.body?.cancel();
        return again.status;
      })
      .toBe(200);
  });
});
