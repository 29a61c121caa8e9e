import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import type { DicomIdentity } from '../../../../pipelines/dicom/subject.ts';
import { type Result, resultSchema } from '../../../../pipelines/result/envelope.ts';
import type { ReceivedRevision } from '../../../../src/core/outbox/deliveries.ts';
import {
  createHl7v2Deliverer,
  createHl7v2Withdrawer,
} from '../../../../src/doors/hl7v2/deliver.ts';
import { sampleResult, sampleSubject } from '../../../fhir/sample.ts';

const FIRST = 'req_1';
const SECOND = 'req_2';
const ENDLESS = new AbortController().signal;

const signed = (result: Result, replaces?: { request: string; revision: number }): Result =>
  resultSchema.parse({
    ...result,
    draft: false,
    verification: {
      kind: 'verified',
      revision: 1,
      replaces,
      signatures: [
        {
          observer: 'Dr Ada Reader',
          organization: 'Ward',
          at: '2026-03-04T11:30:00.000Z',
          statement: null,
        },
      ],
    },
  });

describe('the result of a study to which images were added', () => {
  const closing: (() => void)[] = [];
  afterEach(() => {
    for (const close of closing.splice(0)) close();
  });

  const draft = sampleResult();
  const smaller = { ...draft, measurements: draft.measurements.filter(({ id }) => id !== 'ac') };
  const results: Record<string, Result[]> = {
    [FIRST]: [draft, signed(draft)],
    [SECOND]: [smaller, signed(smaller, { request: FIRST, revision: 1 })],
  };

  /** Sends a revision to a receiver that has the others; returns the outcome and the message. */
  async function send(
    requestId: string,
    resultRevision: number | 'withdrawal',
    has: [string, number][],
    identity: Partial<DicomIdentity> = {},
  ) {
    let message = '';
    const server = createServer((socket) => {
      socket.on('data', (bytes) => {
        message += bytes.toString();
        const control = message.split('|')[9];
        if (message.endsWith('\x1c\r')) {
          socket.write(`\x0bMSH|^~\\&|HIS\rMSA|AA|${control}\r\x1c\r`);
        }
      });
    }).listen(0, '127.0.0.1');
    closing.push(() => server.close());
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const deps: Parameters<typeof createHl7v2Deliverer>[0] = {
      destinations: [
        {
          ...{ type: 'hl7v2', name: 'his', release: 'at-once', host: '127.0.0.1', port },
          ...{ sendingApplication: 'SONOGATE', processingId: 'P' },
          ...{ characterSet: 'UNICODE UTF-8' },
          ...{ pdf: false, timeoutSeconds: 20 },
        },
      ],
      results: { result: async (id, revision = 0) => results[id]?.[revision] ?? null },
      subjectOf: async (id) => {
        const subject = sampleSubject(id);
        return { ...subject, identity: subject.identity && { ...subject.identity, ...identity } };
      },
      signatureOver: async () => null,
      earlierRequests: async (id) => (id === SECOND ? [FIRST] : []),
      laterRequests: async (id) => (id === FIRST ? [SECOND] : []),
      receivedRevisions: async (_, requests): Promise<ReceivedRevision[]> =>
        has
          .filter(([request]) => requests.includes(request))
          .map(([request, revision]) => ({ request, revision, confirmed: true })),
      reportPdf: async () => null,
      dial: async (to) => connect(to),
    };
    const delivery = { id: 'dlv_1', requestId, destination: 'his', attempt: 1 };
    const withdrawal = {
      ...({ at: '2026-11-30T06:00:00.000Z', by: 'Dr Ada Reader' } as const),
      ...({ reason: 'wrong-patient', text: null } as const),
    };
    const outcome =
      resultRevision === 'withdrawal'
        ? await createHl7v2Withdrawer({ ...deps, withdrawalOf: async () => withdrawal }).send(
            { ...delivery, kind: 'hl7v2-withdrawal', object: 'withdrawal', resultRevision: 0 },
            ENDLESS,
          )
        : await createHl7v2Deliverer(deps).send(
            { ...delivery, kind: 'hl7v2', object: 'oru-r01', resultRevision },
            ENDLESS,
          );
    return { outcome, segments: message.split('\r').map((line) => line.split('|')) };
  }

  test.each(['', ' '])('is not sent without a patient ID (%j)', async (PatientID) => {
    const { outcome, segments } = await send(FIRST, 0, [], { PatientID });
    expect(outcome).toMatchObject({ failure: 'permanent', code: 'patient_id_missing' });
    expect(segments).toEqual([['']]);
  });

  test('corrects the signed one under the same filler order number, and withdraws its values', async () => {
    const { segments } = await send(SECOND, 1, [[FIRST, 1]]);
    const obr = segments.find(([name]) => name === 'OBR');
    expect(obr?.[3]).toBe(`${FIRST}^SONOGATE`);
    expect(obr?.[25]).toBe('C');
    const status = (id: string) => segments.find((fields) => fields[4] === id)?.[11];
    expect(status('hc')).toBe('C');
    expect(status('ac')).toBe('W');
  });

  test.each<[string, [string, number][], boolean]>([
    ['is withdrawn if the receiver has it', [[FIRST, 0]], true],
    [
      'is withdrawn if it was signed after a later draft',
      [
        [FIRST, 1],
        [SECOND, 0],
      ],
      true,
    ],
    [
      'is not withdrawn if a later result has replaced it',
      [
        [SECOND, 0],
        [FIRST, 0],
      ],
      false,
    ],
    ['is not withdrawn if it never arrived', [], false],
  ])('%s', async (_, has, isSent) => {
    const { outcome, segments } = await send(FIRST, 'withdrawal', has);
    expect(outcome).toMatchObject({ outcome: 'delivered', ...(!isSent && { notSent: true }) });
    const statuses = segments.flatMap((fields) => (fields[0] === 'OBX' ? [fields[11]] : []));
    expect(new Set(statuses)).toEqual(new Set(isSent ? ['W'] : []));
  });

  test.each<[string, string, number, [string, number][], boolean]>([
    ['an earlier draft', FIRST, 0, [[SECOND, 0]], true],
    ['an earlier signed result, after a later one that is signed', FIRST, 1, [[SECOND, 1]], true],
    ['an earlier signed result, after a later draft', FIRST, 1, [[SECOND, 0]], false],
    ['a later draft', SECOND, 0, [[FIRST, 0]], false],
  ])('is not overwritten by %s', async (_, request, revision, has, isOutdated) => {
    const { outcome } = await send(request, revision, has);
    expect(outcome).toMatchObject({ outcome: 'delivered' });
    expect('notSent' in outcome && outcome.notSent === true).toBe(isOutdated);
  });
});
