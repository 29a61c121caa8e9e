import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { revokeKey } from '../../../../src/core/accounts/keys.ts';
import { nextPage } from '../../../../src/doors/console/session-routes.ts';
import {
  beginSession,
  digest,
  endSession,
  findSession,
  IDLE_MS,
  LONGEST_MS,
  watchSession,
} from '../../../../src/doors/console/sessions.ts';
import {
  type Client,
  type ConsoleSite,
  clientOf,
  cookieOf,
  openConsole,
  signInWith,
} from './site.ts';

let site: ConsoleSite;

beforeAll(async () => {
  site = await openConsole({ console: { signInsPerMinute: 1000 } });
});
afterAll(() => site.close());

const statusOf = async ({ call }: Pick<Client, 'call'>) => (await call('GET', '/session')).status;

describe('sign-in by key', () => {
  it('sets a cookie that no script can read and no other page sends with a change', async () => {
    const answer = await signInWith(site.url, (await site.key('viewer')).key);
    expect(answer.status).toBe(201);
    expect(answer.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^sonogate-session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/),
    ]);
  });

  it('stores neither the cookie nor the key: only their SHA-256', async () => {
    const { key } = await site.key('viewer');
    const token = cookieOf(await signInWith(site.url, key)).split('=')[1] ?? '';
    const { rows } = await site.database.query('SELECT * FROM console_sessions');
    const stored = JSON.stringify(rows);
    expect(stored).toContain(digest(token));
    expect(stored).not.toContain(token);
    expect(stored).not.toContain(key);
  });

  it.each([
    ['that is unknown', async () => `sg_live_${'0'.repeat(43)}`, 401],
    ['without a console role', async () => (await site.key(null)).key, 403],
  ])('refuses a key %s', async (_, key, status) => {
    const answer = await signInWith(site.url, await key());
    expect(answer.status).toBe(status);
    expect(answer.headers.getSetCookie()).toEqual([]);
  });

  it('refuses a page of another origin, which could sign a person in as somebody else', async () => {
    const { key } = await site.key('viewer');
    const answer = await signInWith(site.url, key, { Origin: 'https://evil.example' });
    expect(answer.status).toBe(403);
  });

  it('refuses plain HTTP from outside this machine', async () => {
    const { key } = await site.key('viewer');
    const port = new URL(site.url).port;
    const { request } = await import('node:http');
    const status = await new Promise((resolve) => {
      const call = request(
        {
          port,
          host: '127.0.0.1',
          path: '/console/api/session',
          method: 'POST',
          headers: { Host: 'gateway.hospital.example', 'Content-Type': 'application/json' },
        },
        (answer) => resolve(answer.statusCode),
      );
      call.end(JSON.stringify({ key }));
    });
    expect(status).toBe(403);
  });

  it('ends the session that the browser had', async () => {
    const first = await site.signIn('viewer');
    const { key } = await site.key('clinician');
    await signInWith(site.url, key, { cookie: first.cookie });
    expect(await statusOf(first)).toBe(401);
  });

  it('is audited, and so is an attempt with an unknown key', async () => {
    const client = await site.signIn('viewer');
    await signInWith(site.url, `sg_live_${'1'.repeat(43)}`);
    const { rows } = await site.database.query<{ action: string; key_id: string | null }>(
      `SELECT action, key_id, outcome FROM audit WHERE action IN ('session.login', 'key.refused')`,
    );
    expect(rows).toContainEqual({
      action: 'session.login',
      key_id: client.keyId,
      outcome: 'success',
    });
    expect(rows).toContainEqual({ action: 'key.refused', key_id: null, outcome: 'refused' });
  });
});

describe('a session', () => {
  let client: Client;
  beforeEach(async () => {
    client = await site.signIn('operator');
  });

  it('ends with sign-out, and its cookie is cleared', async () => {
    const answer = await client.call('DELETE', '/session');
    expect(answer.status).toBe(204);
    expect(answer.headers.getSetCookie()[0]).toContain('Max-Age=0');
    expect(await statusOf(client)).toBe(401);
  });

  it(`ends on every machine with "sign out everywhere", while other people's sessions continue`, async () => {
    const { key } = await site.key('operator');
    const open = async () => {
      const answer = await signInWith(site.url, key);
      return clientOf(site.url, cookieOf(answer), (await answer.json()) as Client['session']);
    };
    const [here, there] = [await open(), await open()];
    await here.call('DELETE', '/sessions');
    expect([await statusOf(here), await statusOf(there), await statusOf(client)]).toEqual([
      401, 401, 200,
    ]);
  });

  it('ends with its key', async () => {
    await revokeKey(site.database, client.keyId);
    expect(await statusOf(client)).toBe(401);
  });

  it("has its key's current role", async () => {
    await site.database.query(`UPDATE api_keys SET console_role = 'viewer' WHERE id = $1`, [
      client.keyId,
    ]);
    expect((await client.call('GET', '/rules')).status).toBe(403);
    await site.database.query('UPDATE api_keys SET console_role = NULL WHERE id = $1', [
      client.keyId,
    ]);
    expect(await statusOf(client)).toBe(401);
  });

  it('is not found with an altered cookie', async () => {
    const forged = clientOf(site.url, `${client.cookie}x`, client.session);
    expect(await statusOf(forged)).toBe(401);
  });
});

describe('the life of a session', () => {
  const start = new Date('2026-03-01T08:00:00Z');
  const later = (milliseconds: number) => new Date(start.getTime() + milliseconds);
  const person = { principal: 'oidc:x y', name: 'Y', role: 'viewer', keyId: null } as const;
  const stands = async (sha256: string, at: Date, used = false) =>
    (await findSession(site.database, sha256, at, { used })) !== null;

  it('ends when nobody uses it for half an hour, and not a moment before', async () => {
    const { session } = await beginSession(site.database, person, start);
    expect(await stands(session.sha256, later(IDLE_MS - 1))).toBe(true);
    expect(await stands(session.sha256, later(IDLE_MS))).toBe(false);
  });

  it('continues while used, up to its maximum length', async () => {
    const { session } = await beginSession(site.database, person, start);
    const step = IDLE_MS / 2;
    for (let at = step; at < LONGEST_MS; at += step) {
      expect(await stands(session.sha256, later(at), true)).toBe(true);
    }
    expect(await stands(session.sha256, later(LONGEST_MS - 1))).toBe(true);
    expect(await stands(session.sha256, later(LONGEST_MS), true)).toBe(false);
  });
});

describe('an open event stream', () => {
  const person = { principal: 'oidc:x z', name: 'Z', role: 'viewer' as const, keyId: null };
  afterEach(() => vi.useRealTimers());

  it('does not outlive its session by more than 10 s', async () => {
    const { session } = await beginSession(site.database, person, new Date());
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const { over, stop } = watchSession(session, {
      database: site.database,
      now: () => new Date(),
    });
    const looked = async () => {
      vi.advanceTimersByTime(10_000);
      await site.database.query('SELECT 1');
    };
    await looked();
    expect(over.aborted).toBe(false);
    await endSession(site.database, session.sha256);
    await looked();
    await vi.waitFor(() => expect(over.aborted).toBe(true));
    stop();
  });
});

describe('sign-in attempts', () => {
  it('are limited per minute for one address', async () => {
    const strict = await openConsole({ console: { signInsPerMinute: 2 } });
    const status = async () => (await signInWith(strict.url, 'guess')).status;
    expect([await status(), await status(), await status()]).toEqual([401, 401, 429]);
    await strict.close();
  });
});

describe('behind https', () => {
  it('the cookie is Secure and cannot be set by another host', async () => {
    const secure = await openConsole({ http: { publicUrl: 'https://console.example' } });
    const { key } = await secure.key('viewer');
    const answer = await signInWith(secure.url, key, { Origin: 'https://console.example' });
    expect(answer.headers.getSetCookie()).toEqual([
      expect.stringMatching(
        /^__Host-sonogate-session=\S+; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
      ),
    ]);
    const client = clientOf(secure.url, cookieOf(answer), (await answer.json()) as never);
    expect(await statusOf(client)).toBe(200);
    await secure.close();
  });
});

describe('the page after a sign-in', () => {
  it.each([
    ['/console/worklist/abc?tab=1', '/console/worklist/abc?tab=1'],
    ['https://evil.example/console/', '/console/'],
    ['//evil.example', '/console/'],
    ['/console/\\evil.example', '/console/'],
    ['/v1/keys', '/console/'],
    [undefined, '/console/'],
  ])('of %s is %s', (asked, page) => {
    expect(nextPage(asked)).toBe(page);
  });
});
