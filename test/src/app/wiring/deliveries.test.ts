import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadConfig } from '../../../../config/load.ts';
import { NO_TRACING } from '../../../../src/app/monitoring/tracing.ts';
import { startDeliveries } from '../../../../src/app/wiring/deliveries.ts';
import { createAuditWriter } from '../../../../src/core/audit/audit.ts';
import { createRefusalAudit } from '../../../../src/core/audit/refusals.ts';
import { createReceivedObjects } from '../../../../src/core/files/received-objects.ts';
import { silentLogger as logger } from '../../../../src/platform/logging/logger.ts';
import { createOutboundClient } from '../../../../src/platform/outbound/client.ts';
import { createUrlGuard } from '../../../../src/platform/outbound/url-guard.ts';
import { ClientCertificates } from '../../../../src/platform/tls/client-files.ts';
import { freePort } from '../../../peers/free-port.ts';
import { openSite, type Site } from '../../core/requests/site.ts';

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site.close());

test('the deadline of a commitment is set by the clock of the site, since any host may check it', async () => {
  const { database, blobs, core } = site;
  const { dataDir } = site.config;
  const port = await freePort();
  const pacs = { type: 'dicom', name: 'pacs', host: '127.0.0.1', port, aeTitle: 'PACS' };
  const config = loadConfig({}, { dataDir, destinations: [{ ...pacs, storageCommitment: true }] });
  await database.query(
    `WITH made AS (INSERT INTO deliveries (id, kind, destination, object, state, give_up_at)
       VALUES ('dlv_1', 'forward', 'pacs', 'o', 'delivered', now()) RETURNING id)
     INSERT INTO delivered_objects (delivery_id, destination, sop_class_uid, sop_instance_uid)
     SELECT id, 'pacs', '1.2', '1.3' FROM made`,
  );
  const clockOfSite = new Date('2040-01-01T12:00:00Z');
  const write = createAuditWriter(database);
  const outbound = createOutboundClient(createUrlGuard(config.outbound));
  const deliveries = await startDeliveries(config, {
    ...{ database, core, outbound, logger },
    objects: createReceivedObjects(dataDir, blobs),
    audit: {
      write,
      refusals: createRefusalAudit({ writeAudit: write, logger }),
      lastEntryAt: null,
      stop: async () => {},
    },
    certificates: new ClientCertificates(),
    traced: NO_TRACING.traced,
    now: () => clockOfSite,
  });
  const askedAt = async () => {
    const { rows } = await database.query<{ asked_at: Date | null }>(
      'SELECT asked_at FROM delivered_objects',
    );
    return rows[0]?.asked_at;
  };
  try {
    await expect.poll(askedAt).toEqual(clockOfSite);
  } finally {
    await deliveries.stop();
    await outbound.close();
  }
});
