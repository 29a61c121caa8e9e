import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sendFiles } from '../../../../../dimse/send/store-scu.ts';
import { type Pacs, startPacs } from '../../../../../src/app/simulate/pacs.ts';
import type { ConsoleRole } from '../../../../../src/doors/console/contract.ts';
import { PATIENT } from '../../../../gateway/phantom.ts';
import { openSite, type Site } from '../../../../gateway/site.ts';
import { startFhirServer } from '../../../../peers/fhir-server.ts';
import { freePort } from '../../../../peers/free-port.ts';

const LOOPBACK = '127.0.0.1';
const PATIENT_SYSTEM = 'urn:oid:1.2.3';

/**
 * A delivery is given up after seconds, so that a test can see it dead. Its destination's breaker
 * stays closed; otherwise a replay would be given up before it is tried.
 */
const DELIVERY = {
  retryBaseSeconds: 0.2,
  retryCapSeconds: 1,
  giveUpAfterHours: 12 / 3600,
  breaker: { failures: 1000, openSeconds: 1 },
};

/** A female patient whom the EHR knows. */
export interface EhrPatient {
  id: string;
  family: string;
  given: string;
  birthDate: string;
}

/** A gateway with a PACS and an EHR that respond, and an archive that does not. */
export interface Ward {
  site: Site;
  url: string;
  /** Folder with the objects that the PACS and the archive hold. */
  folder: string;
  knowPatient(patient: EhrPatient): Promise<void>;
  newKey(role: ConsoleRole, name?: string): Promise<string>;
  send(paths: readonly string[]): Promise<void>;
  startArchive(): Promise<void>;
  close(): Promise<void>;
}

const dicomDestination = (name: string, port: number) => ({
  type: 'dicom',
  name,
  host: LOOPBACK,
  port,
  aeTitle: name.toUpperCase(),
  objects: ['sr-tid1500'],
});

const ROUTING = {
  rules: [
    {
      name: 'obstetric',
      when: { modality: 'US', studyDescription: { matches: 'obstetric' } },
      run: { endpoint: 'us/obstetric/interpret', options: { report: true } },
      deliverTo: ['pacs', 'archive', 'ehr'],
    },
    {
      name: 'echo',
      when: { modality: 'US', studyDescription: { matches: 'echocardiogram' } },
      run: { endpoint: 'us/echo/interpret', options: { report: true } },
      deliverTo: ['pacs', 'ehr'],
    },
    { name: 'rest', ignore: true },
  ],
};

const WARD_PATIENT: EhrPatient = {
  id: PATIENT.patientId,
  family: 'Phantom',
  given: 'Ward',
  birthDate: '1993-04-05',
};

/**
 * Starts the gateway with its peers.
 * @param folder where received objects are kept; it is removed at the end.
 */
export async function openWard(folder: string): Promise<Ward> {
  const receive = (name: string, port: number): Promise<Pacs> =>
    startPacs({ folder: join(folder, name), host: LOOPBACK, port });
  const listeners = [await receive('pacs', 0)];
  const ehr = await startFhirServer();
  const archivePort = await freePort();
  const site = await openSite({
    destinations: [
      dicomDestination('pacs', listeners[0]?.port ?? 0),
      dicomDestination('archive', archivePort),
      {
        type: 'fhir',
        name: 'ehr',
        baseUrl: ehr.baseUrl,
        // The EHR runs in this busy process, and the gateway would hold a delivery that is given
        // up.
        timeoutSeconds: 120,
        resultSystem: 'https://ward.example/fhir/result',
        patientIdentifierSystems: { '*': PATIENT_SYSTEM },
      },
    ],
    routing: ROUTING,
    delivery: DELIVERY,
    console: {
      invokeImageDisplay: true,
      viewer: { url: 'https://viewer.example/?study={StudyInstanceUID}' },
    },
  });
  async function knowPatient({ id, family, given, birthDate }: EhrPatient): Promise<void> {
    await ehr.put({
      resourceType: 'Patient',
      identifier: [{ system: PATIENT_SYSTEM, value: id }],
      name: [{ family, given: [given] }],
      birthDate,
      gender: 'female',
    });
  }
  await knowPatient(WARD_PATIENT);
  return {
    site,
    knowPatient,
    url: site.gateway.http?.url ?? '',
    folder,
    async newKey(role, name = role) {
      const made = await site.gateway.run('keys.create', { name, consoleRole: role });
      return made.key;
    },
    async send(paths) {
      const node = {
        host: LOOPBACK,
        port: site.dicomPort,
        aeTitle: site.config.dicom.aeTitle,
        callingAeTitle: 'CART',
        timeoutSeconds: 30,
      };
      const refused = (await sendFiles(node, paths)).find(({ outcome }) => outcome === 'failed');
      if (refused) throw new Error(refused.detail);
    },
    async startArchive() {
      listeners.push(await receive('archive', archivePort));
    },
    async close() {
      await site.close();
      await ehr.close();
      for (const listener of listeners) await listener.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
