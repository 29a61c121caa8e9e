import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Archive } from '../../../dimse/archive/archive.ts';
import { dicomwebArchive } from '../../../dimse/archive/dicomweb-archive.ts';
import { dimseArchive } from '../../../dimse/archive/open-archives.ts';
import { type Listener, listen } from '../../../dimse/network/listener.ts';
import type { StorageService } from '../../../dimse/network/service-ports.ts';
import { httpAccess } from '../../../fhir/client/authorization.ts';
import { EXPLICIT_VR_LITTLE_ENDIAN } from '../../../pipelines/dicom/transfer-syntaxes.ts';
import { SonogateError } from '../../../src/platform/errors/catalogue.ts';
import { silentLogger } from '../../../src/platform/logging/logger.ts';
import { ClientCertificates } from '../../../src/platform/tls/client-files.ts';
import { freePort } from '../../peers/free-port.ts';
import {
  ORTHANC_DICOMWEB_INSTALLED,
  ORTHANC_INSTALLED,
  type Orthanc,
  startOrthanc,
} from '../../peers/orthanc.ts';
import { dicomFile } from '../dicom-file.ts';
import { sendBuffer } from '../send.ts';

const STUDY = '1.2.840.99.1';
const OTHER_STUDY = '1.2.840.99.2';
const MISSING_STUDY = '1.2.840.99.3';
const PATIENT = { patientId: 'CONFORM', birthDate: '19900405', sex: 'F', studyDate: '20260102' };
const OBJECTS = [1, 2, 3].map((number) => ({
  ...PATIENT,
  studyInstanceUid: STUDY,
  seriesInstanceUid: `${STUDY}.${number < 3 ? 1 : 2}`,
  sopInstanceUid: `${STUDY}.9.${number}`,
}));
const UIDS = OBJECTS.map(({ sopInstanceUid }) => sopInstanceUid);
const MOVE_TITLE = 'SONOGATE';

let orthanc: Orthanc;
/** Receives the objects of a C-MOVE, which the archive sends over associations that it opens. */
let moved: Listener;
let arrived: string[] = [];
let refused = new Set<string>();

const storage: StorageService = {
  async open({ sopInstanceUid }) {
    if (refused.has(sopInstanceUid)) throw new SonogateError('object_not_understood');
    return {
      async write() {},
      async commit() {
        arrived.push(sopInstanceUid);
      },
      async discard() {},
    };
  },
  async ended() {},
};

beforeAll(async () => {
  if (!ORTHANC_INSTALLED) return;
  const movePort = await freePort();
  const started = await startOrthanc({
    dicomWeb: ORTHANC_DICOMWEB_INSTALLED,
    settings: { DicomModalities: { sonogate: [MOVE_TITLE, '127.0.0.1', movePort] } },
  });
  if (!started) throw new Error('Orthanc did not start');
  orthanc = started;
  moved = await listen({
    host: '127.0.0.1',
    port: movePort,
    aeTitle: MOVE_TITLE,
    maxPduBytes: 131_072,
    maxAssociations: 4,
    offer: () => ({ preferred: [EXPLICIT_VR_LITTLE_ENDIAN], others: [] }),
    admit: () => ({ idleTimeoutSeconds: 30 }),
    storage,
    logger: silentLogger,
  });
  const other = { ...PATIENT, patientId: 'OTHER', studyInstanceUid: OTHER_STUDY };
  for (const object of [...OBJECTS, { ...other, sopInstanceUid: `${OTHER_STUDY}.9.1` }]) {
    expect(await sendBuffer(nodeAt(orthanc.dicomPort), dicomFile(object))).toMatchObject({
      outcome: 'stored',
    });
  }
}, 60_000);
afterAll(async () => {
  await moved?.close(0);
  await orthanc?.stop();
});
beforeEach(() => {
  arrived = [];
  refused = new Set();
});

const nodeAt = (port: number) => ({
  host: '127.0.0.1',
  port,
  aeTitle: 'ORTHANC',
  callingAeTitle: MOVE_TITLE,
  timeoutSeconds: 20,
});
const byDimse = (retrieve: 'c-get' | 'c-move') => (port: number) =>
  dimseArchive({ name: 'pacs', node: nodeAt(port), retrieve, moveTo: MOVE_TITLE }, silentLogger);
const byDicomweb = (port: number) => {
  const settings = { baseUrl: `http://127.0.0.1:${port}/dicom-web`, timeoutSeconds: 20 };
  const access = httpAccess(new ClientCertificates())({
    ...settings,
    authorization: { type: 'none' },
  });
  return dicomwebArchive({ name: 'pacs', ...settings }, access, MOVE_TITLE);
};
const dicomPort = () => orthanc.dicomPort;
const httpPort = () => Number(new URL(orthanc.url).port);

describe.each([
  ['C-FIND and C-GET', ORTHANC_INSTALLED, byDimse('c-get'), dicomPort],
  ['C-FIND and C-MOVE', ORTHANC_INSTALLED, byDimse('c-move'), dicomPort],
  ['QIDO-RS and WADO-RS', ORTHANC_DICOMWEB_INSTALLED, byDicomweb, httpPort],
] as const)('an archive by %s', (_name, isInstalled, open, port) => {
  let archive: Archive;
  beforeAll(() => {
    if (isInstalled) archive = open(port());
  });
  const retrieve = async (uids: readonly string[] | 'whole') => {
    const there = await archive.objects(STUDY);
    const objects = there.filter(
      ({ sopInstanceUid }) => uids === 'whole' || uids.includes(sopInstanceUid),
    );
    const wanted = { studyInstanceUid: STUDY, objects, whole: uids === 'whole', source: 'pacs' };
    return archive.retrieve({ ...wanted, into: storage });
  };

  describe.skipIf(!isInstalled)('conforms', () => {
    test('finds the studies of a patient, with the values that identify the patient', async () => {
      const found = await archive.studies({ patientId: 'CONFORM' }, { limit: 10 });
      expect(found).toMatchObject([
        {
          studyInstanceUid: STUDY,
          patientId: 'CONFORM',
          birthDate: '19900405',
          sex: 'F',
          studyDate: '20260102',
        },
      ]);
    });

    test.each([
      [{ studyInstanceUid: STUDY }, 1],
      [{ studyDate: '20260101-20260131' }, 2],
      [{ studyDate: '20270101-20270131' }, 0],
      [{ patientId: 'CONFORM', studyDate: '20260102' }, 1],
    ])('finds, for the keys %j, every study that matches all of them: %i', async (keys, count) => {
      expect(await archive.studies(keys, { limit: 10 })).toHaveLength(count);
    });

    test('returns no more studies than the limit', async () => {
      expect(await archive.studies({ studyDate: '20260102' }, { limit: 1 })).toHaveLength(1);
    });

    test('lists every object of a study, with its series', async () => {
      const objects = await archive.objects(STUDY);
      expect(objects.map(({ sopInstanceUid }) => sopInstanceUid).sort()).toEqual(UIDS);
      expect(new Set(objects.map(({ seriesInstanceUid }) => seriesInstanceUid)).size).toBe(2);
    });

    test('lists nothing for a study that it does not have', async () => {
      expect(await archive.objects(MISSING_STUDY)).toEqual([]);
    });

    test('retrieves a whole study', async () => {
      expect(await retrieve('whole')).toMatchObject({ completed: 3, failed: 0 });
      expect(arrived.sort()).toEqual(UIDS);
    });

    test('retrieves only the requested objects', async () => {
      const named = UIDS.slice(1);
      expect(await retrieve(named)).toMatchObject({ completed: 2, failed: 0 });
      expect(arrived.sort()).toEqual(named);
    });

    test('counts an object that cannot be stored as failed, and stores the others', async () => {
      refused = new Set(UIDS.slice(0, 1));
      const { completed, failed } = await retrieve('whole').catch((error: unknown) => {
        expect(error).toBeInstanceOf(SonogateError);
        return { completed: arrived.length, failed: 1 };
      });
      expect([completed, failed]).toEqual([2, 1]);
      expect(arrived.sort()).toEqual(UIDS.slice(1));
    });

    test('rejects without waiting when it is canceled', async () => {
      const signal = AbortSignal.abort();
      await expect(
        archive.studies({ patientId: 'CONFORM' }, { limit: 1, signal }),
      ).rejects.toBeInstanceOf(SonogateError);
    });

    test('rejects with `peer_unreachable` if it cannot be reached', async () => {
      const gone = open(await freePort());
      await expect(gone.studies({ patientId: 'A' }, { limit: 1 })).rejects.toMatchObject({
        code: 'peer_unreachable',
      });
    });
  });
});
