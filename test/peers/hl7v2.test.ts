import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Hl7v2Destination } from '../../config/schema.ts';
import { clientTls, dial } from '../../dimse/network/dial.ts';
import {
  enqueueDeliveries,
  listDeliveries,
  receivedRevisions,
  replayDelivery,
} from '../../src/core/outbox/deliveries.ts';
import type { RequestDelivery } from '../../src/core/outbox/delivery.ts';
import { type Outbox, startOutbox } from '../../src/core/outbox/outbox.ts';
import { withdrawalOf } from '../../src/core/outbox/withdrawals.ts';
import { withdrawResult } from '../../src/core/requests/withdrawal.ts';
import { earlierRequests, laterRequests } from '../../src/core/studies/earlier-requests.ts';
import { signatureOver } from '../../src/core/studies/signed-results.ts';
import { createHl7v2Deliverer, createHl7v2Withdrawer } from '../../src/doors/hl7v2/deliver.ts';
import { connected } from '../../src/doors/hl7v2/mllp.ts';
import { controlIdOf } from '../../src/doors/hl7v2/oru.ts';
import { silentLogger } from '../../src/platform/logging/logger.ts';
import { ClientCertificates } from '../../src/platform/tls/client-files.ts';
import { sampleResult, sampleSubject } from '../fhir/sample.ts';
import { openSite, type Site } from '../src/core/requests/site.ts';
import { makeAuthority, OPENSSL_INSTALLED } from './certificates.ts';
import { freePort } from './free-port.ts';
import { BRIEF_JVM } from './jvm.ts';

/** HAPI for HL7 version 2, which needs JDK 17; `.ci/run` shows how to install it. */
const JARS = fileURLToPath(new URL('../../.ci/hapi-hl7v2', import.meta.url));
const PROGRAM = fileURLToPath(new URL('./hapi-hl7v2/Receiver.java', import.meta.url));
const INSTALLED = existsSync(JARS) && spawnSync('javac', ['-version']).status === 0;

const PDF = Buffer.from('%PDF-1.7 specimen');
const ENDLESS = new AbortController().signal;
const dialed = (to: Pick<Hl7v2Destination, 'host' | 'port' | 'tls'>) =>
  dial({ ...to, tls: clientTls(to.tls, new ClientCertificates()) });

const destination = (over: Partial<Hl7v2Destination>): Hl7v2Destination => ({
  type: 'hl7v2',
  name: 'his',
  release: 'at-once',
  host: '127.0.0.1',
  port: 1,
  sendingApplication: 'SONOGATE',
  processingId: 'P',
  characterSet: 'UNICODE UTF-8',
  pdf: true,
  timeoutSeconds: 60,
  ...over,
});
const delivererTo = (settings: Partial<Hl7v2Destination>, names: string | undefined = undefined) =>
  createHl7v2Deliverer({
    destinations: [destination(settings)],
    results: { result: async () => sampleResult() },
    subjectOf: async (requestId) =>
      sampleSubject(requestId, names === undefined ? {} : { PatientName: names }),
    signatureOver: async () => null,
    earlierRequests: async () => [],
    laterRequests: async () => [],
    receivedRevisions: async () => [],
    reportPdf: async () => PDF,
    dial: dialed,
  });
const DELIVERY: RequestDelivery & { kind: 'hl7v2' } = {
  id: 'dlv_1',
  requestId: 'req_1',
  kind: 'hl7v2',
  destination: 'his',
  object: 'oru-r01',
  resultRevision: 0,
  attempt: 1,
};

interface Hapi {
  port: number;
  /** Returns the values of the next message received, in order. */
  received(): Promise<[string, string][]>;
  stop(): Promise<void>;
}

const isOpen = async (receiver: Hl7v2Destination) => {
  try {
    (await connected(() => dialed(receiver), ENDLESS)).destroy();
    return true;
  } catch {
    return false;
  }
};

async function startHapi(options: readonly string[] = [], tls = false): Promise<Hapi> {
  const port = await freePort();
  const arguments_ = [
    ...BRIEF_JVM,
    ...options,
    '-cp',
    `${JARS}/*`,
    PROGRAM,
    String(port),
    ...(tls ? ['tls'] : []),
  ];
  const child: ChildProcess = spawn('java', arguments_, { stdio: ['pipe', 'pipe', 'ignore'] });
  if (!child.stdout) throw new Error('the receiver has no output');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => {
    const { value, done } = await lines.next();
    if (done) throw new Error('the receiver ended');
    return value as string;
  };
  while ((await next()) !== 'listening');
  // HAPI binds its port a moment after it has started, on a separate thread.
  const receiver = destination({ port });
  while (!(await isOpen(receiver))) await setTimeout(50);
  return {
    port,
    async received() {
      const values: [string, string][] = [];
      for (let line = await next(); line !== 'end'; line = await next()) {
        const at = line.indexOf('=');
        values.push([line.slice(0, at), line.slice(at + 1)]);
      }
      return values;
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}

describe.skipIf(!INSTALLED)('a result for HAPI, the HL7 version 2 library for Java', () => {
  let hapi: Hapi;
  beforeAll(async () => {
    hapi = await startHapi();
  });
  afterAll(() => hapi?.stop());

  test('is read with its patient, values, conclusion and PDF', async () => {
    const deliverer = delivererTo({ port: hapi.port });
    expect(await deliverer.send(DELIVERY, ENDLESS)).toEqual({
      outcome: 'delivered',
      detail: 'Acknowledgment AA',
    });
    const values = await hapi.received();
    expect(Object.fromEntries(values)).toMatchObject({
      'MSH-9-3': 'ORU_R01',
      'MSH-10': controlIdOf('dlv_1'),
      'MSH-12': '2.5.1',
      'MSH-18': 'UNICODE UTF-8',
      'PID-3-1': '0012345',
      'PID-3-4-1': 'HOSPITAL',
      'PID-5-1': 'Müller',
      'PID-7': '19900402',
      'OBR-4-1': '11525-3',
      'OBR-18': 'ACC-00042',
      'OBR-25': 'P',
    });
    const observations = values.filter(([name]) => name === 'OBX').map(([, value]) => value);
    expect(observations).toContain('HD|113014|null|1.2.3.4|null|O');
    expect(observations).toContain('NM|11984-2|hc|280.1|mm|P');
    expect(observations).toContain('NM|11963-6|fl||null|X');
    expect(observations).toContain(`ED|11525-3|pdf|pdf ${PDF.length} %PDF-|null|P`);
    expect(observations.find((one) => one.startsWith('TX|19005-8|'))).toContain(
      'AI draft, not reviewed. / ',
    );
  });

  test("keeps its letters and separators in the receiver's character set", async () => {
    const latin = delivererTo({ port: hapi.port, characterSet: '8859/1' }, 'Mül|ler&~^Zoë');
    await latin.send(DELIVERY, ENDLESS);
    expect(Object.fromEntries(await hapi.received())).toMatchObject({
      'MSH-18': '8859/1',
      'PID-5-1': 'Mül|ler&~',
      'PID-5-2': 'Zoë',
    });
  });

  test.each([
    ['AE', 'permanent', 'error 101'],
    ['AE207', 'transient', 'error 207'],
    ['AR', 'transient', 'error 207'],
    ['AR200', 'permanent', 'error 200'],
  ])('answered with %s is a %s failure', async (receivingFacility, failure, error) => {
    const deliverer = delivererTo({ port: hapi.port, receivingFacility });
    expect(await deliverer.send(DELIVERY, ENDLESS)).toMatchObject({
      outcome: 'failed',
      failure,
      detail: expect.stringContaining(error),
    });
    await hapi.received();
  });

  test('is preceded by a probe that finds HAPI listening', async () => {
    expect(await delivererTo({ port: hapi.port }).probe?.('his', ENDLESS)).toBeNull();
  });
});

describe.skipIf(!INSTALLED)('a signed result for HAPI', () => {
  let hapi: Hapi;
  let site: Site;
  let outbox: Outbox | null = null;
  let facility: string | undefined;
  /**
   * Ports to which the next connections go. Once they are used up, and by default, connections go
   * to HAPI.
   */
  let detours: number[] = [];
  beforeAll(async () => {
    [hapi, site] = await Promise.all([startHapi(), openSite()]);
  });
  beforeEach(() => {
    facility = undefined;
    detours = [];
  });
  afterEach(async () => {
    await outbox?.stop();
    outbox = null;
  });
  afterAll(async () => {
    await hapi?.stop();
    await site?.close();
  });

  const draft = sampleResult();
  /** The draft without the value that the reader rejected. */
  const signedResult = (revision: number, rejected: string) =>
    sampleResult({
      draft: false,
      measurements: draft.measurements.filter(({ id }) => id !== rejected),
      verification: {
        kind: 'verified',
        revision,
        signatures: [
          {
            observer: 'Dr Ada Reader',
            organization: 'Ward',
            at: `2026-03-04T1${revision}:30:00.000Z`,
            statement: null,
          },
        ],
      },
    });
  const results = [draft, signedResult(1, 'ac'), signedResult(2, 'hc')];
  const start = async () => {
    const receiver = destination({ port: hapi.port, pdf: false });
    Object.defineProperty(receiver, 'receivingFacility', { get: () => facility });
    const common = {
      destinations: [receiver],
      results: { result: async (_: string, revision = 0) => results[revision] ?? null },
      subjectOf: async (requestId: string) => sampleSubject(requestId),
      earlierRequests: (requestId: string) => earlierRequests(site.database, requestId),
      laterRequests: (requestId: string) => laterRequests(site.database, requestId),
      receivedRevisions: (delivery: RequestDelivery, requestIds: readonly string[]) =>
        receivedRevisions(site.database, delivery, requestIds),
      dial: (to: Pick<Hl7v2Destination, 'host' | 'port' | 'tls'>) =>
        dialed({ ...to, port: detours.shift() ?? to.port }),
    };
    outbox = await startOutbox({
      database: site.database,
      config: {
        delivery: {
          retryBaseSeconds: 0.02,
          retryCapSeconds: 0.05,
          giveUpAfterHours: 1,
          breaker: { failures: 100, openSeconds: 1, longestOpenSeconds: 1 },
          alternateAfterMinutes: 1,
        },
      },
      logger: silentLogger,
      deliverers: [
        createHl7v2Deliverer({
          ...common,
          signatureOver: (requestId) => signatureOver(site.database, requestId),
          reportPdf: async () => null,
        }),
        createHl7v2Withdrawer({
          ...common,
          withdrawalOf: (requestId) => withdrawalOf(site.database, requestId),
        }),
      ],
    });
    return outbox;
  };
  const enqueue = (requestId: string, revision: number) =>
    site.database.transaction((tx) =>
      enqueueDeliveries(
        tx,
        requestId,
        [{ kind: 'hl7v2', destination: 'his', object: 'oru-r01' }],
        3600,
        revision,
      ),
    );
  const sign = async (requestId: string, revision = 1) => {
    await site.database.query(
      `INSERT INTO reviews (request_id, state, signed_revision) VALUES ($1, 'signed', $2)
       ON CONFLICT (request_id) DO UPDATE SET signed_revision = $2`,
      [requestId, revision],
    );
    await enqueue(requestId, revision);
  };
  const rows = async (requestId: string) =>
    (await listDeliveries(site.database, { requestId })).toSorted(
      (a, b) => a.result_revision - b.result_revision,
    );
  const states = async (requestId: string) => (await rows(requestId)).map(({ state }) => state);
  const poll = (requestId: string) => expect.poll(() => states(requestId), { timeout: 30_000 });
  /** Returns the status of a value in the next message received. */
  const statusOf = async (subId: string) => {
    const values = await hapi.received();
    const found = values.find(([name, value]) => name === 'OBX' && value.split('|')[2] === subId);
    return found?.[1].split('|')[5] ?? null;
  };

  test('deletes the rejected value of its draft', async () => {
    const request = await site.submit();
    await enqueue(request, 0);
    await start();
    await poll(request).toEqual(['delivered']);
    expect(await statusOf('ac')).toBe('P');
    await sign(request);
    await poll(request).toEqual(['delivered', 'delivered']);
    expect(await statusOf('ac')).toBe('D');
  });

  test('deletes nothing of a draft that the receiver rejected', async () => {
    const request = await site.submit();
    facility = 'AE';
    await enqueue(request, 0);
    await start();
    await poll(request).toEqual(['dead']);
    await hapi.received();
    facility = undefined;
    await sign(request);
    await poll(request).toEqual(['dead', 'delivered']);
    expect(await statusOf('ac')).toBeNull();
  });

  test('is sent in place of a draft that still waits', async () => {
    const request = await site.submit();
    await enqueue(request, 0);
    await sign(request);
    await start();
    await poll(request).toEqual(['delivered', 'delivered']);
    expect(await statusOf('ac')).toBeNull();
    expect(await rows(request)).toMatchObject([
      {
        result_revision: 0,
        not_sent: true,
        detail: 'Not sent: the result has been signed in the meantime',
      },
      { result_revision: 1, not_sent: false },
    ]);
  });

  test('deletes the rejected value of a draft whose response was lost', async () => {
    const silent = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.destroy());
    });
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const gone = await freePort();
    const request = await site.submit();
    detours = [(silent.address() as { port: number }).port, ...Array(50).fill(gone)];
    await enqueue(request, 0);
    await start();
    const codes = async () => (await rows(request)).map(({ code }) => code);
    await expect.poll(codes, { timeout: 30_000 }).toEqual(['peer_unreachable']);
    silent.close();
    await sign(request);
    detours = [];
    await poll(request).toEqual(['delivered', 'delivered']);
    expect(await statusOf('ac')).toBe('D');
    expect(await rows(request)).toMatchObject([{ not_sent: true }, { result_revision: 1 }]);
  });

  const withdraw = async (requestId: string) => {
    await site.database.query(`UPDATE requests SET status = 'succeeded' WHERE id = $1`, [
      requestId,
    ]);
    const why = { person: 'Dr Ada Reader', reason: 'wrong-patient', text: null } as const;
    await withdrawResult(site.database, requestId, why, { at: new Date(), giveUpSeconds: 3600 });
  };
  /** Returns the statuses of the next message: OBR-25, and OBX-11 of each observation. */
  const statuses = async () => {
    const values = await hapi.received();
    const all = Object.fromEntries(values);
    const observations = values.flatMap(([name, value]) =>
      name === 'OBX' ? [value.split('|')] : [],
    );
    return {
      report: all['OBR-25'],
      observations: [...new Set(observations.map((fields) => fields[5]))],
      values: observations.flatMap((fields) => (fields[0] === 'NM' ? [fields[2], fields[3]] : [])),
    };
  };

  test('that is withdrawn is posted as wrong, without its values', async () => {
    const request = await site.submit();
    await enqueue(request, 0);
    await start();
    await poll(request).toEqual(['delivered']);
    await hapi.received();
    await withdraw(request);
    await poll(request).toEqual(['delivered', 'delivered']);
    const { report, observations, values } = await statuses();
    expect({ report, observations }).toEqual({ report: 'C', observations: ['W'] });
    expect(values).toContain('hc');
    expect(values).toContain('ac');
    expect(values).not.toContain('280.1');
  });

  test('that was rejected when it was withdrawn needs no message', async () => {
    const request = await site.submit();
    facility = 'AE';
    await enqueue(request, 0);
    await start();
    await poll(request).toEqual(['dead']);
    await hapi.received();
    facility = undefined;
    await withdraw(request);
    expect(await rows(request)).toMatchObject([{ state: 'delivered', not_sent: true }]);
  });

  test('that may have arrived is withdrawn after it', async () => {
    const silent = createServer((socket) => {
      socket.on('error', () => {});
      socket.once('data', () => socket.destroy());
    });
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const request = await site.submit();
    detours = [(silent.address() as { port: number }).port, ...Array(50).fill(await freePort())];
    await enqueue(request, 0);
    await start();
    const codes = async () => (await rows(request)).map(({ code }) => code);
    await expect.poll(codes, { timeout: 30_000 }).toEqual(['peer_unreachable']);
    silent.close();
    await withdraw(request);
    detours = [];
    await poll(request).toEqual(['delivered', 'delivered']);
    expect((await statuses()).observations).toEqual(['W']);
  });

  test('is not sent after a later signature', async () => {
    const request = await site.submit();
    facility = 'AE';
    await sign(request, 1);
    await start();
    await poll(request).toEqual(['dead']);
    await hapi.received();
    facility = undefined;
    await sign(request, 2);
    await poll(request).toEqual(['dead', 'delivered']);
    expect(await statusOf('ac')).toBe('C');
    const [dead] = await rows(request);
    await replayDelivery(site.database, dead?.id ?? '', 3600);
    await poll(request).toEqual(['delivered', 'delivered']);
    expect(await rows(request)).toMatchObject([{ not_sent: true }, { not_sent: false }]);
  });
});

describe.skipIf(!INSTALLED || !OPENSSL_INSTALLED)('a result for HAPI over TLS', () => {
  let folder: string;
  let hapi: Hapi;
  let caFile: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sonogate-mllp-'));
    const authority = makeAuthority(folder);
    caFile = authority.caFile;
    const { certFile, keyFile } = authority.issue('his');
    const store = join(folder, 'his.p12');
    execFileSync(
      'openssl',
      [
        'pkcs12',
        '-export',
        '-in',
        certFile,
        '-inkey',
        keyFile,
        '-out',
        store,
        '-passout',
        'pass:changeit',
      ],
      { stdio: 'ignore' },
    );
    hapi = await startHapi(
      [`-Djavax.net.ssl.keyStore=${store}`, '-Djavax.net.ssl.keyStorePassword=changeit'],
      true,
    );
  });
  afterAll(async () => {
    await hapi?.stop();
    if (folder) await rm(folder, { recursive: true, force: true });
  });
  const tls = (serverName: string) => ({
    port: hapi.port,
    tls: { caFile, serverName, minVersion: '1.2' as const },
  });

  test('arrives', async () => {
    const deliverer = delivererTo(tls('his.hospital.example'));
    expect(await deliverer.send(DELIVERY, ENDLESS)).toEqual({
      outcome: 'delivered',
      detail: 'Acknowledgment AA',
    });
  });

  test('is not sent to a receiver whose certificate names another host', async () => {
    const deliverer = delivererTo(tls('other.hospital.example'));
    expect(await deliverer.send(DELIVERY, ENDLESS)).toMatchObject({
      outcome: 'failed',
      failure: 'transient',
      code: 'peer_unreachable',
    });
  });
});

describe('a receiver', () => {
  let server: Server | null = null;
  afterEach(() => server?.close());
  const listening = async (onConnection: (socket: Socket) => void) => {
    server = createServer((socket) => {
      socket.on('error', () => {});
      onConnection(socket);
    });
    await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
    return (server.address() as { port: number }).port;
  };

  test('that closes the connection without a response may have received the message', async () => {
    const port = await listening((socket) => socket.once('data', () => socket.destroy()));
    expect(await delivererTo({ port }).send(DELIVERY, ENDLESS)).toMatchObject({
      failure: 'ambiguous',
      code: 'peer_connection_lost',
    });
  });

  test('that never responds may have received the message', async () => {
    const late = new AbortController();
    const port = await listening((socket) => socket.once('data', () => late.abort()));
    expect(await delivererTo({ port }).send(DELIVERY, late.signal)).toMatchObject({
      failure: 'ambiguous',
    });
  });

  test('that responds endlessly is cut off', async () => {
    const port = await listening((socket) => {
      const more = () =>
        socket.write(Buffer.alloc(65_536, 'x'), (error) => {
          if (!error) setImmediate(more);
        });
      socket.once('data', more);
    });
    expect(await delivererTo({ port }).send(DELIVERY, ENDLESS)).toMatchObject({
      failure: 'ambiguous',
    });
  });

  test('that cannot be reached has not received the message', async () => {
    const port = await freePort();
    expect(await delivererTo({ port }).send(DELIVERY, ENDLESS)).toMatchObject({
      failure: 'transient',
      code: 'peer_unreachable',
    });
  });
});
