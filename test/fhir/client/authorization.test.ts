import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdtemp, readFile, rm, unlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { request } from 'undici';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { FhirDestination } from '../../../config/schema.ts';
import { backendToken } from '../../../fhir/client/backend-token.ts';
import { connectFhir } from '../../../fhir/client/client.ts';
import { FhirFailure } from '../../../fhir/client/outcome.ts';
import { sufficientScopes } from '../../../fhir/client/required-capabilities.ts';
import { tlsDispatcher } from '../../../fhir/client/tls-dispatcher.ts';
import { ClientCertificates } from '../../../src/platform/tls/client-files.ts';
import { type FhirTestServer, startFhirServer } from '../../peers/fhir-server.ts';
import {
  type RegisteredClient,
  startTokenServer,
  type TokenServer,
} from '../../peers/token-server.ts';

const CLIENT = { clientId: 'sonogate', keyId: 'key-2026' };
const SIGNAL = () => AbortSignal.timeout(10_000);
const DEVICE = { resourceType: 'Device' } as const;

let folder: string;
let ehr: FhirTestServer | undefined;
let tokens: TokenServer | undefined;
const file = (name: string) => join(folder, name);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sonogate-authorization-'));
});
afterEach(async () => {
  await ehr?.close();
  await tokens?.close();
  ehr = undefined;
  tokens = undefined;
});
afterAll(() => rm(folder, { recursive: true }));

const keyPairs = {
  RS384: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  ES384: () => generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  'P-256': () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
};

async function keyOf(kind: keyof typeof keyPairs): Promise<string> {
  const { privateKey, publicKey } = keyPairs[kind]();
  await writeFile(file('key.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
  return String(publicKey.export({ type: 'spki', format: 'pem' }));
}

function connection(settings: Partial<FhirDestination> = {}) {
  return connectFhir(
    {
      baseUrl: ehr?.baseUrl ?? '',
      authorization: {
        type: 'smart-backend',
        ...CLIENT,
        privateKeyFile: file('key.pem'),
      },
      tls: undefined,
      timeoutSeconds: 10,
      ...settings,
    },
    new ClientCertificates(),
  );
}

/** Starts an EHR behind an authorization server at which our public key is registered. */
async function start(
  algorithm: RegisteredClient['algorithm'],
  lifetimeSeconds?: number,
): Promise<TokenServer> {
  const publicKey = await keyOf(algorithm);
  const server = await startTokenServer({ ...CLIENT, publicKey, algorithm }, lifetimeSeconds);
  tokens = server;
  ehr = await startFhirServer({
    authorized: ({ authorization }) => server.accepts(authorization),
    smartConfiguration: {
      token_endpoint: server.tokenUrl,
      token_endpoint_auth_methods_supported: ['private_key_jwt'],
    },
  });
  return server;
}

const failure = async (call: Promise<unknown>) => {
  const error = await call.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof FhirFailure)) throw new Error('no FhirFailure');
  return error.reason;
};

describe('SMART Backend Services', () => {
  test.each(['RS384', 'ES384'] as const)(
    'exchanges an assertion signed with %s for a token that the EHR accepts',
    async (algorithm) => {
      const server = await start(algorithm);
      expect(await connection().create(DEVICE, SIGNAL())).toMatch(/^Device\//);
      expect(server.scope).toBe(sufficientScopes().join(' '));
    },
  );

  test('uses one token for many calls, including simultaneous ones', async () => {
    const server = await start('ES384');
    const to = connection();
    await Promise.all([1, 2, 3].map(() => to.create(DEVICE, SIGNAL())));
    await to.create(DEVICE, SIGNAL());
    expect(server.asked).toBe(1);
  });

  test('replaces a token before it expires: at 80 % of its life', async () => {
    const server = await start('ES384', 100);
    let time = 0;
    const service = { ...CLIENT, scope: '', privateKey: () => readFile(file('key.pem'), 'utf8') };
    const endpoint = { baseUrl: ehr?.baseUrl ?? '', dispatcherNow: async () => undefined };
    const kept = backendToken(service, endpoint, () => time);
    const first = await kept.current();
    time = 79_999;
    expect(await kept.current()).toBe(first);
    time = 80_000;
    expect(await kept.current()).not.toBe(first);
    expect(server.asked).toBe(2);
  });

  describe('from a token endpoint that does not answer', () => {
    test('is no longer awaited by a caller that stops, while the others still receive it', async () => {
      const server = await start('ES384');
      const release = server.hold();
      const to = connection();
      const stopping = new AbortController();
      const stopped = failure(to.create(DEVICE, stopping.signal));
      const other = to.create(DEVICE, SIGNAL());
      await expect.poll(() => server.asked).toBe(1);
      stopping.abort();
      expect(await stopped).toMatchObject({ failure: 'transient', code: 'ehr_unavailable' });
      expect(await failure(to.create(DEVICE, AbortSignal.abort()))).toMatchObject({
        failure: 'transient',
      });
      release();
      expect(await other).toMatch(/^Device\//);
      expect(server.asked).toBe(1);
    });

    test('is awaited no longer than the time-out of the destination', async () => {
      const server = await start('ES384');
      const release = server.hold();
      const reason = await failure(connection({ timeoutSeconds: 0.2 }).create(DEVICE, SIGNAL()));
      release();
      expect(reason).toMatchObject({
        failure: 'transient',
        code: 'ehr_unavailable',
        detail: 'The token endpoint: no answer in time',
      });
    });
  });

  test('replaces a revoked token once, and writes nothing twice', async () => {
    const server = await start('ES384');
    const to = connection();
    await to.create(DEVICE, SIGNAL());
    server.revoke();
    await to.create(DEVICE, SIGNAL());
    expect(server.asked).toBe(2);
    expect(await ehr?.all('Device')).toHaveLength(2);
  });

  test('tries an EHR that refuses fresh tokens twice, and then leaves it alone for a while', async () => {
    const server = await start('ES384');
    await ehr?.close();
    ehr = await startFhirServer({
      authorized: () => false,
      smartConfiguration: { token_endpoint: server.tokenUrl },
    });
    const reason = await failure(connection().create(DEVICE, SIGNAL()));
    expect(reason).toMatchObject({ failure: 'transient', code: 'ehr_unauthorized' });
    expect(reason.retryAfter).toBeGreaterThan(0);
    expect(server.asked).toBe(2);
  });

  test.each<[string, number, object | string, object]>([
    [
      'does not know us',
      400,
      { error: 'invalid_client', error_description: 'sonogate at Patient 0012345' },
      { code: 'ehr_unauthorized', detail: 'The token endpoint: invalid_client' },
    ],
    ['is down', 503, {}, { code: 'ehr_unavailable', failure: 'transient' }],
    [
      'answers with a page',
      200,
      '<html>',
      { code: 'ehr_unavailable', failure: 'transient', retryAfter: 300 },
    ],
    ['redirects', 302, {}, { code: 'ehr_unavailable', failure: 'transient', retryAfter: 300 }],
  ])('a token endpoint that %s', async (_, status, body, expected) => {
    const server = await start('ES384');
    server.fail(status, body);
    expect(await failure(connection().create(DEVICE, SIGNAL()))).toMatchObject(expected);
  });

  test.each([302, 404, 405, 409, 410, 412, 413, 500, 501])(
    'does not mistake HTTP %i of the token endpoint for the answer of the EHR',
    async (status) => {
      const server = await start('ES384');
      const to = connection();
      const body = { resourceType: 'OperationOutcome', issue: [{ code: 'not-found' }] };
      for (const call of [
        () => to.read('Patient', 'p1', SIGNAL()),
        () => to.capabilities(SIGNAL()),
        () => to.create(DEVICE, SIGNAL()),
      ]) {
        server.fail(status, body);
        const reason = await failure(call());
        expect(reason).toEqual({
          failure: 'transient',
          code: 'ehr_unavailable',
          detail: `The token endpoint: HTTP ${status}`,
          status: null,
          retryAfter: status < 500 || status === 501 ? 300 : undefined,
        });
      }
    },
  );

  test('an EHR without a SMART configuration is not an EHR without the patient', async () => {
    await start('ES384');
    await ehr?.close();
    ehr = await startFhirServer();
    expect(await failure(connection().read('Patient', 'p1', SIGNAL()))).toMatchObject({
      code: 'ehr_unavailable',
      status: null,
    });
  });

  test('waits as long as the token endpoint asks', async () => {
    const server = await start('ES384');
    server.fail(404, {}, 1, { 'retry-after': '7' });
    const reason = await failure(connection().create(DEVICE, SIGNAL()));
    expect(reason).toMatchObject({ code: 'ehr_unavailable', retryAfter: 7 });
  });

  test('prefers the address and scope in the settings to the discovered ones', async () => {
    const server = await start('ES384');
    const authorization: FhirDestination['authorization'] = {
      type: 'smart-backend',
      ...CLIENT,
      privateKeyFile: file('key.pem'),
      scope: 'system/*.write',
      tokenUrl: server.tokenUrl,
    };
    await connection({ authorization }).create(DEVICE, SIGNAL());
    expect(server.scope).toBe('system/*.write');
    expect(ehr?.calls.map(({ path }) => path)).not.toContain('/.well-known/smart-configuration');
  });

  test('refuses an EHR that accepts no signed assertions', async () => {
    const server = await start('ES384');
    await ehr?.close();
    ehr = await startFhirServer({
      smartConfiguration: {
        token_endpoint: server.tokenUrl,
        token_endpoint_auth_methods_supported: ['client_secret_basic'],
      },
    });
    const { detail } = await failure(connection().create(DEVICE, SIGNAL()));
    expect(detail).toContain('private_key_jwt');
    expect(server.asked).toBe(0);
  });

  test('refuses a key on another curve before anything is sent', async () => {
    const server = await start('ES384');
    await keyOf('P-256');
    expect(await failure(connection().create(DEVICE, SIGNAL()))).toMatchObject({
      code: 'ehr_unauthorized',
    });
    expect(server.asked).toBe(0);
  });
});

const OPENSSL = '/usr/bin/openssl';

describe.skipIf(!existsSync(OPENSSL))('TLS with certificates that the site configures', () => {
  beforeAll(() => {
    for (const name of ['ehr', 'gateway']) {
      execFileSync(
        OPENSSL,
        [
          ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'],
          ...['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '2'],
          ...['-keyout', file(`${name}.key`), '-out', file(`${name}.crt`)],
        ],
        { stdio: 'ignore' },
      );
    }
  });

  const startTls = async () => {
    ehr = await startFhirServer({
      tls: {
        cert: await readFile(file('ehr.crt')),
        key: await readFile(file('ehr.key')),
        ca: await readFile(file('gateway.crt')),
        requestCert: true,
        rejectUnauthorized: true,
      },
    });
  };
  const none = { authorization: { type: 'none' } } as const;
  const known = () => ({ caFile: file('ehr.crt') });

  test('lets an EHR that requires a client certificate accept ours', async () => {
    await startTls();
    const tls = { ...known(), certFile: file('gateway.crt'), keyFile: file('gateway.key') };
    expect(await connection({ ...none, tls }).create(DEVICE, SIGNAL())).toMatch(/^Device\//);
  });

  test('stores nothing without our certificate, or with another one', async () => {
    await startTls();
    const another = { ...known(), certFile: file('ehr.crt'), keyFile: file('ehr.key') };
    for (const tls of [known(), another]) {
      const reason = await failure(connection({ ...none, tls }).create(DEVICE, SIGNAL()));
      expect(reason.failure).not.toBe('permanent');
    }
    expect(await ehr?.all('Device')).toEqual([]);
  });

  test('makes no request to an EHR whose certificate no trusted authority signed', async () => {
    await startTls();
    const tls = { certFile: file('gateway.crt'), keyFile: file('gateway.key') };
    const reason = await failure(connection({ ...none, tls }).create(DEVICE, SIGNAL()));
    expect(reason).toMatchObject({ failure: 'transient', code: 'ehr_unavailable' });
    expect(ehr?.calls).toEqual([]);
  });

  /** Renews our certificate: the file has a new date, although its content is the same. */
  const renew = () => utimes(file('gateway.crt'), new Date(), new Date());
  const ours = () => ({ ...known(), certFile: file('gateway.crt'), keyFile: file('gateway.key') });

  test('lets simultaneous calls share one connection pool, also after a renewal', async () => {
    await startTls();
    await writeFile(file('secret'), 's3cret');
    const to = connection({
      authorization: { type: 'bearer', tokenFile: file('secret') },
      tls: ours(),
    });
    const calls = () => Promise.all([1, 2, 3, 4].map(() => to.create(DEVICE, SIGNAL())));
    await calls();
    await renew();
    await calls();
    expect(await ehr?.all('Device')).toHaveLength(8);

    const pool = tlsDispatcher(ours(), new ClientCertificates());
    const [first, ...others] = await Promise.all([pool(), pool(), pool()]);
    for (const other of others) expect(other).toBe(first);
    expect(await pool()).toBe(first);
  });

  test('uses the renewed certificate, and lets a call that has the old one end', async () => {
    await startTls();
    const pool = tlsDispatcher(ours(), new ClientCertificates());
    const old = await pool();
    await renew();
    const renewed = await pool();
    expect(renewed).not.toBe(old);
    for (const dispatcher of [old, renewed]) {
      const answer = await request(`${ehr?.baseUrl}/metadata`, { dispatcher });
      expect(answer.statusCode).toBe(200);
      await answer.body.dump();
    }
  });

  test('keeps the last certificate while only one of the new files is there', async () => {
    await startTls();
    const [certFile, keyFile] = [file('swapped.crt'), file('swapped.key')];
    await copyFile(file('gateway.crt'), certFile);
    await copyFile(file('gateway.key'), keyFile);
    const to = connection({ ...none, tls: { ...known(), certFile, keyFile } });
    await to.create(DEVICE, SIGNAL());
    await copyFile(file('ehr.key'), keyFile);
    await to.create(DEVICE, SIGNAL());
    await unlink(keyFile);
    await to.create(DEVICE, SIGNAL());
    expect(await ehr?.all('Device')).toHaveLength(3);
  });

  test('opens the pool once its files can be read', async () => {
    await startTls();
    const pool = tlsDispatcher(
      {
        ...known(),
        certFile: file('late.crt'),
        keyFile: file('late.key'),
      },
      new ClientCertificates(),
    );
    await expect(pool()).rejects.toThrow(FhirFailure);
    for (const end of ['crt', 'key']) await copyFile(file(`gateway.${end}`), file(`late.${end}`));
    const answer = await request(`${ehr?.baseUrl}/metadata`, { dispatcher: await pool() });
    expect(answer.statusCode).toBe(200);
    await answer.body.dump();
  });

  test('reports which file is missing', async () => {
    await startTls();
    const tls = { caFile: file('no-such-file') };
    expect(await failure(connection({ ...none, tls }).create(DEVICE, SIGNAL()))).toMatchObject({
      code: 'ehr_unauthorized',
      detail: 'The files of `tls` cannot be used',
    });
  });
});
