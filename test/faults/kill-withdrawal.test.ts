import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sendFiles } from '../../dimse/send/store-scu.ts';
import { STORAGE_CLASS } from '../../pipelines/dicom/sop-classes.ts';
import { type Pacs, type StoredObject, startPacs } from '../../src/app/simulate/pacs.ts';
import { commandsOfGateway } from '../../src/operations/socket.ts';
import { type PhantomFiles, phantomFiles } from '../gateway/phantom.ts';
import { serve, siteFile } from '../gateway/serve.ts';
import { siteSettings, waitUntil } from '../gateway/site.ts';
import { freshDataDir } from '../peers/embedded.ts';
import { freePort } from '../peers/free-port.ts';

/**
 * A result is withdrawn while its PACS is away, and the whole gateway is killed before it can send
 * the withdrawal.
 */
describe('kill -9 between a withdrawal and its deliveries', () => {
  let dataDir: string;
  let study: PhantomFiles;
  let port: number;
  const received: StoredObject[] = [];

  beforeAll(async () => {
    dataDir = await freshDataDir();
    study = await phantomFiles('kill withdrawal');
    port = await freePort();
  });
  afterAll(async () => {
    await rm(dataDir, { recursive: true, force: true });
    await rm(study.folder, { recursive: true, force: true });
  });

  const pacs = (): Promise<Pacs> =>
    startPacs({
      folder: join(study.folder, 'pacs'),
      host: '127.0.0.1',
      port,
      onObject: (object) => received.push(object),
    });

  it('loses nothing: the PACS gets the rejection note after the restart', {
    timeout: 300_000,
  }, async () => {
    const config = await siteFile(
      siteSettings(
        { dataDir },
        {
          destinations: [
            {
              type: 'dicom',
              name: 'pacs',
              host: '127.0.0.1',
              port,
              aeTitle: 'PACS',
              rejectionNotes: true,
              associationIdleSeconds: 0,
            },
          ],
          routing: {
            rules: [
              {
                name: 'all',
                when: { modality: 'US' },
                run: { endpoint: 'us/obstetric/interpret', options: {} },
                deliverTo: ['pacs'],
              },
            ],
          },
        },
      ),
    );
    const first = await serve(config);
    let archive = await pacs();
    const node = { host: '127.0.0.1', aeTitle: 'SONOGATE', callingAeTitle: 'CART' };
    await sendFiles({ ...node, port: first.dicomPort, timeoutSeconds: 30 }, study.paths);
    const states = async () =>
      (await commandsOfGateway(dataDir)('deliveries.list', {})).map(
        ({ kind, state }) => `${kind} ${state}`,
      );
    await waitUntil('the deliveries', async () => {
      const all = await states();
      return all.length > 0 && all.every((one) => one === 'dicom delivered') ? all : null;
    });
    await archive.close();
    const { requests } = await commandsOfGateway(dataDir)('studies.explain', {
      study: study.studyUid,
    });
    const request = requests[0]?.request_id ?? '';
    const withdrawn = await commandsOfGateway(dataDir)('results.withdraw', {
      request,
      reason: 'wrong-patient',
      person: 'ana',
      text: null,
    });
    expect(withdrawn.receivers).toEqual([{ destination: 'pacs', state: 'pending' }]);
    await first.stop('SIGKILL');

    archive = await pacs();
    const second = await serve(config);
    await waitUntil('the withdrawal', async () =>
      (await states()).includes('dicom-withdrawal delivered') ? true : null,
    );
    await second.stop('SIGTERM');
    await archive.close();
    const notes = received.filter(({ sopClassUid }) => sopClassUid === STORAGE_CLASS.keyObjects);
    expect(new Set(notes.map(({ sopInstanceUid }) => sopInstanceUid)).size).toBe(1);
    expect(received.at(-1)?.sopClassUid).toBe(STORAGE_CLASS.keyObjects);
  });
});
