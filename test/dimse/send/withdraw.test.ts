import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DicomDestination } from '../../../config/schema.ts';
import { AssociationPool } from '../../../dimse/send/association-pool.ts';
import { createDicomDeliverer } from '../../../dimse/send/deliver.ts';
import { cStoreTransport } from '../../../dimse/send/store-scu.ts';
import { createDicomWithdrawer } from '../../../dimse/send/withdraw.ts';
import { dicomObjects } from '../../../pipelines/artifacts/dicom-objects.ts';
import type { Result } from '../../../pipelines/result/envelope.ts';
import type { RequestDelivery, StoredObject } from '../../../src/core/outbox/delivery.ts';
import type { SentDelivery } from '../../../src/core/outbox/withdrawals.ts';
import { ClientCertificates } from '../../../src/platform/tls/client-files.ts';
import { type Orthanc, startOrthanc } from '../../peers/orthanc.ts';
import { RESULT } from '../../pipelines/artifacts/example-result.ts';
import { SUBJECT } from '../../pipelines/artifacts/example-subject.ts';

const OBJECTS = ['sr-tid1500', 'sr-tid5000', 'seg', 'key-objects', 'presentation-state'] as const;
const WITHDRAWAL = {
  at: '2026-11-30T06:00:00.000Z',
  by: 'Dr Ada Reader',
  reason: 'wrong-patient',
  text: null,
} as const;

let orthanc: Orthanc | null;
beforeAll(async () => {
  orthanc = await startOrthanc();
});
afterAll(() => orthanc?.stop());

function deliverers(
  sent: readonly SentDelivery[],
  over: { result?: Result | null; rejectionNotes?: boolean } = {},
) {
  const { result = RESULT, rejectionNotes = true } = over;
  const destination: DicomDestination = {
    type: 'dicom',
    release: 'at-once',
    name: 'pacs',
    host: '127.0.0.1',
    port: orthanc?.dicomPort ?? 1,
    aeTitle: 'ORTHANC',
    objects: [...OBJECTS],
    measurementSopClass: 'auto',
    segmentation: 'binary',
    rejectionNotes,
    storageCommitment: false,
    timeoutSeconds: 20,
    associationIdleSeconds: 0,
  };
  const certificates = new ClientCertificates();
  const associations = new AssociationPool(0);
  const options = {
    destinations: [destination],
    transports: new Map([
      ['pacs', cStoreTransport(destination, 'SONOGATE', { associations, certificates })],
    ]),
    results: { result: async () => result, artifactPath: async () => null },
    subject: async () => SUBJECT,
    builders: dicomObjects([]),
  };
  return {
    deliver: createDicomDeliverer(options),
    withdraw: createDicomWithdrawer({
      ...options,
      withdrawalOf: async () => WITHDRAWAL,
      sentTo: async () => sent,
    }),
  };
}

const delivery = <Kind extends 'dicom' | 'dicom-withdrawal'>(
  kind: Kind,
  object: string,
): RequestDelivery & { kind: Kind } => ({
  id: `dlv_${object}`,
  requestId: SUBJECT.requestId,
  kind,
  destination: 'pacs',
  object,
  resultRevision: 0,
  attempt: 1,
});
const never = new AbortController().signal;

/** Sends every object of the result and returns what the PACS has stored. */
async function delivered(): Promise<SentDelivery[]> {
  const sent: SentDelivery[] = [];
  for (const object of OBJECTS) {
    const outcome = await deliverers([]).deliver.send(delivery('dicom', object), never);
    if (outcome.outcome !== 'delivered') throw new Error(outcome.detail);
    const stored: StoredObject[] = [...(outcome.objects ?? [])];
    sent.push({ object, resultRevision: 0, stored });
  }
  return sent;
}

test('Orthanc receives a note that rejects exactly the objects it has, each in its series', async ({
  skip,
}) => {
  if (!orthanc) return skip('Orthanc is not installed');
  const sent = await delivered();
  const before = await orthanc.instances();
  const { withdraw } = deliverers(sent);
  expect(await withdraw.send(delivery('dicom-withdrawal', 'withdrawal'), never)).toMatchObject({
    outcome: 'delivered',
    commits: false,
  });
  // A second attempt, after a lost response, leaves one note.
  await withdraw.send(delivery('dicom-withdrawal', 'withdrawal'), never);
  const held = await orthanc.instances();
  const notes = held.filter(({ SeriesDescription }) => SeriesDescription === 'Withdrawn result');
  expect(held).toHaveLength(before.length + 1);
  expect(notes).toMatchObject([
    {
      Modality: 'KO',
      ConceptNameCodeSequence: [{ CodeValue: '113037' }],
      StudyInstanceUID: before[0]?.StudyInstanceUID,
      ContentDate: expect.stringMatching(/^202611/),
    },
  ]);
  const [note = {}] = notes;
  const [evidence] = note.CurrentRequestedProcedureEvidenceSequence as [
    {
      ReferencedSeriesSequence: {
        SeriesInstanceUID: string;
        ReferencedSOPSequence: {
          ReferencedSOPInstanceUID: string;
          ReferencedSOPClassUID: string;
        }[];
      }[];
    },
  ];
  const rejected = evidence.ReferencedSeriesSequence.flatMap((series) =>
    series.ReferencedSOPSequence.map((sop) =>
      [series.SeriesInstanceUID, sop.ReferencedSOPClassUID, sop.ReferencedSOPInstanceUID].join(),
    ),
  );
  const stored = before.map(({ SeriesInstanceUID, SOPClassUID, SOPInstanceUID }) =>
    [SeriesInstanceUID, SOPClassUID, SOPInstanceUID].join(),
  );
  expect(rejected.toSorted()).toEqual(stored.toSorted());
});

test('an object whose response was lost is rejected too', async ({ skip }) => {
  if (!orthanc) return skip('Orthanc is not installed');
  await delivered();
  const sent = [{ object: 'sr-tid1500', resultRevision: 0, stored: null }];
  const { withdraw } = deliverers(sent);
  expect(await withdraw.send(delivery('dicom-withdrawal', 'withdrawal'), never)).toMatchObject({
    outcome: 'delivered',
    detail: expect.stringContaining('0000H'),
  });
});

test('a PACS without rejection notes must be cleaned by hand, which the delivery says', async () => {
  const sent = [{ object: 'sr-tid1500', resultRevision: 0, stored: null }];
  const { withdraw } = deliverers(sent, { rejectionNotes: false });
  expect(await withdraw.send(delivery('dicom-withdrawal', 'withdrawal'), never)).toMatchObject({
    outcome: 'failed',
    failure: 'permanent',
    code: 'withdrawal_by_hand',
  });
});

test('a PACS that has nothing needs nothing', async () => {
  const { withdraw } = deliverers([], { rejectionNotes: false });
  expect(await withdraw.send(delivery('dicom-withdrawal', 'withdrawal'), never)).toMatchObject({
    outcome: 'delivered',
    notSent: true,
  });
});

test('a result that was purged must be withdrawn by hand', async () => {
  const sent = [{ object: 'sr-tid1500', resultRevision: 0, stored: null }];
  const { withdraw } = deliverers(sent, { result: null });
  expect(await withdraw.send(delivery('dicom-withdrawal', 'withdrawal'), never)).toMatchObject({
    outcome: 'failed',
    failure: 'permanent',
    code: 'expired',
  });
});
