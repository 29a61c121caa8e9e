import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadConfig } from '../../../config/load.ts';
import { checkPeers } from '../../../src/cli/doctor/peers.ts';
import { checkThisMachine } from '../../../src/cli/doctor/this-machine.ts';
import { DCMTK_INSTALLED, type Program, startStorescp } from '../../peers/dcmtk.ts';
import { type FhirTestServer, startFhirServer } from '../../peers/fhir-server.ts';
import { freePort } from '../../peers/free-port.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sonogate-doctor-'));
});
afterAll(() => rm(folder, { recursive: true }));

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

describe('this machine', () => {
  test('has models with the checksums of the registry', async () => {
    const findings = await checkThisMachine(settings({}));
    expect(findings.filter(({ what }) => what.startsWith('model'))).toMatchObject([
      { what: 'models', state: 'ok' },
    ]);
  });

  test.each([
    ['a fault below what objects need', Number.MAX_SAFE_INTEGER, 'fault'],
    ['in order above', 0, 'ok'],
  ])('has a disk that is %s', async (_what, minFreeBytes, state) => {
    const findings = await checkThisMachine(settings({ dicom: { minFreeBytes } }));
    expect(findings.find(({ what }) => what === 'disk')).toMatchObject({ state });
  });

  test('says that no gateway runs', async () => {
    const findings = await checkThisMachine(settings({}));
    expect(findings.find(({ what }) => what === 'gateway')).toMatchObject({ state: 'warning' });
  });
});

describe.skipIf(!DCMTK_INSTALLED)('a PACS', () => {
  let pacs: Program;
  beforeAll(async () => {
    pacs = await startStorescp(folder);
  });
  afterAll(() => pacs?.stop());

  test('that takes what it is set to get is in order', async () => {
    expect(await peers(pacsAt(pacs.port, { objects: ['sr-tid1500', 'pdf'] }))).toMatchObject([
      { what: 'PACS pacs', state: 'ok' },
    ]);
  });

  test('without the service that it is asked for is a fault, and says which', async () => {
    const findings = await peers(pacsAt(pacs.port, { storageCommitment: true }));
    expect(findings).toMatchObject([
      { state: 'ok' },
      { state: 'fault', detail: 'takes no storage commitment' },
    ]);
  });

  test('that is not there is a fault', async () => {
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

  test('tells how results will go to it', async () => {
    const [finding] = await peers(ehr(server.baseUrl));
    expect(finding).toMatchObject({ what: 'EHR ehr', state: 'ok' });
    expect(finding?.detail).toMatch(/^FHIR 4\./);
  });

  test('that is not there is a fault', async () => {
    const findings = await peers(ehr(`http://127.0.0.1:${await freePort()}`));
    expect(findings).toMatchObject([{ what: 'EHR ehr', state: 'fault' }]);
  });
});
