import { afterEach, expect, test } from 'vitest';
import { getObjects } from '../../../dimse/archive/retrieve.ts';
import { COMMAND, encodeCommandSet, RESPONSE_BIT } from '../../../dimse/network/message.ts';
import { PDU } from '../../../dimse/network/pdu.ts';
import type { AssociationEnd, StorageService } from '../../../dimse/network/service-ports.ts';
import { silentLogger } from '../../../src/platform/logging/logger.ts';
import { piece, type RawPacs, startRawPacs } from '../network/raw-pacs.ts';

const SOME_FAILED = 0xb000;
const UNABLE = 0xc001;

/** An archive's final response on one association. */
interface Answer {
  completed: number;
  failed: number;
  status?: number;
  errorComment?: string;
}

const storage: StorageService = {
  open: () => Promise.reject(new Error('the archive only reports what it sent')),
  async ended(_peer, end) {
    ends.push(end);
  },
};
/** How the associations of the retrieval were recorded, in order. */
const ends: AssociationEnd[] = [];

let pacs: RawPacs;
afterEach(() => pacs.close());

/**
 * Retrieves three objects whose classes the archive did not state. They are requested over several
 * associations, because one cannot have the contexts of all classes.
 */
async function retrieve(answers: readonly Answer[], whole: boolean) {
  let associations = 0;
  ends.length = 0;
  pacs = await startRawPacs((socket) => {
    const { completed, failed, status, errorComment } = answers[associations] ?? {
      completed: 0,
      failed: 3,
    };
    associations += 1;
    socket.on('data', (bytes) => {
      if (bytes[0] === PDU.releaseRequest) socket.end();
    });
    const response = encodeCommandSet({
      commandField: COMMAND.cGet | RESPONSE_BIT,
      hasDataSet: false,
      messageIdBeingRespondedTo: 1,
      status: status ?? (failed > 0 ? SOME_FAILED : 0),
      ...(errorComment && { errorComment }),
      completedSubOperations: completed,
      failedSubOperations: failed,
      warningSubOperations: 0,
    });
    socket.write(piece(response, { last: true }));
  });
  const node = {
    host: '127.0.0.1',
    port: pacs.port,
    aeTitle: 'PACS',
    callingAeTitle: 'SONOGATE',
    timeoutSeconds: 5,
  };
  const objects = [1, 2, 3].map((number) => ({
    seriesInstanceUid: '1.2.1',
    sopInstanceUid: `1.2.1.${number}`,
    sopClassUid: '',
    modality: 'US',
  }));
  const wanted = { studyInstanceUid: '1.2', objects, whole, source: 'pacs', into: storage };
  const retrieved = await getObjects(node, wanted, { logger: silentLogger });
  expect(associations).toBeGreaterThan(1);
  return retrieved;
}

test.each([true, false])(
  'an object that was received over one association has not failed on the others (whole: %s)',
  async (whole) => {
    const first = { completed: 1, failed: 2 };
    const all = [first, { completed: 2, failed: 1 }];
    expect(await retrieve(all, whole)).toEqual({ completed: 3, failed: 0, detail: '' });
    pacs.close();
    expect(await retrieve([first], whole)).toEqual({ completed: 1, failed: 2, detail: '' });
  },
);

test.each([
  ['index is damaged', 'C-GET status C001H: index is damaged'],
  [undefined, 'C-GET status C001H'],
])(
  'a refusal on one association is reported although objects were received over another (%s)',
  async (errorComment, detail) => {
    const refusal = {
      completed: 0,
      failed: 3,
      status: UNABLE,
      ...(errorComment && { errorComment }),
    };
    const received = { completed: 1, failed: 2 };
    for (const answers of [
      [received, refusal],
      [refusal, received],
    ]) {
      expect(await retrieve(answers, true)).toEqual({ completed: 1, failed: 2, detail });
      pacs.close();
    }
  },
);

test('only the end of the last association shows that everything was sent', async () => {
  await retrieve([{ completed: 3, failed: 0 }], true);
  expect(ends.slice(0, -1).every((end) => end === 'aborted')).toBe(true);
  expect(ends.at(-1)).toBe('released');
});

test('a study does not count as complete because the archive refused to send its objects', async () => {
  const refusal = { completed: 0, failed: 3, status: UNABLE };
  await expect(retrieve([refusal, refusal], true)).rejects.toThrow();
  expect(ends).not.toContain('released');
});

test('the retrieval is refused if nothing was received over any association', async () => {
  const refusal = { completed: 0, failed: 3, status: UNABLE };
  await expect(retrieve([refusal, refusal], true)).rejects.toMatchObject({
    code: 'archive_refused_query',
  });
});
