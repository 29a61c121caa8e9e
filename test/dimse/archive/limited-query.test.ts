import type { Socket } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { findStudies, openQuery } from '../../../dimse/archive/query.ts';
import { COMMAND, encodeCommandSet, RESPONSE_BIT } from '../../../dimse/network/message.ts';
import { encodeDataSet } from '../../../pipelines/dicom/data-set.ts';
import { EXPLICIT_VR_LITTLE_ENDIAN } from '../../../pipelines/dicom/transfer-syntaxes.ts';
import { piece, type RawPacs, startRawPacs } from '../network/raw-pacs.ts';

const PENDING = 0xff00;
const CANCELED = 0xfe00;
/** How long we wait for an archive that does not react to C-CANCEL. */
const PATIENCE_MS = 5000;

let pacs: RawPacs;
/** Aborted when a query has taken too long. */
let limit: AbortController;
beforeEach(() => {
  limit = new AbortController();
  vi.spyOn(AbortSignal, 'timeout').mockReturnValue(limit.signal);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  pacs.close();
});

const response = (status: number, hasDataSet: boolean) =>
  piece(
    encodeCommandSet({
      commandField: COMMAND.cFind | RESPONSE_BIT,
      hasDataSet,
      messageIdBeingRespondedTo: 1,
      status,
    }),
    { last: true },
  );

function match(number: number): Buffer {
  const keys = { QueryRetrieveLevel: 'STUDY', StudyInstanceUID: `1.2.${number}` };
  const dataSet = encodeDataSet(keys, EXPLICIT_VR_LITTLE_ENDIAN);
  return Buffer.concat([response(PENDING, true), piece(dataSet, { command: false, last: true })]);
}

/** Starts an archive that returns three matches, and calls `onCancel` when it is asked to stop. */
async function archive(onCancel: (socket: Socket) => void): Promise<void> {
  pacs = await startRawPacs((socket) => {
    socket.write(Buffer.concat([1, 2, 3].map(match)));
    const cancelField = Buffer.from([COMMAND.cCancel & 0xff, COMMAND.cCancel >> 8]);
    socket.on('data', (bytes) => {
      if (bytes.includes(cancelField)) onCancel(socket);
    });
  });
}

async function firstTwo(): Promise<string[]> {
  const query = await openQuery({
    host: '127.0.0.1',
    port: pacs.port,
    aeTitle: 'PACS',
    callingAeTitle: 'SONOGATE',
    timeoutSeconds: 30,
  });
  const found = await findStudies(query, { patientId: 'P' }, 2);
  await query.release();
  return found.map(({ studyInstanceUid }) => studyInstanceUid);
}

test('has all wanted matches although the archive ignores the C-CANCEL', async () => {
  await archive(() => vi.advanceTimersByTime(PATIENCE_MS));
  expect(await firstTwo()).toEqual(['1.2.1', '1.2.2']);
});

test('has all wanted matches although the archive obeys the C-CANCEL after the time limit', async () => {
  await archive((socket) => {
    limit.abort();
    socket.write(response(CANCELED, false));
  });
  expect(await firstTwo()).toEqual(['1.2.1', '1.2.2']);
});

test('fails if the archive takes too long and has not found enough', async () => {
  pacs = await startRawPacs((socket) => {
    socket.write(match(1));
    socket.on('data', () => socket.write(response(CANCELED, false)));
    limit.abort();
  });
  await expect(firstTwo()).rejects.toMatchObject({
    code: 'peer_unreachable',
    detail: 'The query took too long.',
  });
});
