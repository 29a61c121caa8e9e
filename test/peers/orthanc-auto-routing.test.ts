import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sendFiles } from '../../dimse/send/store-scu.ts';
import { PATIENT, type PhantomFiles, phantomFiles } from '../gateway/phantom.ts';
import { allDelivered, endOfStudy, explain, openSite, type Site } from '../gateway/site.ts';
import { DCMTK_INSTALLED, dcmtk } from './dcmtk.ts';
import { freePort } from './free-port.ts';
import { ORTHANC_INSTALLED, type Orthanc, startOrthanc } from './orthanc.ts';

/**
 * The script in docs/query-retrieve.md. It forwards only images, because otherwise results would be
 * sent back and forth endlessly.
 */
const AUTO_ROUTING = `
function OnStableStudy(study, tags, metadata)
  local series = ParseJson(RestApiGet('/studies/' .. study .. '/series'))
  for _, one in pairs(series) do
    if one['MainDicomTags']['Modality'] == 'US' then
      for _, instance in pairs(one['Instances']) do
        SendToModality(instance, 'sonogate')
      end
    end
  end
end
`;

const TID1500 = '1.2.840.10008.5.1.4.1.1.88.34';
const TID5000 = '1.2.840.10008.5.1.4.1.1.88.33';
const SEGMENTATION = '1.2.840.10008.5.1.4.1.1.66.4';
const KEY_OBJECTS = '1.2.840.10008.5.1.4.1.1.88.59';
const PRESENTATION_STATE = '1.2.840.10008.5.1.4.1.1.11.1';

let orthanc: Orthanc;
let site: Site;
let study: PhantomFiles;

/**
 * One PACS does everything: it receives a cart's images, forwards them to us, receives the results,
 * and answers queries.
 */
describe.skipIf(!ORTHANC_INSTALLED || !DCMTK_INSTALLED)('Orthanc with auto-routing', () => {
  beforeAll(async () => {
    const port = await freePort();
    const started = await startOrthanc({
      lua: AUTO_ROUTING,
      settings: { StableAge: 1, DicomModalities: { sonogate: ['SONOGATE', '127.0.0.1', port] } },
    });
    if (!started) throw new Error('Orthanc did not start');
    orthanc = started;
    site = await openSite({
      dicom: { host: '127.0.0.1', port },
      destinations: [
        {
          type: 'dicom',
          name: 'pacs',
          host: '127.0.0.1',
          port: orthanc.dicomPort,
          aeTitle: orthanc.aeTitle,
          objects: ['sr-tid1500', 'sr-tid5000', 'seg', 'key-objects', 'presentation-state'],
        },
      ],
      routing: {
        rules: [
          {
            name: 'obstetric',
            when: { modality: 'US' },
            run: { endpoint: 'us/obstetric/interpret' },
            deliverTo: ['pacs'],
          },
        ],
      },
    });
    study = await phantomFiles('auto-routing');
    const cart = { callingAeTitle: 'CART', timeoutSeconds: 20 };
    const pacs = { host: '127.0.0.1', port: orthanc.dicomPort, aeTitle: orthanc.aeTitle };
    await sendFiles({ ...pacs, ...cart }, study.paths);
    const row = await endOfStudy(site, study.studyUid);
    expect(row, JSON.stringify(row.fault)).toMatchObject({ status: 'succeeded' });
    await allDelivered(site);
  }, 120_000);
  afterAll(async () => {
    await site?.close();
    await orthanc?.stop();
    if (study) await rm(study.folder, { recursive: true, force: true });
  });

  test("receives the reports and the segmentation into the images' study", async () => {
    const held = await orthanc.instances();
    const results = held.filter(({ Modality }) => Modality !== 'US');
    expect(new Set(results.map(({ SOPClassUID }) => SOPClassUID))).toEqual(
      new Set([SEGMENTATION, TID5000, TID1500, KEY_OBJECTS, PRESENTATION_STATE]),
    );
    for (const tags of results) {
      expect(tags).toMatchObject({
        StudyInstanceUID: study.studyUid,
        PatientID: PATIENT.patientId,
      });
    }
  });

  test('returns our results to findscu', async () => {
    const { output } = await dcmtk('findscu', [
      '-S',
      '-aec',
      orthanc.aeTitle,
      '-k',
      'QueryRetrieveLevel=SERIES',
      '-k',
      `StudyInstanceUID=${study.studyUid}`,
      '-k',
      'Modality=SR',
      '-k',
      'SeriesInstanceUID',
      '127.0.0.1',
      String(orthanc.dicomPort),
    ]);
    expect(output).toMatch(/\(0008,0060\) CS \[SR/);
  });

  test('sends us the whole study including our results: everything is accepted and nothing changes', async () => {
    const { exitCode, output } = await dcmtk('movescu', [
      '-S',
      '-v',
      '-aet',
      'SONOGATE',
      '-aec',
      orthanc.aeTitle,
      '-aem',
      'SONOGATE',
      '-k',
      'QueryRetrieveLevel=STUDY',
      '-k',
      `StudyInstanceUID=${study.studyUid}`,
      '127.0.0.1',
      String(orthanc.dicomPort),
    ]);
    expect(exitCode, output).toBe(0);
    expect(output).toMatch(/Received Final Move Response \(Success\)/);
    const told = await explain(site.gateway, study.studyUid);
    expect(told).toMatchObject({ revision: 1, state: 'submitted' });
    expect(told?.requests).toHaveLength(1);
  });
});
