import { rm } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sendFiles } from '../../dimse/send/store-scu.ts';
import { type Pacs, type StoredObject, startPacs } from '../../src/app/simulate/pacs.ts';
import { commandsOfGateway } from '../../src/operations/socket.ts';
import { type PhantomFiles, phantomFiles } from '../gateway/phantom.ts';
import { serve, siteFile } from '../gateway/serve.ts';
import { siteSettings, waitUntil } from '../gateway/site.ts';
import { freshDataDir } from '../peers/embedded.ts';

/**
 * The whole gateway, started as an operator starts it, is killed repeatedly while it processes one
 * study: during reception, while the pipeline works, and while results are sent.
 */
describe('kill -9 of the whole gateway', () => {
  let dataDir: string;
  let study: PhantomFiles;
  let config: string;
  let pacs: Pacs;
  const received: StoredObject[] = [];

  beforeAll(async () => {
    dataDir = await freshDataDir();
    study = await phantomFiles('kill');
    pacs = await startPacs({
      folder: study.folder,
      host: '127.0.0.1',
      port: 0,
      onObject: (object) => received.push(object),
    });
    config = await siteFile(
      siteSettings(
        { dataDir },
        {
          destinations: [
            { type: 'dicom', name: 'pacs', host: '127.0.0.1', port: pacs.port, aeTitle: 'PACS' },
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
  });

  afterAll(async () => {
    await pacs.close();
    await rm(dataDir, { recursive: true, force: true });
    await rm(study.folder, { recursive: true, force: true });
  });

  const explain = async () =>
    await commandsOfGateway(dataDir)('studies.explain', {
      study: study.studyUid,
    });

  it('loses no study, interprets it in one request, and delivers each object', {
    timeout: 300_000,
  }, async () => {
    const first = await serve(config);
    const sent = await sendFiles(
      {
        host: '127.0.0.1',
        port: first.dicomPort,
        aeTitle: 'SONOGATE',
        callingAeTitle: 'CART',
        timeoutSeconds: 30,
      },
      study.paths,
    );
    expect(sent.map(({ outcome }) => outcome)).toEqual(study.paths.map(() => 'stored'));
    await first.stop('SIGKILL');

    const second = await serve(config);
    await waitUntil('the request', async () =>
      (await explain()).requests.length > 0 ? true : null,
    );
    await delay(500);
    await second.stop('SIGKILL');

    const third = await serve(config);
    await delay(3000);
    await third.stop('SIGKILL');

    const last = await serve(config);
    const delivered = await waitUntil('the deliveries', async () => {
      const rows = await commandsOfGateway(dataDir)('deliveries.list', {});
      return rows.length > 0 && rows.every(({ state }) => state === 'delivered') ? rows : null;
    });
    const told = await explain();
    await last.stop('SIGTERM');

    expect(told.objects).toHaveLength(study.paths.length);
    expect(told.requests).toHaveLength(1);
    expect(delivered.map(({ object }) => object).sort()).toEqual(['sr-tid1500', 'sr-tid5000']);
    // An object whose confirmation was lost is sent again, always as the same SOP instance.
    expect(new Set(received.map(({ sopInstanceUid }) => sopInstanceUid)).size).toBe(2);
  });
});
