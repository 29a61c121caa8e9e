import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createServer as createTlsServer,
  getCACertificates,
  setDefaultCACertificates,
  type TlsOptions,
} from 'node:tls';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadConfig } from '../../../../config/load.ts';
import { checkChain, checkWebChain } from '../../../../src/app/doctor/certificates.ts';
import { checkPeer, checkPeers } from '../../../../src/app/doctor/peers.ts';
import { checkServices } from '../../../../src/app/doctor/services.ts';
import {
  checkBackends,
  checkDoors,
  checkThisMachine,
} from '../../../../src/app/doctor/this-machine.ts';
import { serveAdminSocket } from '../../../../src/operations/socket.ts';
import { DatabaseUnreachableError } from '../../../../src/platform/database/pooled.ts';
import { silentLogger } from '../../../../src/platform/logging/logger.ts';
import { DCMTK_INSTALLED, type Program, startStorescp } from '../../../peers/dcmtk.ts';
import { type FhirTestServer, startFhirServer } from '../../../peers/fhir-server.ts';
import { freePort } from '../../../peers/free-port.ts';
import { startPostgres } from '../../../peers/postgres.ts';
import { startRedis } from '../../../peers/redis.ts';
import {
  CLIENT,
  type IdentityProvider,
  startIdentityProvider,
} from '../../doors/console/identity-provider.ts';
import { type Collector, startCollector } from '../monitoring/collector.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sonogate-doctor-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** Creates a self-signed certificate for this machine that expires in a number of days. */
async function selfSigned(days: number): Promise<{ certFile: string; keyFile: string }> {
  const [certFile, keyFile] = [`${days}.pem`, `${days}.key`].map((name) => join(folder, name)) as [
    string,
    string,
  ];
  await promisify(execFile)('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'],
    ...['-keyout', keyFile, '-out', certFile, '-days', String(days), '-subj', '/CN=127.0.0.1'],
    ...['-addext', 'subjectAltName=IP:127.0.0.1,IP:::1'],
  ]);
  return { certFile, keyFile };
}

const settings = (over: object) => loadConfig({}, { dataDir: join(folder, 'data'), ...over });
const pacsAt = (port: number, over: object = {}) => ({
  type: 'dicom',
  name: 'pacs',
  host: '127.0.0.1',
  port,
  aeTitle: 'PACS',
  ...over,
});
const peers = (...destinations: object[]) => checkPeers(settings({ destinations }));

test('says that nothing is sent while there are no destinations', async () => {
  expect(await peers()).toMatchObject([{ what: 'destinations', state: 'ok' }]);
});

test('says nothing about destinations or mail when one source is checked', async () => {
  const node = { host: '127.0.0.1', port: await freePort(), aeTitle: 'CART' };
  const sources = [{ name: 'cart', callingAeTitles: ['CART'], addresses: ['127.0.0.1'], node }];
  expect(await checkPeer('cart', settings({ sources }))).toMatchObject([
    { what: 'source cart', state: 'fault' },
  ]);
});

describe('this machine', () => {
  test('has models with the checksums of the registry', async () => {
    const findings = await checkThisMachine(settings({}));
    expect(findings.filter(({ what }) => what.startsWith('model'))).toMatchObject([
      { what: 'models', state: 'ok' },
    ]);
  });

  test.each([
    ['all', /^echo-chambers-research \(CC-BY-NC-SA-4\.0\), .*: see docs\/licences\.md$/],
    ['permissive', /^none in use$/],
  ] as const)('names the research models in use under models.allow %s', async (allow, named) => {
    const findings = await checkThisMachine(settings({ models: { allow } }));
    expect(findings.find(({ what }) => what === 'research models')).toMatchObject({
      state: 'ok',
      detail: expect.stringMatching(named),
    });
  });

  test.each([
    ['a fault below what objects need', Number.MAX_SAFE_INTEGER, 'fault'],
    ['in order above', 0, 'ok'],
  ])('has a disk that is %s', async (_what, minFreeBytes, state) => {
    const findings = await checkThisMachine(settings({ dicom: { minFreeBytes } }));
    expect(findings.find(({ what }) => what === 'disk')).toMatchObject({ state });
  });

  test('does not create a data folder when checking it', async () => {
    const dataDir = join(folder, 'not', 'there');
    const findings = await checkThisMachine(settings({ dataDir }));
    expect(findings.find(({ what }) => what === 'data folder')).toMatchObject({
      state: 'warning',
      detail: expect.stringContaining(`${dataDir} does not exist`),
    });
    expect(findings.find(({ what }) => what === 'disk')).toMatchObject({ state: 'ok' });
    await expect(stat(join(folder, 'not'))).rejects.toThrow('ENOENT');
  });

  test.each([
    ['ok if only its owner can read it', 0o700, 'ok'],
    ['warned about if others can read it', 0o755, 'warning'],
  ])('has a data folder that is %s', async (_what, mode, state) => {
    const dataDir = await mkdtemp(join(folder, 'data-'));
    await chmod(dataDir, mode);
    const findings = await checkThisMachine(settings({ dataDir }));
    expect(findings.find(({ what }) => what === 'data folder')).toMatchObject({ state });
  });

  test('is at fault if the data folder is a file', async () => {
    const dataDir = join(folder, 'file');
    await writeFile(dataDir, '');
    const findings = await checkThisMachine(settings({ dataDir }));
    expect(findings.find(({ what }) => what === 'data folder')).toMatchObject({ state: 'fault' });
  });

  test('reports that no gateway is running', async () => {
    const findings = await checkThisMachine(settings({}));
    expect(findings.find(({ what }) => what === 'gateway')).toMatchObject({ state: 'warning' });
  });
});

test('a gateway whose database is down is running', async () => {
  const dataDir = await mkdtemp(join(folder, 'down-'));
  const socket = await serveAdminSocket(
    dataDir,
    () => Promise.reject(new DatabaseUnreachableError('connect ECONNREFUSED 10.0.0.1:5432')),
    silentLogger,
  );
  const findings = await checkThisMachine(settings({ dataDir }));
  expect(findings.find(({ what }) => what === 'gateway')).toMatchObject({ state: 'ok' });
  await socket.close();
});

describe('the doors', () => {
  const doors = (port: number, running: boolean) =>
    checkDoors(settings({ roles: ['api'], http: { host: '127.0.0.1', port } }), running);

  test('are in order when they are free and nothing runs', async () => {
    expect(await doors(await freePort(), false)).toMatchObject([
      { what: 'HTTP port', state: 'ok' },
    ]);
  });

  test('are at fault if another program occupies them', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    expect(await doors(port, false)).toMatchObject([{ state: 'fault' }]);
    expect(await doors(port, true)).toMatchObject([{ state: 'ok' }]);
    other.close();
  });

  test('are at fault if the gateway is running but they do not answer', async () => {
    expect(await doors(await freePort(), true)).toMatchObject([{ state: 'fault' }]);
  });

  test('are at fault if the certificate and the key do not belong together', async () => {
    const [one, other] = [await selfSigned(1), await selfSigned(400)];
    const http = { host: '127.0.0.1', port: 0 };
    const tls = { certFile: one.certFile, keyFile: other.keyFile };
    expect(
      await checkDoors(settings({ roles: ['api'], http: { ...http, tls } }), false),
    ).toMatchObject([{ state: 'fault', detail: expect.stringContaining(tls.keyFile) }]);
    expect(
      await checkDoors(settings({ roles: ['api'], http: { ...http, tls: one } }), false),
    ).toMatchObject([{ state: 'warning', detail: expect.stringMatching(/expires in [01] days/) }]);
  });

  test('are at fault, by the name of the file, without a certificate of the authority', async () => {
    const caFile = join(folder, 'empty.pem');
    await writeFile(caFile, '');
    const tls = { ...(await selfSigned(400)), caFile };
    const http = { host: '127.0.0.1', port: 0, tls };
    expect(await checkDoors(settings({ roles: ['api'], http }), false)).toMatchObject([
      { state: 'fault', detail: expect.stringContaining(`${caFile} cannot be used`) },
    ]);
  });
});

describe('the TLS of a peer', () => {
  const served = async (days: number, host = '127.0.0.1', options: TlsOptions = {}) => {
    const { certFile, keyFile } = await selfSigned(days);
    const server = createTlsServer({
      ...options,
      cert: await readFile(certFile),
      key: await readFile(keyFile),
    }).listen(0, host);
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    return { server, certFile, host, port };
  };

  test('whose web address is one of IPv6 is in order', async () => {
    const { server, certFile, port } = await served(400, '::1');
    const tls = { caFile: certFile };
    const findings = await checkWebChain('ehr', `https://[::1]:${port}/fhir`, { tls });
    expect(findings).toMatchObject([{ state: 'ok' }, { state: 'ok' }]);
    server.close();
  });

  test.each([
    [29, 'warning'],
    [31, 'ok'],
  ])('that ends in %d days is %s', async (days, state) => {
    const { server, certFile, ...peer } = await served(days);
    const findings = await checkChain('peer', { ...peer, caFile: certFile });
    expect(findings).toMatchObject([
      { state: 'ok', detail: 'TLSv1.3, chain 127.0.0.1' },
      { what: 'peer, certificate', state },
    ]);
    server.close();
  });

  test('signed by an authority added to those of Node.js is in order', async () => {
    const { server, certFile, ...peer } = await served(400);
    const usual = getCACertificates('default');
    setDefaultCACertificates([...usual, await readFile(certFile, 'utf8')]);
    const [finding] = await checkChain('peer', peer);
    setDefaultCACertificates(usual);
    expect(finding).toMatchObject({ state: 'ok' });
    server.close();
  });

  test.each([
    ['ends soon', 1, 'warning'],
    ['is valid for long', 400, 'ok'],
  ])('to which we present a certificate that %s', async (_what, days, state) => {
    const { server, certFile, ...peer } = await served(400);
    const own = await selfSigned(days);
    const findings = await checkChain('peer', {
      ...peer,
      caFile: certFile,
      certFile: own.certFile,
    });
    expect(findings[2]).toMatchObject({ what: 'peer, our certificate', state });
    server.close();
  });

  test('that requires our certificate in TLS 1.2 is in order', async () => {
    const ours = await selfSigned(399);
    const { server, certFile, ...peer } = await served(400, '127.0.0.1', {
      maxVersion: 'TLSv1.2',
      requestCert: true,
      ca: await readFile(ours.certFile),
    });
    const findings = await checkChain('peer', { ...peer, caFile: certFile, ...ours });
    expect(findings[0]).toMatchObject({ state: 'ok', detail: 'TLSv1.2, chain 127.0.0.1' });
    server.close();
  });

  test('signed by no authority that we trust is at fault, which is stated', async () => {
    const { server, certFile: _, ...peer } = await served(400);
    const [finding] = await checkChain('peer', peer);
    expect(finding).toMatchObject({ state: 'fault' });
    expect(finding?.detail).toMatch(/DEPTH_ZERO_SELF_SIGNED_CERT; .*not trusted here.*`caFile`/);
    server.close();
  });
});

describe('the backends', () => {
  test('that cannot be reached are reported without their passwords', async () => {
    const port = await freePort();
    const findings = await checkBackends(
      settings({
        databaseUrl: `postgres://u:hidden@127.0.0.1:${port}/x`,
        redisUrl: `redis://:hidden@127.0.0.1:${port}`,
        blobUrl: `s3+http://key:hidden@127.0.0.1:${port}/bucket`.replace('s3+http', 'http'),
      }),
    );
    expect(findings).toMatchObject([
      { what: 'database', state: 'fault' },
      { what: 'Redis', state: 'fault' },
      { what: 'bucket', state: 'fault' },
    ]);
    expect(JSON.stringify(findings)).not.toContain('hidden');
  });

  test('are only the embedded database by default', async () => {
    expect(await checkBackends(settings({}))).toMatchObject([{ what: 'database', state: 'ok' }]);
  });

  test('a process with some of the roles on the embedded database is reported', async () => {
    expect(await checkBackends(settings({ roles: ['api'] }))).toMatchObject([
      { what: 'database', state: 'warning' },
    ]);
  });

  test('PostgreSQL reports its version, and that it is read-only', async ({ skip }) => {
    const server = await startPostgres();
    if (!server) return skip('PostgreSQL is not installed');
    const databaseUrl = await server.createDatabase();
    const [finding] = await checkBackends(settings({ databaseUrl }));
    expect(finding).toMatchObject({ what: 'database', state: 'ok' });
    expect(finding?.detail).toMatch(/^PostgreSQL 1\d/);
    await server.administer('CREATE ROLE guest LOGIN');
    const guestUrl = databaseUrl.replace('test@', 'guest@');
    expect(await checkBackends(settings({ databaseUrl: guestUrl }))).toContainEqual(
      expect.objectContaining({ state: 'fault', detail: expect.stringMatching(/ALTER DATABASE/) }),
    );
    await server.administer('ALTER ROLE test SET default_transaction_read_only = on');
    expect(await checkBackends(settings({ databaseUrl }))).toContainEqual(
      expect.objectContaining({ state: 'fault', detail: expect.stringMatching(/^is read-only/) }),
    );
    await server.stop();
  });

  test('Redis that is full, or may evict jobs, is reported', async ({ skip }) => {
    const server = await startRedis();
    if (!server) return skip('Redis is not installed');
    const { url: redisUrl } = server;
    expect((await checkBackends(settings({ redisUrl }))).at(-1)).toMatchObject({
      what: 'Redis',
      state: 'ok',
    });
    const client = new Redis(redisUrl);
    await client.config('SET', 'maxmemory', '1');
    expect((await checkBackends(settings({ redisUrl }))).at(-1)).toMatchObject({
      what: 'Redis',
      state: 'fault',
      detail: 'is full, so no request is run: raise maxmemory',
    });
    await client.config('SET', 'maxmemory', '0');
    await client.config('SET', 'maxmemory-policy', 'allkeys-lru');
    client.disconnect();
    expect((await checkBackends(settings({ redisUrl }))).at(-1)).toMatchObject({
      what: 'Redis',
      state: 'warning',
    });
    await server.stop();
  });
});

describe.skipIf(!DCMTK_INSTALLED)('a PACS', () => {
  let pacs: Program;
  beforeAll(async () => {
    pacs = await startStorescp(folder);
  });
  afterAll(() => pacs?.stop());

  test('that accepts what it is configured to receive is in order', async () => {
    expect(await peers(pacsAt(pacs.port, { objects: ['sr-tid1500', 'pdf'] }))).toMatchObject([
      { what: 'PACS pacs', state: 'ok' },
    ]);
  });

  test('that lacks the required service is at fault, and the service is stated', async () => {
    const findings = await peers(pacsAt(pacs.port, { storageCommitment: true }));
    expect(findings).toMatchObject([
      { state: 'ok' },
      { state: 'fault', detail: 'does not accept storage commitment' },
    ]);
  });

  test('that cannot be reached is at fault', async () => {
    expect(await peers(pacsAt(await freePort()))).toMatchObject([{ state: 'fault' }]);
  });
});

describe('an EHR', () => {
  let server: FhirTestServer;
  beforeAll(async () => {
    server = await startFhirServer();
  });
  afterAll(() => server.close());

  const ehr = (baseUrl: string) => ({
    type: 'fhir',
    name: 'ehr',
    baseUrl,
    resultSystem: 'https://ward.example/fhir/result',
    patientIdentifierSystems: { '*': 'urn:oid:1.2.3' },
  });

  test('reports how results will be delivered to it', async () => {
    const [finding] = await peers(ehr(server.baseUrl));
    expect(finding).toMatchObject({ what: 'EHR ehr', state: 'ok' });
    expect(finding?.detail).toMatch(/^FHIR 4\./);
  });

  test('that cannot be reached is at fault', async () => {
    const findings = await peers(ehr(`http://127.0.0.1:${await freePort()}`));
    expect(findings).toMatchObject([{ what: 'EHR ehr', state: 'fault' }]);
  });
});

describe('the services', () => {
  const services = (over: object) => checkServices(settings(over));

  test('are not mentioned unless they are configured', async () => {
    expect(await services({})).toEqual([]);
  });

  describe('identity provider', () => {
    let provider: IdentityProvider;
    beforeAll(async () => {
      provider = await startIdentityProvider('https://ward.example/console/callback', {});
    });
    afterAll(() => provider.close());

    const at = (issuer: string, over: object = {}) =>
      services({ console: { oidc: { issuer, clientId: CLIENT.id, roles: {}, ...over } } });

    test('that answers for its issuer is in order', async () => {
      expect(await at(provider.issuer)).toMatchObject([{ what: 'identity provider', state: 'ok' }]);
    });

    test.each([
      ['something else', async () => `${provider.issuer}/other`, /HTTP 404/],
      ['nobody', async () => `http://127.0.0.1:${await freePort()}`, /ECONNREFUSED/],
    ])('at fault if its address is that of %s, with the reason', async (_what, issuer, reason) => {
      const [finding] = await at(await issuer());
      expect(finding).toMatchObject({ what: 'identity provider', state: 'fault' });
      expect(finding?.detail).toMatch(reason);
      expect(finding?.detail).toContain('Check `console.oidc.issuer`');
    });

    test('at fault if our secret cannot be read', async () => {
      const clientSecret = { file: join(folder, 'no-secret') };
      const [finding] = await at(provider.issuer, { clientSecret });
      expect(finding).toMatchObject({ state: 'fault', detail: expect.stringContaining('ENOENT') });
    });

    test('is not checked for a process without the console', async () => {
      const oidc = { issuer: 'http://127.0.0.1:1', clientId: CLIENT.id, roles: {} };
      expect(await services({ roles: ['worker'], console: { oidc } })).toEqual([]);
    });
  });

  describe('audit repository by syslog', () => {
    const repository = async (demands: object = {}) => {
      const { certFile, keyFile } = await selfSigned(400);
      const [cert, key] = await Promise.all([readFile(certFile), readFile(keyFile)]);
      const server = createTlsServer({ cert, key, ...demands }).listen(0, '127.0.0.1');
      server.on('tlsClientError', () => {});
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const tls = { caFile: certFile };
      const syslog = { transport: 'tls', host: '127.0.0.1', port, tls };
      const findings = await services({ audit: { syslog } });
      server.close();
      return findings;
    };

    test('that accepts our connection is in order', async () => {
      expect(await repository()).toMatchObject([
        { what: 'audit repository (syslog)', state: 'ok' },
        { what: 'audit repository (syslog), TLS', state: 'ok' },
        { what: 'audit repository (syslog), TLS, certificate', state: 'ok' },
      ]);
    });

    test('that requires a certificate which we do not present is at fault', async () => {
      const [finding] = await repository({ requestCert: true, rejectUnauthorized: true });
      expect(finding).toMatchObject({
        state: 'fault',
        detail: expect.stringContaining('does it require a certificate'),
      });
    });

    test('that cannot be reached is at fault', async () => {
      const syslog = { transport: 'tls', host: '127.0.0.1', port: await freePort() };
      expect((await services({ audit: { syslog } }))[0]).toMatchObject({
        state: 'fault',
        detail: expect.stringContaining('ECONNREFUSED'),
      });
    });

    test('over UDP is only checked for an address, which the finding reports', async () => {
      const syslog = { transport: 'udp', host: '127.0.0.1', port: 514 };
      const [finding] = await services({ audit: { syslog } });
      expect(finding).toMatchObject({
        state: 'ok',
        detail: expect.stringContaining('check there'),
      });
    });
  });

  describe('audit repository by FHIR', () => {
    const at = async (resources?: object[]) => {
      const statement = {
        resourceType: 'CapabilityStatement',
        fhirVersion: '4.0.1',
        rest: [{ mode: 'server', resource: resources }],
      };
      const server = createHttpServer((_request, response) => {
        response.setHeader('content-type', 'application/fhir+json');
        response.end(JSON.stringify(statement));
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo;
      const findings = await services({ audit: { fhir: { baseUrl: `http://127.0.0.1:${port}` } } });
      server.close();
      server.closeAllConnections();
      return findings;
    };

    test.each([
      ['is in order if it accepts AuditEvents', 'AuditEvent', 'create', 'ok'],
      ['is warned about if it only returns them', 'AuditEvent', 'read', 'warning'],
      ['is warned about if it has none', 'Patient', 'create', 'warning'],
    ])('%s', async (_what, type, code, state) => {
      expect(await at([{ type, interaction: [{ code }] }])).toMatchObject([
        { what: 'audit repository (FHIR)', state },
      ]);
    });

    test('is in order if it lists no resources', async () => {
      expect(await at()).toMatchObject([{ state: 'ok', detail: 'FHIR 4.0.1' }]);
    });

    test('is at fault if it cannot be reached, without mention of an EHR', async () => {
      const baseUrl = `http://127.0.0.1:${await freePort()}`;
      const [finding] = await services({ audit: { fhir: { baseUrl } } });
      expect(finding).toMatchObject({
        state: 'fault',
        detail: 'No answer: ECONNREFUSED; check `audit.fhir`',
      });
    });
  });

  describe('collector of traces', () => {
    let collector: Collector;
    beforeAll(async () => {
      collector = await startCollector();
    });
    afterAll(() => collector.close());

    test('that accepts spans is in order, and has received none', async () => {
      const { endpoint } = collector;
      expect(await services({ tracing: { endpoint } })).toMatchObject([
        { what: 'collector of traces', state: 'ok' },
      ]);
      expect(collector.headers).toMatchObject({ 'content-type': 'application/json' });
      expect(collector.spans).toEqual([]);
    });

    test('at fault if its address lacks the path, with what to check', async () => {
      const endpoint = new URL('/', collector.endpoint).href;
      const [finding] = await services({ tracing: { endpoint } });
      expect(finding).toMatchObject({
        state: 'fault',
        detail: expect.stringContaining('check `tracing.endpoint`'),
      });
      expect(finding?.detail).toMatch(/404|Not Found/);
    });
  });
});
