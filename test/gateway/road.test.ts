import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Result, resultSchema } from '../../pipelines/result/envelope.ts';
import { startPacs } from '../../src/app/simulate/pacs.ts';
import { DCMTK_INSTALLED, dcmtk } from '../peers/dcmtk.ts';
import { type FhirTestServer, startFhirServer } from '../peers/fhir-server.ts';
import { freePort } from '../peers/free-port.ts';
import { type Orthanc, startOrthanc } from '../peers/orthanc.ts';
import { PATIENT, type PhantomFiles, phantomFiles } from './phantom.ts';
import { allDelivered, deliveries, endOfStudy, openSite, type Site, waitUntil } from './site.ts';

const PATIENT_SYSTEM = 'urn:oid:1.2.3';
const NAME = 'PHANTOM';

function ehrDestination(baseUrl: string) {
  return {
    type: 'fhir',
    name: 'ehr',
    baseUrl,
    resultSystem: 'https://ward.example/fhir/result',
    patientIdentifierSystems: { '*': PATIENT_SYSTEM },
  };
}

function ruleTo(...deliverTo: string[]) {
  return {
    rules: [
      {
        name: 'obstetric',
        when: { modality: 'US' },
        run: { endpoint: 'us/obstetric/interpret', options: { report: true } },
        deliverTo,
      },
    ],
  };
}

async function knowPatient(ehr: FhirTestServer): Promise<void> {
  await ehr.put({
    resourceType: 'Patient',
    identifier: [{ system: PATIENT_SYSTEM, value: PATIENT.patientId }],
    name: [{ family: 'Phantom', given: ['Ward'] }],
    birthDate: '1993-04-05',
    gender: 'female',
  });
}

describe.skipIf(!DCMTK_INSTALLED)(
  'the path of a study from storescu to Orthanc and the EHR',
  () => {
    let orthanc: Orthanc | null;
    let ehr: FhirTestServer;
    let site: Site;
    let study: PhantomFiles;
    let result: Result;

    beforeAll(async () => {
      orthanc = await startOrthanc();
      ehr = await startFhirServer();
      await knowPatient(ehr);
      site = await openSite({
        destinations: [
          {
            type: 'dicom',
            name: 'pacs',
            host: '127.0.0.1',
            port: orthanc?.dicomPort ?? 1,
            aeTitle: 'ORTHANC',
          },
          ehrDestination(ehr.baseUrl),
        ],
        routing: ruleTo('pacs', 'ehr'),
      });
      study = await phantomFiles('road');
      const sent = await dcmtk('storescu', [
        '-aec',
        'SONOGATE',
        '127.0.0.1',
        String(site.dicomPort),
        ...study.paths,
      ]);
      expect(sent, sent.output).toMatchObject({ exitCode: 0 });
      const row = await endOfStudy(site, study.studyUid);
      expect(row, JSON.stringify(row.fault)).toMatchObject({ status: 'succeeded' });
      result = resultSchema.parse(await site.gateway.core.result(row.id));
      await allDelivered(site);
    }, 180_000);

    afterAll(async () => {
      await site.close();
      await ehr.close();
      await orthanc?.stop();
      await rm(study.folder, { recursive: true, force: true });
    });

    it('dates the study from the last menstrual period of the header', () => {
      const growth = result.sections.find(({ id }) => id === 'growth');
      expect(JSON.stringify(growth?.data)).toContain('168');
    });

    it('lists all fourteen sections, and calls none of them normal merely because nobody looked', () => {
      expect(result.sections).toHaveLength(14);
      for (const section of result.sections.filter(({ status }) => status === 'not_assessed')) {
        expect(section.reason?.detail).not.toBe('');
      }
    });

    it('leaves no name, identifier or date of the patient in the result', () => {
      const text = JSON.stringify(result);
      for (const secret of [
        NAME,
        PATIENT.patientId,
        PATIENT.patientBirthDate,
        'ACC7',
        '20260115',
      ]) {
        expect(text).not.toContain(secret);
      }
    });

    it.runIf(DCMTK_INSTALLED)(
      'stores both SR documents in Orthanc, in the study of the images',
      async ({ skip }) => {
        if (!orthanc) return skip('Orthanc is not installed');
        const held = await orthanc.instances();
        expect(held.map((tags) => tags.SOPClassUID).sort()).toEqual([
          '1.2.840.10008.5.1.4.1.1.88.33',
          '1.2.840.10008.5.1.4.1.1.88.34',
        ]);
        for (const tags of held) {
          expect(tags).toMatchObject({
            StudyInstanceUID: study.studyUid,
            PatientID: PATIENT.patientId,
            PatientName: PATIENT.patientName,
            AccessionNumber: 'ACC7',
            VerificationFlag: 'UNVERIFIED',
            Modality: 'SR',
          });
        }
      },
    );

    it('leaves one preliminary report in the EHR, for the existing patient', async () => {
      const reports = await ehr.all('DiagnosticReport');
      const patients = await ehr.all('Patient');
      expect(patients).toHaveLength(1);
      expect(reports).toHaveLength(1);
      expect(reports[0]).toMatchObject({
        status: 'preliminary',
        subject: { reference: `Patient/${patients[0]?.id}` },
      });
      expect(reports[0]?.conclusion).toMatch(/^AI draft, not reviewed\./);
    });
  },
);

describe.skipIf(!DCMTK_INSTALLED)('a PACS and an EHR that are down', () => {
  it('receive the results once each when they are available again', {
    timeout: 180_000,
  }, async () => {
    const pacsPort = await freePort();
    const ehr = await startFhirServer();
    await knowPatient(ehr);
    ehr.fail('POST /', { kind: 'status', status: 503 }, 3);
    const study = await phantomFiles('down');
    const site = await openSite({
      destinations: [
        { type: 'dicom', name: 'pacs', host: '127.0.0.1', port: pacsPort, aeTitle: 'PACS' },
        ehrDestination(ehr.baseUrl),
      ],
      routing: ruleTo('pacs', 'ehr'),
    });
    const arrived: string[] = [];
    try {
      await dcmtk('storescu', [
        '-aec',
        'SONOGATE',
        '127.0.0.1',
        String(site.dicomPort),
        ...study.paths,
      ]);
      const row = await endOfStudy(site, study.studyUid);
      expect(row.status).toBe('succeeded');
      await waitUntil('a failed attempt', async () => {
        const toPacs = (await deliveries(site)).filter(({ destination }) => destination === 'pacs');
        return toPacs.some(({ code }) => code === 'peer_unreachable') ? true : null;
      });
      const pacs = await startPacs({
        folder: study.folder,
        host: '127.0.0.1',
        port: pacsPort,
        onObject: ({ sopInstanceUid }) => arrived.push(sopInstanceUid),
      });
      await allDelivered(site);
      await pacs.close();
      expect(new Set(arrived).size).toBe(2);
      expect(await ehr.all('DiagnosticReport')).toHaveLength(1);
    } finally {
      await site.close();
      await ehr.close();
      await rm(study.folder, { recursive: true, force: true });
    }
  });
});
