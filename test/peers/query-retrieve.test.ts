import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Archive } from '../../dimse/archive/archive.ts';
import { openArchives } from '../../dimse/archive/open-archives.ts';
import { openQuery } from '../../dimse/archive/query.ts';
import { findRetrieval, requestRetrieval } from '../../dimse/archive/retrievals.ts';
import { httpAccess } from '../../fhir/client/authorization.ts';
import { checkArchives } from '../../src/app/doctor/peers.ts';
import { objectsOnDisk } from '../../src/core/files/received-objects.ts';
import { explainStudy } from '../../src/core/studies/explain.ts';
import { findStudy } from '../../src/core/studies/study-store.ts';
import { silentLogger } from '../../src/platform/logging/logger.ts';
import { ClientCertificates } from '../../src/platform/tls/client-files.ts';
import { dicomFile, type SmallObject } from '../dimse/dicom-file.ts';
import { sendBuffer } from '../dimse/send.ts';
import { openSite, type Site } from '../dimse/site.ts';
import { DCMTK_INSTALLED, type Program, startDcmqrscp } from './dcmtk.ts';
import { freePort } from './free-port.ts';
import {
  ORTHANC_DICOMWEB_INSTALLED,
  ORTHANC_INSTALLED,
  type Orthanc,
  startOrthanc,
} from './orthanc.ts';

const WAYS = ['orthanc-get', 'orthanc-move', 'orthanc-web', 'dcmqrscp-get', 'dcmqrscp-move'];
const SEGMENTATION = '1.2.840.10008.5.1.4.1.1.66.4';

let site: Site;
let orthanc: Orthanc;
let dcmqrscp: Program;
let folder: string;
let archives: ReadonlyMap<string, Archive>;
let study = '';
let count = 0;

const installed = ORTHANC_INSTALLED && ORTHANC_DICOMWEB_INSTALLED && DCMTK_INSTALLED;
describe.skipIf(!installed)('an archive', () => {
  beforeAll(async () => {
    const port = await freePort();
    folder = await mkdtemp(join(tmpdir(), 'sonogate-dcmqrscp-'));
    const settings = { DicomModalities: { peer: ['SONOGATE', '127.0.0.1', port] } };
    const started = await startOrthanc({ dicomWeb: true, settings });
    if (!started) throw new Error('Orthanc did not start');
    orthanc = started;
    dcmqrscp = await startDcmqrscp(folder, 'QRSCP', { aeTitle: 'SONOGATE', port });
    const ofOrthanc = {
      type: 'dicom',
      host: '127.0.0.1',
      port: orthanc.dicomPort,
      aeTitle: orthanc.aeTitle,
    };
    const ofDcmqrscp = {
      type: 'dicom',
      host: '127.0.0.1',
      port: dcmqrscp.port,
      aeTitle: 'QRSCP',
    };
    site = await openSite({
      dicom: { port },
      completion: {
        signal: 'association-release',
        quietSeconds: 60,
        afterReleaseSeconds: 5,
        expectedCount: {
          archive: 'orthanc-get',
          waitSeconds: 120,
          askEverySeconds: 1,
          fetchMissing: false,
        },
      },
      archives: [
        { ...ofOrthanc, name: 'orthanc-get', retrieve: 'c-get' },
        { ...ofOrthanc, name: 'orthanc-move', retrieve: 'c-move' },
        { type: 'dicomweb', name: 'orthanc-web', baseUrl: `${orthanc.url}/dicom-web` },
        { ...ofDcmqrscp, name: 'dcmqrscp-get', retrieve: 'c-get' },
        { ...ofDcmqrscp, name: 'dcmqrscp-move', retrieve: 'c-move' },
      ],
    });
    const opened = openArchives(site.config, {
      logger: silentLogger,
      certificates: new ClientCertificates(),
      access: httpAccess(new ClientCertificates()),
    });
    archives = new Map(opened.map((archive) => [archive.name, archive]));
  });
  afterAll(async () => {
    await site?.close();
    await orthanc?.stop();
    await dcmqrscp?.stop();
    if (folder) await rm(folder, { recursive: true, force: true });
  });
  beforeEach(() => {
    count += 1;
    study = `1.2.840.77.${count}`;
  });

  const object = (number: number, over: Partial<SmallObject> = {}) =>
    dicomFile({
      sopInstanceUid: `${study}.1.${number}`,
      studyInstanceUid: study,
      studyDate: '20260521',
      studyDescription: 'OB growth',
      patientId: `P${count}`,
      birthDate: '19900405',
      sex: 'F',
      ...over,
    });
  const archive = (name: string) => {
    const found = archives.get(name);
    if (!found) throw new Error(`no archive ${name}`);
    return found;
  };
  const toOrthanc = (file: Buffer) =>
    sendBuffer({ ...site.node, port: orthanc.dicomPort, aeTitle: orthanc.aeTitle }, file);
  const toDcmqrscp = (file: Buffer) =>
    sendBuffer({ ...site.node, port: dcmqrscp.port, aeTitle: 'QRSCP' }, file);
  const filed = async (name: string, files: readonly Buffer[]) => {
    for (const file of files) {
      const { outcome } = await (name.startsWith('orthanc') ? toOrthanc : toDcmqrscp)(file);
      expect(outcome).toBe('stored');
    }
  };
  const row = () => findStudy(site.database, study);
  const stateReached = (state: string) => expect.poll(async () => (await row())?.state).toBe(state);
  /** All announced objects have arrived, so the study waits only until it has settled. */
  const expectedReached = (revision: number) =>
    expect
      .poll(async () => row(), { interval: 100 })
      .toMatchObject({ complete_because: 'expected-count', revision });
  const requests = () =>
    site.submitted.filter(({ studyInstanceUid }) => studyInstanceUid === study);
  const fetched = async (name: string, purpose: 'study' | 'missing' = 'study') => {
    const wanted = { archive: name, studyInstanceUid: study, purpose };
    const id = await requestRetrieval(site.database, wanted, new Date());
    const ended = async () => (await findRetrieval(site.database, id))?.state ?? '';
    await expect.poll(ended).toMatch(/succeeded|failed/);
    return findRetrieval(site.database, id);
  };
  const explained = () =>
    explainStudy(site.database, study, {
      routing: site.config.routing,
      objects: objectsOnDisk(site.config.dataDir),
      at: new Date(),
    });

  describe.each(WAYS)('%s', (name) => {
    test("returns a patient's studies", async () => {
      await filed(name, [object(1), object(2)]);
      const found = await archive(name).studies({ patientId: `P${count}` }, { limit: 10 });
      expect(found).toMatchObject([
        { studyInstanceUid: study, studyDate: '20260521', patientId: `P${count}` },
      ]);
      // dcmqrscp keeps neither birth date nor sex in its index.
      if (name.startsWith('orthanc')) {
        expect(found).toMatchObject([{ birthDate: '19900405', sex: 'F', objects: 2 }]);
      }
      expect(await archive(name).studies({ patientId: 'NOBODY' }, { limit: 10 })).toEqual([]);
    });

    test("lists a study's objects, and none for a study that it does not have", async () => {
      await filed(name, [object(1), object(2)]);
      const listed = await archive(name).objects(study);
      expect(listed.map(({ sopInstanceUid }) => sopInstanceUid).sort()).toEqual([
        `${study}.1.1`,
        `${study}.1.2`,
      ]);
      expect(listed[0]).toMatchObject({ modality: 'US', seriesInstanceUid: `${study}.1` });
      expect(await archive(name).objects('1.2.3.4.5.6')).toEqual([]);
    });

    test('provides a study afterwards, which is then routed', async () => {
      await filed(name, [object(1), object(2)]);
      expect(await fetched(name)).toMatchObject({ state: 'succeeded', wanted: 2, here: 2 });
      await expectedReached(1);
      site.pass(6);
      await stateReached('submitted');
      expect(requests().map(({ files }) => files.length)).toEqual([2]);
      expect(await row()).toMatchObject({ complete_because: 'expected-count', revision: 1 });
    });

    test('reports that it does not have the study', async () => {
      expect(await fetched(name)).toMatchObject({ state: 'failed', code: 'not_found' });
      expect(await row()).toBeNull();
    });
  });

  test('is also queried at patient level, with the Patient Root model', async () => {
    await filed('orthanc-get', [object(1)]);
    const query = await openQuery({
      ...site.node,
      port: orthanc.dicomPort,
      aeTitle: orthanc.aeTitle,
    });
    const keys = { PatientID: `P${count}`, PatientBirthDate: '' };
    const found = await query.find({ level: 'PATIENT', keys });
    await query.release();
    expect(found.map(({ PatientBirthDate }) => PatientBirthDate)).toEqual(['19900405']);
  });

  test('provides only the missing objects of a study that is partly here', async () => {
    const name = 'orthanc-get';
    await filed(name, [object(1), object(2)]);
    await fetched(name);
    await expectedReached(1);
    site.pass(6);
    await stateReached('submitted');

    await filed(name, [object(3)]);
    expect(await fetched(name)).toMatchObject({ detail: '1 fetched, all 3 received' });
    await expectedReached(2);
    site.pass(6);
    await expect.poll(() => requests().length).toBe(2);
    expect(await fetched(name)).toMatchObject({ detail: '0 fetched, all 3 received' });
  });

  test('provides only what we accept: a segmentation is not retrieved', async () => {
    const segmentation = object(2, { sopClassUid: SEGMENTATION, modality: 'SEG' });
    await filed('orthanc-web', [object(1), segmentation]);
    expect(await fetched('orthanc-web')).toMatchObject({ state: 'succeeded', wanted: 1, here: 1 });
    expect(await row()).toMatchObject({ instance_count: 1 });
  });

  test('is checked by the doctor: whether it responds, and would provide its objects', async () => {
    const findings = await checkArchives(site.config);
    expect(findings.filter(({ state }) => state !== 'ok')).toEqual([]);
    expect(findings.map(({ what, detail }) => `${what} ${detail}`)).toEqual(
      expect.arrayContaining([
        'archive orthanc-get C-GET is accepted',
        `archive dcmqrscp-move C-MOVE is accepted; the archive must have the gateway's address for "SONOGATE"`,
      ]),
    );
  });

  describe('with which a source is compared', () => {
    test('completes a study as soon as all of it is here', async () => {
      await filed('orthanc-get', [object(1)]);
      await sendBuffer(site.node, object(1));
      await expect
        .poll(async () => (await row())?.complete_because)
        .toMatch(/expected-count|association-release/);
      await expect.poll(async () => (await explained())?.archiveCount?.state).toBe('complete');
      site.pass(6);
      await stateReached('submitted');
    });

    test('keeps a study waiting for missing objects, and states how many and how long', async () => {
      await filed('orthanc-get', [object(1), object(2), object(3)]);
      await sendBuffer(site.node, object(1));
      await expect.poll(row).not.toBeNull();
      site.pass(6);
      await expect
        .poll(async () => (await row())?.reason)
        .toBe('orthanc-get has 3 objects, of which 2 have not been received.');
      const told = await explained();
      expect(told).toMatchObject({ state: 'receiving', completeBecause: 'expected-count' });
      expect(told?.completeAfter).toEqual(told?.archiveCount?.holdUntil);

      await sendBuffer(site.node, object(2));
      await sendBuffer(site.node, object(3));
      await expect.poll(async () => (await explained())?.archiveCount?.state).toBe('complete');
      site.pass(6);
      await stateReached('submitted');
      expect(requests().map(({ files }) => files.length)).toEqual([3]);
    });

    test('keeps it waiting no longer than configured', async () => {
      await filed('orthanc-get', [object(1), object(2)]);
      await sendBuffer(site.node, object(1));
      await expect.poll(row).not.toBeNull();
      site.pass(6);
      await expect
        .poll(async () => (await row())?.reason)
        .toMatch(/^orthanc-get has 2 objects, of which 1 /);
      site.pass(100);
      expect((await row())?.state).toBe('receiving');
      site.pass(30);
      await stateReached('submitted');
      expect(await row()).toMatchObject({ complete_because: 'quiet-time' });
      expect(await explained()).toMatchObject({ archiveCount: { state: 'missing', missing: 1 } });
    });

    test('has the missing objects fetched if configured', async () => {
      const expectedCount = site.config.sources[0]?.completion.expectedCount;
      if (expectedCount) expectedCount.fetchMissing = true;
      await filed('orthanc-get', [object(1), object(2), object(3)]);
      await sendBuffer(site.node, object(1));
      await expect.poll(async () => (await row())?.instance_count).toBe(3);
      await expect.poll(async () => (await explained())?.archiveCount?.state).toBe('complete');
      site.pass(6);
      await stateReached('submitted');
      expect(requests().map(({ files }) => files.length)).toEqual([3]);
      if (expectedCount) expectedCount.fetchMissing = false;
    });
  });
});
