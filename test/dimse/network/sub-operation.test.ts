import { afterEach, expect, test } from 'vitest';
import { CallingAssociation } from '../../../dimse/network/calling-association.ts';
import { type Listener, listen } from '../../../dimse/network/listener.ts';
import { COMMAND } from '../../../dimse/network/message.ts';
import { QUERY_RETRIEVE } from '../../../pipelines/dicom/sop-classes.ts';
import { IMPLICIT_VR_LITTLE_ENDIAN } from '../../../pipelines/dicom/transfer-syntaxes.ts';
import { silentLogger } from '../../../src/platform/logging/logger.ts';

const US_IMAGE = '1.2.840.10008.5.1.4.1.1.6.1';

let listener: Listener | null = null;
let association: CallingAssociation | null = null;
afterEach(async () => {
  association?.abort();
  await listener?.close(0);
});

test('C-GET aborts the association if an object can no longer be read while it is being sent', async () => {
  listener = await listen({
    host: '127.0.0.1',
    port: 0,
    aeTitle: 'SONOGATE',
    maxPduBytes: 32_768,
    maxAssociations: 4,
    offer: () => ({ preferred: [], others: [IMPLICIT_VR_LITTLE_ENDIAN] }),
    admit: () => ({ idleTimeoutSeconds: 30 }),
    storage: {
      open: () => Promise.reject(new Error('no object comes')),
      ended: async () => {},
    },
    async *query(_request, _peer, { store }) {
      const status = await store({
        sopClassUid: US_IMAGE,
        sopInstanceUid: '1.2.3',
        transferSyntax: IMPLICIT_VR_LITTLE_ENDIAN,
        bytes: 100,
        // biome-ignore lint/correctness/useYield: the first read of the disk fails.
        async *read() {
          throw new Error('EIO');
        },
      });
      yield { status: status ?? 0 };
    },
    logger: silentLogger,
  });
  association = await CallingAssociation.open(
    {
      host: '127.0.0.1',
      port: listener.port,
      aeTitle: 'SONOGATE',
      callingAeTitle: 'VIEWER',
      timeoutSeconds: 5,
    },
    [QUERY_RETRIEVE.studyRootGet, US_IMAGE].map((abstractSyntax, n) => ({
      id: 2 * n + 1,
      abstractSyntax,
      transferSyntaxes: [IMPLICIT_VR_LITTLE_ENDIAN],
    })),
    undefined,
    [{ sopClassUid: US_IMAGE, scu: false, scp: true }],
  );
  await association.sendCommand(1, {
    commandField: COMMAND.cGet,
    hasDataSet: true,
    affectedSopClassUid: QUERY_RETRIEVE.studyRootGet,
    priority: 0,
  });
  await association.sendDataSet(1, Buffer.alloc(8));
  expect(await association.nextPart()).toMatchObject({ command: { commandField: COMMAND.cStore } });
  await expect(association.nextPart()).rejects.toThrow('The peer released the association.');
});
