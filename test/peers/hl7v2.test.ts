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
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Hl7v2Destination } from '../../config/schema.ts';
import { dial } from '../../dimse/network/dial.ts';
import type { Delivery } from '../../src/core/outbox/delivery.ts';
import { createHl7v2Deliverer } from '../../src/doors/hl7v2/deliver.ts';
import { connected } from '../../src/doors/hl7v2/mllp.ts';
import { controlIdOf } from '../../src/doors/hl7v2/oru.ts';
import { sampleResult, sampleSubject } from '../fhir/sample.ts';
import { makeAuthority, OPENSSL_INSTALLED } from './certificates.ts';
import { freePort } from './free-port.ts';

/** HAPI for HL7 version 2, which needs JDK 17; `.ci/run` shows how to install it. */
const JARS = fileURLToPath(new URL('../../.ci/hapi-hl7v2', import.meta.url));
const PROGRAM = fileURLToPath(new URL('./hapi-hl7v2/Receiver.java', import.meta.url));
const INSTALLED = existsSync(JARS) && spawnSync('javac', ['-version']).status === 0;

const PDF = Buffer.from('%PDF-1.7 specimen');
const ENDLESS = new AbortController().signal;

const destination = (over: Partial<Hl7v2Destination>): Hl7v2Destination => ({
  type: 'hl7v2',
  name: 'his',
  release: 'at-once',
  host: '127.0.0.1',
  port: 1,
  sendingApplication: 'SONOGATE',
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
    reportPdf: async () => PDF,
    dial,
  });
const DELIVERY: Delivery = {
  id: 'dlv_1',
  requestId: 'req_1',
  kind: 'hl7v2',
  destination: 'his',
  object: 'oru-r01',
  resultRevision: 0,
  attempt: 1,
};

/** A receiver that prints what it reads. */
interface Hapi {
  port: number;
  /** Returns the values of the next message received, in order. */
  received(): Promise<[string, string][]>;
  stop(): Promise<void>;
}

const isOpen = async (receiver: Hl7v2Destination) => {
  try {
    (await connected(() => dial(receiver), ENDLESS)).destroy();
    return true;
  } catch {
    return false;
  }
};

async function startHapi(options: readonly string[] = [], tls = false): Promise<Hapi> {
  const port = await freePort();
  const arguments_ = [
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
  // HAPI binds its port a moment later, on a thread of its server.
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
