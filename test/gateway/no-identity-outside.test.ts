import { once } from 'node:events';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Sonogate } from '../../clients/typescript/src/index.ts';
import { loadConfig } from '../../config/load.ts';
import type { RunCommand } from '../../src/operations/commands.ts';
import { commandsOfGateway } from '../../src/operations/socket.ts';
import { dicomFile } from '../dimse/dicom-file.ts';
import { sendBuffer } from '../dimse/send.ts';
import { DCMTK_INSTALLED, dcmtk } from '../peers/dcmtk.ts';
import { freshDataDir } from '../peers/embedded.ts';
import { freePort } from '../peers/free-port.ts';
import { type PhantomFiles, phantomFiles } from './phantom.ts';
import { type Served, serve, siteFile } from './serve.ts';
import { siteSettings, waitUntil } from './site.ts';

const IDENTITY = {
  patientName: 'ZXQUNUSUAL^MARVELLA',
  patientId: 'QZ9917ALPHA',
  patientBirthDate: '19870613',
  lastMenstrualDate: '20250803',
  studyDate: '20260118',
  accessionNumber: 'ACCZQ881',
  studyDescription: 'US of Mrs ZXQUNUSUAL',
};

/** Everything that identifies the patient, including dates in the notation of FHIR and JSON. */
const TELLING = /zxqunusual|marvella|QZ9917|ACCZQ881|1987-?06-?13|2025-?08-?03|2026-?01-?18/i;

/** Starts an EHR whose refusals repeat everything that we sent it. */
async function startParrot(): Promise<{ server: Server; url: string; heard: string[] }> {
  const heard: string[] = [];
  const server = createServer((call, answer) => {
    const chunks: Buffer[] = [];
    call.on('data', (chunk: Buffer) => chunks.push(chunk));
    call.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      heard.push(`${call.url} ${decodeURIComponent(body)}`);
      const diagnostics = `no room for ${IDENTITY.patientName} ${IDENTITY.patientId} ${body}`;
      // The EHR is queried even though it has no capability statement.
      answer.writeHead(call.method === 'GET' ? 404 : 422, {
        'content-type': 'application/fhir+json',
      });
      const issue = [{ severity: 'error', code: 'processing', diagnostics }];
      answer.end(JSON.stringify({ resourceType: 'OperationOutcome', issue }));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return { server, url: `http://127.0.0.1:${port}/fhir`, heard };
}

describe.skipIf(!DCMTK_INSTALLED)('a patient whose name occurs nowhere else', () => {
  let dataDir: string;
  let gateway: Served;
  let ehr: Awaited<ReturnType<typeof startParrot>>;
  let study: PhantomFiles;
  let metrics = '';
  const bodies: string[] = [];
  const workFiles: string[] = [];

  const send = (title: string, paths: readonly string[]) =>
    dcmtk('storescu', [
      '-aet',
      title,
      '-aec',
      'SONOGATE',
      '127.0.0.1',
      `${gateway.dicomPort}`,
      ...paths,
    ]);
  const operation: RunCommand = (name, parameters) => commandsOfGateway(dataDir)(name, parameters);

  beforeAll(async () => {
    dataDir = await freshDataDir();
    ehr = await startParrot();
    // Nothing listens on these ports. Each destination has a separate port, since an unreachable
    // peer is not retried for a while.
    const away = async (name: string) => {
      const port = await freePort();
      return { type: 'dicom', name, host: '127.0.0.1', port, aeTitle: 'PACS' };
    };
    const parrot = {
      type: 'fhir',
      name: 'ehr',
      baseUrl: ehr.url,
      resultSystem: 'https://ward.example/fhir/result',
      patientIdentifierSystems: { '*': 'urn:oid:1.2.3' },
    };
    const run = { endpoint: 'us/obstetric/interpret', options: { report: true } };
    const settings = siteSettings(
      { dataDir },
      {
        destinations: [await away('pacs'), await away('archive'), parrot],
        routing: {
          rules: [{ name: 'all', run, deliverTo: ['pacs', 'ehr'], forwardTo: ['archive'] }],
        },
      },
    );
    gateway = await serve(await siteFile(settings), { SONOGATE_LOG_LEVEL: 'trace' });
    study = await phantomFiles('telling', IDENTITY);

    await sendGoodAndBad();
    const watching = watchWork();
    await callWithTheName();
    await waitUntil('both deliveries to have been tried', async () => {
      const rows = await operation('deliveries.list', {});
      const tried = new Set(
        rows.filter(({ attempt, code }) => attempt > 0 && code).map(({ kind }) => kind),
      );
      return tried.has('fhir') && tried.has('dicom') && tried.has('forward') ? tried : null;
    });
    await operation('studies.explain', { study: study.studyUid });
    watching.abort();
    metrics = await (await fetch(`${gateway.url}/metrics`)).text();
  }, 180_000);

  afterAll(async () => {
    await gateway?.stop('SIGTERM');
    ehr?.server.close();
    await rm(dataDir, { recursive: true, force: true });
    await rm(study.folder, { recursive: true, force: true });
  });

  /**
   * Sends objects that are accepted, objects refused for their content, and objects refused for
   * their sender.
   */
  async function sendGoodAndBad(): Promise<void> {
    const patient = {
      patientName: Buffer.from(IDENTITY.patientName),
      patientId: IDENTITY.patientId,
    };
    const node = { host: '127.0.0.1', port: gateway.dicomPort, aeTitle: 'SONOGATE' };
    const nameless = dicomFile({ sopInstanceUid: '1.2.3.4', studyInstanceUid: '', ...patient });
    const refused = await sendBuffer(
      { ...node, callingAeTitle: 'CART', timeoutSeconds: 20 },
      nameless,
    );
    expect(refused).toMatchObject({ outcome: 'failed' });
    expect((await send('CART', study.paths)).exitCode).toBe(0);
    await dcmtk('storescu', ['-aec', 'OTHER', '127.0.0.1', `${gateway.dicomPort}`, ...study.paths]);
  }

  /** Makes requests that contain the name in places where it does not belong. */
  async function callWithTheName(): Promise<void> {
    const made = await operation('keys.create', { name: 'client', test: true });
    const headers = { authorization: `Bearer ${made.key}`, 'content-type': 'application/json' };
    const client = new Sonogate({ url: gateway.url, key: made.key });
    const scan = join(study.folder, 'ZXQUNUSUAL MARVELLA 1987-06-13.dcm');
    await writeFile(scan, 'no image');
    const [file] = await client.upload([scan]);
    const call = async (path: string, body?: unknown) => {
      const sent = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
      const answer = await fetch(`${gateway.url}${path}`, { headers, ...sent });
      bodies.push(await answer.text());
      return answer.status;
    };
    const context = (indication: string) => {
      return { input: { files: [file], clinical_context: { indication } } };
    };
    const told = `ZXQUNUSUAL MARVELLA born 1987-06-13, id 9917881`;
    expect(await call('/v1/run/us/obstetric', context(told))).toBe(422);
    expect(await call('/v1/run/us/obstetric', { input: { files: ['ZXQUNUSUAL'] } })).toBe(422);
    expect(await call('/v1/requests/ZXQUNUSUAL%5EMARVELLA')).toBe(404);
    expect(await call('/v1/requests?status=ZXQUNUSUAL')).toBe(422);
    await fetch(`${gateway.url}/v1/requests`, { headers: { authorization: 'Bearer ZXQUNUSUAL' } });
    await fetch(`${gateway.url}/v1/run/us/obstetric`, {
      method: 'POST',
      headers,
      body: '{"input": "ZXQUNUSUAL',
    });
  }

  /** Copies the job from each work folder while the folder exists. */
  function watchWork(): AbortController {
    const stop = new AbortController();
    const look = async () => {
      while (!stop.signal.aborted) {
        for (const id of await readdir(join(dataDir, 'work')).catch(() => [])) {
          const path = join(dataDir, 'work', id, 'job.json');
          const job = await readFile(path, 'utf8').catch(() => null);
          if (job !== null) workFiles.push(job);
        }
        await delay(20);
      }
    };
    void look();
    return stop;
  }

  test('is sent to the EHR, so there is something that could leak', () => {
    expect(ehr.heard.join('\n')).toMatch(TELLING);
  });

  test('does not appear in the log at any level', async () => {
    const debug = '"level":20';
    for (const said of ['association rejected', 'object quarantined', 'ehr_', debug]) {
      const isSaid = () => gateway.log.some((line) => line.includes(said));
      await expect.poll(isSaid, { message: said }).toBe(true);
    }
    expect(gateway.log.filter((line) => TELLING.test(line))).toEqual([]);
  });

  test('does not appear in any metric', () => {
    expect(metrics).toContain('sonogate_');
    expect(metrics).not.toMatch(TELLING);
  });

  test('appears only in the response that repeats what the call itself contained', () => {
    const [refused = '', unknownFile = ''] = bodies;
    expect(JSON.parse(refused)).toMatchObject({ status: 422 });
    // The error quotes the date that the caller wrote in the indication, so that the caller can
    // remove it.
    expect(refused).toContain('1987-06-13');
    expect(refused.replaceAll('1987-06-13', '')).not.toMatch(TELLING);
    expect(unknownFile).not.toMatch(TELLING);
  });

  test("appears neither in a pipeline's job nor in its results", async () => {
    expect(workFiles.length).toBeGreaterThan(0);
    expect(workFiles.filter((job) => TELLING.test(job))).toEqual([]);
    const results = await readdir(join(dataDir, 'results'), {
      recursive: true,
      withFileTypes: true,
    });
    const files = results.filter((entry) => entry.isFile());
    expect(files.length).toBeGreaterThan(0);
    for (const { parentPath, name } of files) {
      expect(await readFile(join(parentPath, name), 'latin1'), name).not.toMatch(TELLING);
    }
  });

  test('does not appear in the audit, which records who did what', async () => {
    const { lines } = await operation('audit.export', { format: 'jsonl' });
    const events = lines.map((line) => JSON.parse(line));
    const actions = new Set(
      events.map(
        ({ details }) => details.find(({ name }: { name: string }) => name === 'action').value,
      ),
    );
    for (const action of [
      'gateway.start',
      'dicom.received',
      'dicom.refused',
      'dicom.sending',
      'dicom.sent',
      'report.sent',
      'key.create',
      'key.refused',
    ]) {
      expect(actions, action).toContain(action);
    }
    // The study and the patient are joined to the events on output; the rows themselves contain our
    // own ids.
    const rows = events.map(({ objects: _joined, ...row }) => JSON.stringify(row));
    expect(rows.filter((row) => TELLING.test(row) && !row.includes('dicom.refused'))).toEqual([]);
  });
});

test('an error from the database shows only its message', async () => {
  const { errorFields } = await import('../../src/platform/logging/logger.ts');
  const error = Object.assign(new Error('duplicate key'), {
    code: '23505',
    detail: `Key (name)=(${IDENTITY.patientName}) already exists.`,
    params: [IDENTITY.patientName],
  });
  const told = JSON.stringify(errorFields(new Error('outside', { cause: error })));
  expect(told).toContain('23505');
  expect(told).not.toMatch(TELLING);
  expect(loadConfig({}).logging.level).toBe('info');
});
