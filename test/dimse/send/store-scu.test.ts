import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { loadConfig } from '../../../config/load.ts';
import { AssociationPool } from '../../../dimse/send/association-pool.ts';
import {
  cStoreTransport,
  outgoingBuffer,
  sendObjects,
  sendOutcomeOf,
} from '../../../dimse/send/store-scu.ts';
import { ClientCertificates } from '../../../src/platform/tls/client-files.ts';
import { dicomFile } from '../dicom-file.ts';
import { piece, type RawPacs, startRawPacs, storeResponse } from '../network/raw-pacs.ts';

const toClose: RawPacs[] = [];
afterEach(() => {
  for (const pacs of toClose.splice(0)) pacs.close();
});

/** Returns the outcome that the outbox receives for an object answered with `status`. */
async function outcomeOfStatus(status: number) {
  const pacs = await startRawPacs((socket) => {
    socket.write(piece(storeResponse({ status }), { last: true }));
    // These bytes are the release request, which the peer does not answer.
    socket.once('data', () => socket.destroy());
  });
  toClose.push(pacs);
  const node = { host: '127.0.0.1', port: pacs.port, aeTitle: 'PACS', callingAeTitle: 'SONOGATE' };
  const object = outgoingBuffer(dicomFile({ sopInstanceUid: '1.2.3' }));
  const results = await sendObjects({ ...node, timeoutSeconds: 20 }, [[object]]);
  return sendOutcomeOf(results, { commits: false });
}

test.each([
  [0x0000, 'status 0000H'],
  [0x0001, 'status 0001H'],
  [0x0107, 'status 0107H'],
  [0x0116, 'status 0116H'],
  [0xb000, 'status B000H'],
  [0xbfff, 'status BFFFH'],
  [0x0111, 'status 0111H (the peer has the object already)'],
])('status %i means that the peer has the object', async (status, detail) => {
  expect(await outcomeOfStatus(status)).toMatchObject({ outcome: 'delivered', detail });
});

test.each([
  [0xa6ff, 'peer_refused_object', 'permanent'],
  [0xa700, 'peer_out_of_resources', 'transient'],
  [0xa7ff, 'peer_out_of_resources', 'transient'],
  [0xa800, 'peer_refused_object', 'permanent'],
  [0xa900, 'peer_refused_object', 'permanent'],
  [0xc000, 'peer_refused_object', 'permanent'],
  [0x010f, 'peer_refused_object', 'permanent'],
  [0x0110, 'peer_processing_failure', 'transient'],
  [0x0112, 'peer_refused_object', 'permanent'],
  [0x0122, 'peer_refused_object', 'permanent'],
])('status %i is the failure %s, which is %s', async (status, code, failure) => {
  expect(await outcomeOfStatus(status)).toMatchObject({ outcome: 'failed', code, failure });
});

test('the probe of a silent PACS ends as soon as the gateway stops', async () => {
  const silent = createServer(() => {}).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const { destinations } = loadConfig(
    {},
    {
      destinations: [{ type: 'dicom', name: 'pacs', host: '127.0.0.1', port, aeTitle: 'PACS' }],
    },
  );
  const [pacs] = destinations;
  if (pacs?.type !== 'dicom') throw new Error('the destination is not a PACS');
  const began = performance.now();
  const transport = cStoreTransport(pacs, 'SONOGATE', {
    associations: new AssociationPool(0),
    certificates: new ClientCertificates(),
  });
  expect(await transport.probe?.(AbortSignal.timeout(200))).toBe('peer_unreachable');
  expect(performance.now() - began).toBeLessThan(5000);
  silent.close();
}, 60_000);
