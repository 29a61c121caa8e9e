import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Session } from '../../../../src/doors/console/contract.ts';
import { createOidcProvider, roleOf } from '../../../../src/doors/console/oidc.ts';
import { OPENSSL_INSTALLED } from '../../../peers/certificates.ts';
import { freePort } from '../../../peers/free-port.ts';
import { addDraft } from './draft.ts';
import {
  CLIENT,
  type IdentityProvider,
  openBrowser,
  startIdentityProvider,
} from './identity-provider.ts';
import { type ConsoleSite, openConsole } from './site.ts';

const ROLES = { viewer: ['staff'], clinician: ['readers', 'seniors'], administrator: ['heads'] };

let provider: IdentityProvider;
let site: ConsoleSite;
let folder: string;
let api: string;

beforeAll(async () => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  provider = await startIdentityProvider(`${url}/console/api/oidc/callback`, {
    reader: { name: 'Anne Reader', groups: ['staff', 'readers'] },
    stranger: { name: 'A Stranger', groups: ['catering'] },
  });
  folder = await mkdtemp(join(tmpdir(), 'sonogate-oidc-'));
  const secretFile = join(folder, 'secret');
  await writeFile(secretFile, `${CLIENT.secret}\n`);
  site = await openConsole(
    {
      console: {
        signInsPerMinute: 1000,
        oidc: {
          issuer: provider.issuer,
          clientId: CLIENT.id,
          clientSecret: { file: secretFile },
          label: 'the hospital',
          roles: ROLES,
        },
      },
    },
    port,
  );
  api = `${site.url}/console/api`;
});
afterAll(async () => {
  await site.close();
  await provider.close();
  await rm(folder, { recursive: true });
});

const start = async (browser: ReturnType<typeof openBrowser>, next = '/console/deliveries') =>
  (await browser.go(`${api}/oidc/start?next=${encodeURIComponent(next)}`)).headers.get(
    'location',
  ) ?? '';

describe('sign-in at an OpenID Connect provider', () => {
  it('is offered under its name', async () => {
    expect(await (await fetch(`${api}/sign-in`)).json()).toEqual({
      oidc: { label: 'the hospital' },
    });
  });

  it('asks for a code with PKCE, state and nonce', async () => {
    const { searchParams } = new URL(await start(openBrowser()));
    expect(Object.fromEntries(searchParams)).toMatchObject({
      response_type: 'code',
      client_id: CLIENT.id,
      scope: 'openid profile',
      code_challenge_method: 'S256',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
    });
  });

  it("leads back to the requested page, with the person's name and role", async () => {
    const browser = openBrowser();
    const back = await browser.signInAt(await start(browser), 'reader');
    const answer = await browser.go(back);
    expect(answer.headers.get('location')).toBe('/console/deliveries');
    const session = await (await browser.go(`${api}/session`)).json();
    expect(session).toMatchObject({ person: 'Anne Reader', role: 'clinician', signedInBy: 'oidc' });
    const cookies = browser.cookies(new URL(site.url).host);
    expect([...cookies.keys()]).toEqual(['sonogate-session']);
  });

  it('signs a result with the name and subject that the provider states', async () => {
    const id = await addDraft(site);
    const browser = openBrowser();
    await browser.go(await browser.signInAt(await start(browser), 'reader'));
    const { csrf } = (await (await browser.go(`${api}/session`)).json()) as Session;
    const [[name, value] = ['', '']] = browser.cookies(new URL(site.url).host);
    const sign = await fetch(`${api}/requests/${id}/sign`, {
      method: 'POST',
      headers: {
        cookie: `${name}=${value}`,
        'X-CSRF-Token': csrf,
        'Content-Type': 'application/json',
        'If-Match': '"r0"',
      },
      body: '{}',
    });
    expect(sign.status, await sign.clone().text()).toBe(200);
    const { rows } = await site.database.query(
      'SELECT observer, observer_id FROM review_signatures WHERE request_id = $1',
      [id],
    );
    expect(rows).toEqual([
      { observer: 'Anne Reader', observer_id: expect.stringContaining('reader') },
    ]);
  });

  it('refuses a person without a role, and explains why', async () => {
    const browser = openBrowser();
    const answer = await browser.go(await browser.signInAt(await start(browser), 'stranger'));
    expect(answer.headers.get('location')).toBe('/console/sign-in?error=forbidden');
    expect((await browser.go(`${api}/session`)).status).toBe(401);
  });

  it('accepts a code once, and only from the browser that started the sign-in', async () => {
    const browser = openBrowser();
    const back = await browser.signInAt(await start(browser), 'reader');
    const stolen = await openBrowser().go(back);
    expect(stolen.headers.get('location')).toBe('/console/sign-in?error=sign_in_failed');
    await browser.go(back);
    const again = await browser.go(back);
    expect(again.headers.get('location')).toBe('/console/sign-in?error=sign_in_failed');
  });

  it.each([
    ['another state', (back: URL) => back.searchParams.set('state', 'x'.repeat(43))],
    ['another code', (back: URL) => back.searchParams.set('code', 'x'.repeat(43))],
    ['another issuer', (back: URL) => back.searchParams.set('iss', 'https://evil.example')],
    [
      'an error of the provider',
      (back: URL) => {
        back.searchParams.delete('code');
        back.searchParams.set('error', 'access_denied');
      },
    ],
  ])('refuses %s', async (_, change) => {
    const browser = openBrowser();
    const back = new URL(await browser.signInAt(await start(browser), 'reader'));
    change(back);
    const answer = await browser.go(back.href);
    expect(answer.headers.get('location')).toBe('/console/sign-in?error=sign_in_failed');
    expect((await browser.go(`${api}/session`)).status).toBe(401);
  });

  it('never redirects outside the console', async () => {
    const browser = openBrowser();
    const begun = await start(browser, 'https://evil.example/console/');
    const answer = await browser.go(await browser.signInAt(begun, 'reader'));
    expect(answer.headers.get('location')).toBe('/console/');
  });

  it('reports that the provider became unreachable during the sign-in', async () => {
    const mortal = await startIdentityProvider('http://127.0.0.1:1/console/api/oidc/callback', {});
    const oidc = { issuer: mortal.issuer, clientId: CLIENT.id, roles: ROLES };
    const alone = await openConsole({ console: { oidc } });
    const browser = openBrowser();
    const begun = await browser.go(`${alone.url}/console/api/oidc/start`);
    const { searchParams } = new URL(begun.headers.get('location') ?? '');
    await mortal.close();
    const back = new URLSearchParams({
      code: 'x',
      state: searchParams.get('state') ?? '',
      iss: mortal.issuer,
    });
    const answer = await browser.go(`${alone.url}/console/api/oidc/callback?${back}`);
    expect(answer.headers.get('location')).toBe(
      '/console/sign-in?error=identity_provider_unavailable',
    );
    await alone.close();
  });

  it('reports that the provider cannot be reached, while keys can still sign in', async () => {
    const oidc = { issuer: 'http://127.0.0.1:1', clientId: 'x', roles: ROLES };
    const alone = await openConsole({ console: { oidc } });
    const answer = await openBrowser().go(`${alone.url}/console/api/oidc/start`);
    expect(answer.headers.get('location')).toBe(
      '/console/sign-in?error=identity_provider_unavailable',
    );
    expect((await alone.signIn('viewer')).session.role).toBe('viewer');
    await alone.close();
  });
});

describe('a provider that is changed while the gateway runs', () => {
  let port: number;
  let settings: Parameters<typeof createOidcProvider>[0];
  let secretFile: string;
  beforeEach(async () => {
    port = await freePort();
    secretFile = join(folder, 'rotated');
    await writeFile(secretFile, 'the first secret');
    settings = {
      issuer: `http://127.0.0.1:${port}`,
      clientId: CLIENT.id,
      clientSecret: { file: secretFile },
      label: 'x',
      scopes: ['openid', 'profile'],
      roleClaim: 'groups',
      nameClaim: 'name',
      roles: ROLES,
    };
  });
  const REDIRECT = 'http://127.0.0.1:1/console/api/oidc/callback';
  const startProvider = (changed: { secret?: string; authorization?: string }) =>
    startIdentityProvider(
      REDIRECT,
      { reader: { name: 'Anne Reader', groups: ['readers'] } },
      { port, ...changed },
    );

  it('is asked for its addresses again after ten minutes', async () => {
    let time = 0;
    const oidc = createOidcProvider(settings, () => time);
    const pathNow = async () => (await oidc.begin(REDIRECT)).address.pathname;
    const before = await startProvider({});
    expect(await pathNow()).toBe('/auth');
    await before.close();
    const after = await startProvider({ authorization: '/moved' });
    time = 599_000;
    expect(await pathNow()).toBe('/auth');
    time = 601_000;
    expect(await pathNow()).toBe('/moved');
    await after.close();
  });

  it('is sent a rotated secret at the sign-in after one that failed', async () => {
    const oidc = createOidcProvider(settings, () => 0);
    const signIn = async () => {
      const { address, pending } = await oidc.begin(REDIRECT);
      const back = await openBrowser().signInAt(address.href, 'reader');
      return oidc.complete(new URL(back), pending);
    };
    const before = await startProvider({ secret: 'the first secret' });
    await expect(signIn()).resolves.toMatchObject({ name: 'Anne Reader' });
    await before.close();
    const after = await startProvider({ secret: 'the second secret' });
    await writeFile(secretFile, 'the second secret');
    await expect(signIn()).rejects.toThrow('sign_in_failed');
    await expect(signIn()).resolves.toMatchObject({ name: 'Anne Reader' });
    await after.close();
  });
});

describe.skipIf(!OPENSSL_INSTALLED)(
  "a provider with a certificate of the hospital's authority",
  () => {
    it('is trusted if `caFile` names that authority, and otherwise not', async () => {
      const own = await mkdtemp(join(tmpdir(), 'sonogate-oidc-tls-'));
      const [certFile, keyFile] = [join(own, 'provider.crt'), join(own, 'provider.key')];
      // The certificate is its own authority.
      execFileSync('/usr/bin/openssl', [
        ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=provider'],
        ...['-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', keyFile, '-out', certFile],
      ]);
      const tls = { cert: await readFile(certFile), key: await readFile(keyFile) };
      const callback = 'http://127.0.0.1:1/console/api/oidc/callback';
      const secure = await startIdentityProvider(callback, {}, { tls });
      const common = { issuer: secure.issuer, clientId: CLIENT.id, label: 'x', scopes: ['openid'] };
      const settings = { ...common, roleClaim: 'groups', nameClaim: 'name', roles: ROLES };
      const trusting = createOidcProvider({ ...settings, caFile: certFile });
      expect((await trusting.begin(callback)).address.origin).toBe(secure.issuer);
      await expect(createOidcProvider(settings).begin(callback)).rejects.toThrow(
        'identity_provider_unavailable',
      );
      await secure.close();
      await rm(own, { recursive: true });
    });
  },
);

describe('roleOf', () => {
  it.each([
    [['staff'], 'viewer'],
    [['seniors', 'staff'], 'clinician'],
    ['readers', 'clinician'],
    [['heads', 'readers'], 'administrator'],
    [['catering'], null],
    [[], null],
    [undefined, null],
    [{ readers: true }, null],
    [[['heads']], null],
  ])('of the claim %j is %s', (claim, role) => {
    expect(roleOf(claim, ROLES)).toBe(role);
  });
});
