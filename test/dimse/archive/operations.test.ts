import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { loadConfig } from '../../../config/load.ts';
import { createArchiveOperations } from '../../../dimse/archive/operations.ts';
import { httpAccess } from '../../../fhir/client/authorization.ts';
import type { Database } from '../../../src/platform/database/port.ts';
import { silentLogger as logger } from '../../../src/platform/logging/logger.ts';
import { ClientCertificates } from '../../../src/platform/tls/client-files.ts';

const uid = (value: string) => ({ vr: 'UI', Value: [value] });

test('the objects of many studies are listed with few queries at the same time', async () => {
  let open = 0;
  let most = 0;
  const server = createServer(async (call, answer) => {
    answer.setHeader('Content-Type', 'application/dicom+json');
    const study = /^\/studies\/([\d.]+)\/instances/.exec(call.url ?? '')?.[1];
    if (study === undefined) {
      const studies = Array.from({ length: 20 }, (_, n) => ({ '0020000D': uid(`1.2.${n}`) }));
      answer.end(JSON.stringify(studies));
      return;
    }
    open += 1;
    most = Math.max(most, open);
    await sleep(50);
    open -= 1;
    answer.end(JSON.stringify([{ '00080018': uid(`${study}.1`), '0020000E': uid('1.9') }]));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const config = loadConfig({}, { archives: [{ type: 'dicomweb', name: 'pacs', baseUrl }] });
  const archives = createArchiveOperations(config, {
    database: {} as Database,
    access: httpAccess(new ClientCertificates()),
    certificates: new ClientCertificates(),
    writeAudit: async () => {},
    logger,
  });
  const found = await archives.find({ from: 'pacs', keys: {}, limit: 100, objects: true });
  server.close();
  expect(found.map(({ listed }) => listed?.[0]?.sopInstanceUid)).toEqual(
    Array.from({ length: 20 }, (_, n) => `1.2.${n}.1`),
  );
  expect(most).toBeLessThanOrEqual(4);
});
