import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ImagingStudy, Task } from '@medplum/fhirtypes';
import { Client } from 'fhir-kit-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../config/load.ts';
import { fetchIntoFiles } from '../../dimse/archive/into-files.ts';
import { openArchives } from '../../dimse/archive/open-archives.ts';
import { httpAccess } from '../../fhir/client/authorization.ts';
import { studySourceOf } from '../../src/app/wiring/study-source.ts';
import type { RequestFile } from '../../src/core/requests/request.ts';
import { silentLogger } from '../../src/platform/logging/logger.ts';
import { ClientCertificates } from '../../src/platform/tls/client-files.ts';
import { dicomFile } from '../dimse/dicom-file.ts';
import { type Gateway, startGateway } from '../src/doors/http/gateway.ts';
import { type FhirTestServer, startFhirServer } from './fhir-server.ts';
import { ORTHANC_DICOMWEB_INSTALLED, type Orthanc, startOrthanc } from './orthanc.ts';

const STUDY = '1.2.840.77.501';
const UIDS = [`${STUDY}.1.1`, `${STUDY}.1.2`];

/**
 * An EHR with the ImagingStudy and an Orthanc with its objects, connected by the FHIR interface.
 */
describe.skipIf(!ORTHANC_DICOMWEB_INSTALLED)('a study from an EHR, submitted as a Task', () => {
  let orthanc: Orthanc;
  let ehr: FhirTestServer;
  let gateway: Gateway;
  let client: Client;
  let folder: string;
  let config: ReturnType<typeof loadConfig>;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sonogate-submission-'));
    orthanc = (await startOrthanc({ dicomWeb: true })) as Orthanc;
    ehr = await startFhirServer();
    config = loadConfig(
      {},
      {
        dataDir: folder,
        http: { fhirSubmission: { archives: ['orthanc'], ehrs: ['ehr'] } },
        archives: [{ type: 'dicomweb', name: 'orthanc', baseUrl: `${orthanc.url}/dicom-web` }],
        destinations: [
          {
            type: 'fhir',
            name: 'ehr',
            baseUrl: ehr.baseUrl,
            authorization: { type: 'none' },
            resultSystem: 'https://hospital.example/results',
            organization: 'Hospital',
            patientIdentifierSystems: { '*': 'urn:oid:1.2.36.146' },
          },
        ],
      },
    );
    gateway = await startGateway({
      studySource: studySourceOf(config, {
        certificates: new ClientCertificates(),
        logger: silentLogger,
      }),
    });
    const bearerToken = await gateway.key({ scopes: ['run', 'read', 'retrieve'] });
    client = new Client({ baseUrl: `${gateway.url}/fhir`, bearerToken });
    for (const sopInstanceUid of UIDS) {
      const body = dicomFile({ sopInstanceUid, studyInstanceUid: STUDY, patientId: 'P501' });
      const { ok } = await fetch(`${orthanc.url}/instances`, { method: 'POST', body });
      expect(ok).toBe(true);
    }
  });
  afterAll(async () => {
    await gateway?.stop();
    await ehr?.close();
    await orthanc?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const study = async (address: string) => {
    const patient = await ehr.put({ resourceType: 'Patient' });
    const endpoint = await ehr.put({
      resourceType: 'Endpoint',
      status: 'active',
      connectionType: {
        system: 'http://terminology.hl7.org/CodeSystem/endpoint-connection-type',
        code: 'dicom-wado-rs',
      },
      payloadType: [{ text: 'DICOM' }],
      address,
    });
    return ehr.put<ImagingStudy>({
      resourceType: 'ImagingStudy',
      status: 'available',
      subject: { reference: `Patient/${patient.id}` },
      identifier: [{ system: 'urn:dicom:uid', value: `urn:oid:${STUDY}` }],
      endpoint: [{ reference: `Endpoint/${endpoint.id}` }],
    });
  };
  const submit = async (reference: string) =>
    (await client.create({
      resourceType: 'Task',
      body: {
        resourceType: 'Task',
        status: 'requested',
        intent: 'order',
        code: { coding: [{ system: 'urn:sonogate:endpoint', code: 'us/obstetric/interpret' }] },
        focus: { reference },
      } as never,
    })) as unknown as Task;

  it("becomes a request whose files are the archive's objects", async () => {
    const { id } = await study(`${orthanc.url}/dicom-web/`);
    const task = await submit(`${ehr.baseUrl}/ImagingStudy/${id}`);
    expect(task.status).toBe('accepted');
    const { rows } = await gateway.database.query<{ files: RequestFile[] }>(
      'SELECT files FROM requests WHERE id = $1',
      [task.id?.replace('-', '_')],
    );
    const wanted = (rows[0]?.files ?? []).flatMap((file) =>
      'archive' in file ? [{ object: file.archive, path: join(folder, file.name) }] : [],
    );
    expect(wanted.map(({ object }) => object.sopInstanceUid).sort()).toEqual(UIDS);
    const archives = openArchives(config, {
      logger: silentLogger,
      certificates: new ClientCertificates(),
      access: httpAccess(new ClientCertificates()),
    });
    const limits = { maxObjectBytes: 1_000_000, timeoutSeconds: 60 };
    const never = new AbortController().signal;
    const missing = await fetchIntoFiles(archives, limits)(wanted, never);
    expect(missing).toEqual([]);
    const fetched = (await readdir(folder)).filter((name) => name.endsWith('.dcm'));
    expect(fetched).toEqual(['object-0001.dcm', 'object-0002.dcm']);
    for (const { object, path } of wanted) {
      const bytes = await readFile(path);
      expect(bytes.subarray(128, 132).toString()).toBe('DICM');
      expect(bytes.includes(object.sopInstanceUid)).toBe(true);
    }
    // An object is missing if it exceeds the configured size, or if the archive has lost it.
    const elsewhere = wanted.map((one) => ({ ...one, path: `${one.path}.again` }));
    const small = await fetchIntoFiles(archives, { ...limits, maxObjectBytes: 10 })(
      elsewhere,
      never,
    );
    expect(small).toHaveLength(2);
  });

  it('is refused if its address does not belong to a configured archive', async () => {
    const { id } = await study('http://127.0.0.1:9/dicom-web');
    const answer = await submit(`ImagingStudy/${id}`).catch((error) => error.response);
    expect(answer).toMatchObject({ status: 422, data: { resourceType: 'OperationOutcome' } });
  });
});
