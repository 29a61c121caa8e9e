import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadConfig } from '../../config/load.ts';
import type { DicomDestination } from '../../config/schema.ts';
import { requestCommitments } from '../../dimse/services/commitment-scu.ts';
import { silentLogger } from '../../src/platform/logging/logger.ts';
import { ClientCertificates } from '../../src/platform/tls/client-files.ts';
import { openSite, type Site } from '../dimse/site.ts';
import { freePort } from './free-port.ts';
import { PYNETDICOM_INSTALLED, type PynetdicomPeer, startPynetdicom } from './pynetdicom.ts';

const CLASS = '1.2.840.10008.5.1.4.1.1.6.1';

describe.skipIf(!PYNETDICOM_INSTALLED)(
  'a PACS that reports over the association that requested the commitment',
  () => {
    let site: Site;
    let pacs: PynetdicomPeer;
    let destination: DicomDestination;

    beforeAll(async () => {
      [site, pacs] = await Promise.all([openSite(), startPynetdicom()]);
      const port = await freePort();
      await pacs.ask({ action: 'listen', port, title: 'PACS', answersAtOnce: true });
      const set = { type: 'dicom', name: 'pacs', host: '127.0.0.1', port, aeTitle: 'PACS' };
      const { destinations } = loadConfig(
        {},
        { destinations: [{ ...set, storageCommitment: true }] },
      );
      [destination] = destinations as [DicomDestination];
      await site.database.query(
        `INSERT INTO deliveries (id, kind, destination, object, state, give_up_at)
       VALUES ('dlv_1', 'forward', 'pacs', 'o', 'delivered', now())`,
      );
      await site.database.query(
        `INSERT INTO delivered_objects (delivery_id, destination, sop_class_uid, sop_instance_uid)
       VALUES ('dlv_1', 'pacs', '${CLASS}', '1.2.840.94.1')`,
      );
    });
    afterAll(async () => {
      await pacs?.stop();
      await site?.close();
    });

    test('has its report accepted: the delivery is committed before the association ends', async () => {
      await requestCommitments({
        database: site.database,
        destinations: [destination],
        aeTitle: 'SONOGATE',
        certificates: new ClientCertificates(),
        logger: silentLogger,
        now: () => new Date(),
      });
      const { rows } = await site.database.query<{ committed: boolean }>(
        'SELECT committed_at IS NOT NULL AS committed FROM deliveries',
      );
      expect(rows).toEqual([{ committed: true }]);
    });
  },
);
