import { createHash } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Config } from '../../config/schema.ts';
import { operationsOn } from '../../src/app/wiring/operations.ts';
import { DEFAULT_ACCOUNT_ID } from '../../src/core/accounts/keys.ts';
import { openBlobFolder } from '../../src/core/files/blob-folder.ts';
import { createReceivedObjects } from '../../src/core/files/received-objects.ts';
import { claimDelivery } from '../../src/core/outbox/outbox.ts';
import { createRequestCore } from '../../src/core/requests/core.ts';
import { newPlace } from '../../src/core/studies/intake-folder.ts';
import { recordArrivals } from '../../src/core/studies/record-arrival.ts';
import { fixedRules } from '../../src/core/studies/rules/rules-source.ts';
import type { ReceivedInstance } from '../../src/core/studies/study-store.ts';
import { listDeliveries } from '../../src/doors/console/deliveries.ts';
import { createShowSubject } from '../../src/doors/console/identity.ts';
import { studyPage } from '../../src/doors/console/study-page.ts';
import { listKeys, readRows } from '../../src/doors/console/worklist.ts';
import type { PooledDatabase } from '../../src/platform/database/pooled.ts';
import { silentLogger } from '../../src/platform/logging/logger.ts';
import { ClientCertificates } from '../../src/platform/tls/client-files.ts';
import { dicomFile } from '../dimse/dicom-file.ts';
import { numberText } from './history.ts';

/**
 * A page shows at most this many studies, namely the newest. Older studies differ from these only
 * in age.
 */
const SHOWN = 100;

/**
 * Returns the steps of a hospital's working day, by name, on a database filled by `fillHistory`.
 * Each step receives the number of its round, so that no two rounds request the same data.
 */
export async function dailySteps(database: PooledDatabase, config: Config, objects: number) {
  const blobs = openBlobFolder(join(config.dataDir, 'files'));
  const received = createReceivedObjects(config.dataDir, blobs);
  const queue = { add: async () => {}, remove: async () => {} };
  const core = await createRequestCore({
    ...{ database, queue, blobs, config, logger: silentLogger },
    endpoints: [],
  });
  const operations = operationsOn({
    ...{ database, objects: received, config, rules: fixedRules(config.routing) },
    certificates: new ClientCertificates(),
    logger: silentLogger,
    now: () => new Date(),
  });
  const showSubject = createShowSubject(Buffer.alloc(32));
  const pages = { database, operations, config, core, showSubject };
  const account = { accountId: DEFAULT_ACCOUNT_ID, limit: 50 };
  const worklist = async (filter: Partial<Parameters<typeof listKeys>[2]>) => {
    const { critical, keys } = await listKeys(database, 'administrator', { limit: 50, ...filter });
    return readRows(database, [...critical, ...keys]);
  };
  const steps: Record<string, (round: number) => Promise<unknown>> = {
    [`${objects} objects of a new study recorded`]: (round) =>
      database.transaction((tx) => recordArrivals(tx, arriving(round, objects))),
    'worklist, first page': () => worklist({}),
    'worklist, search by patient': (round) =>
      worklist({ q: `N${numberText(1 + (round % SHOWN))}` }),
    'page of a study': async (round) => {
      const [row] = await readRows(database, [studyId(1 + (round % SHOWN))]);
      if (!row) throw new Error('the worklist lacks the study');
      return studyPage(row, 'administrator', pages);
    },
    explain: (round) => operations.studies.explain(studyId(1 + (round % SHOWN))),
    'history, first page': () => core.history(account),
    'history, one status without a hit': () => core.history({ ...account, status: ['failed'] }),
    'history since the last call': () => core.history({ ...account, since: new Date() }),
    'deliveries, first page': () => listDeliveries('administrator', { limit: 50 }, pages),
    'claim of a delivery': () => claimDelivery(database, ['dicom'], [], 300),
  };
  return {
    steps,
    received,
    async close() {
      await core.close();
      blobs.close();
    },
  };
}

/** Writes small object files for these studies. `explain` and retention need files. */
export async function writeFilesOf(
  dataDir: string,
  studies: readonly number[],
  objects: number,
): Promise<void> {
  await mkdir(join(dataDir, 'intake/cart/history'), { recursive: true });
  for (const n of studies) {
    for (let o = 1; o <= objects; o += 1) {
      const studyInstanceUid = `1.2.840.99.${n}`;
      const uids = { studyInstanceUid, sopInstanceUid: `${studyInstanceUid}.${o}` };
      const object = dicomFile({ ...uids, pixels: Buffer.alloc(4096) });
      await writeFile(join(dataDir, `intake/cart/history/${n}-${o}.dcm`), object);
    }
  }
}

function studyId(n: number): string {
  const digits = n.toString(16).padStart(32, '0');
  return digits.replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, '$1-$2-$3-$4-$5');
}

function arriving(round: number, objects: number): ReceivedInstance[] {
  const receivedAt = new Date();
  const study = `1.2.840.98.${round}.${Date.now()}`;
  return Array.from({ length: objects }, (_, n) => {
    const path = newPlace('cart', receivedAt).complete;
    return {
      path,
      bytes: 20_000,
      fileSha256: createHash('sha256').update(path).digest('hex'),
      dataSetSha256: createHash('sha256').update(`data set of ${path}`).digest('hex'),
      contentSha256: null,
      transferSyntax: '1.2.840.10008.1.2.1',
      header: {
        sopClassUid: '1.2.840.10008.5.1.4.1.1.6.1',
        sopInstanceUid: `${study}.${n}`,
        studyInstanceUid: study,
        seriesInstanceUid: `${study}.0`,
        modality: 'US',
        procedureCodes: [],
        identity: { PatientID: `P${round}` },
      } as unknown as ReceivedInstance['header'],
      source: 'cart',
      callingAeTitle: 'CART',
      calledAeTitle: 'SONOGATE',
      receivedAt,
      completeAfter: receivedAt,
      rerunAlways: false,
    };
  });
}
