import { unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  COMMITMENT_EVENT,
  REQUEST_COMMITMENT,
  readCommitmentReport,
} from '../../../dimse/services/commitment-message.ts';
import { storageCommitmentService } from '../../../dimse/services/commitment-scp.ts';
import { referenceItems } from '../../../dimse/services/referenced-objects.ts';
import { decodeDataSet, encodeDataSet, itemsOf } from '../../../pipelines/dicom/data-set.ts';
import {
  STORAGE_COMMITMENT,
  STORAGE_COMMITMENT_INSTANCE,
} from '../../../pipelines/dicom/sop-classes.ts';
import { EXPLICIT_VR_LITTLE_ENDIAN } from '../../../pipelines/dicom/transfer-syntaxes.ts';
import { objectsOnDisk } from '../../../src/core/files/received-objects.ts';
import { dicomFile } from '../dicom-file.ts';
import { sendForms } from '../send.ts';
import { openSite, type Site } from '../site.ts';

const CLASS = '1.2.840.10008.5.1.4.1.1.6.1';

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site?.close());

const send = (files: readonly Buffer[]) =>
  sendForms(
    site.node,
    files.map((file) => [file]),
  );

/**
 * Returns the response to a machine that requests commitment to these objects, and how many objects
 * were looked up at a time.
 */
async function commit(transaction: string, uids: readonly string[]) {
  const onDisk = objectsOnDisk(site.config.dataDir);
  let looking = 0;
  let atATime = 0;
  const service = storageCommitmentService({
    database: site.database,
    sources: site.config.sources,
    now: () => new Date(),
    objects: {
      ...onDisk,
      async has(object) {
        looking += 1;
        atATime = Math.max(atATime, looking);
        const there = await onDisk.has(object);
        looking -= 1;
        return there;
      },
    },
  });
  const references = uids.map((sopInstanceUid) => ({ sopClassUid: CLASS, sopInstanceUid }));
  const request = {
    TransactionUID: transaction,
    ReferencedSOPSequence: referenceItems(references),
  };
  const { status, report } = await service(
    {
      operation: 'N-ACTION',
      sopClassUid: STORAGE_COMMITMENT,
      sopInstanceUid: STORAGE_COMMITMENT_INSTANCE,
      typeId: REQUEST_COMMITMENT,
      dataSet: encodeDataSet(request, EXPLICIT_VR_LITTLE_ENDIAN),
      transferSyntax: EXPLICIT_VR_LITTLE_ENDIAN,
    },
    { id: 'a', callingAeTitle: 'CART', calledAeTitle: 'SONOGATE', address: '127.0.0.1' },
  );
  const bytes = report?.dataSet ?? Buffer.alloc(0);
  const dataSet = decodeDataSet(bytes, EXPLICIT_VR_LITTLE_ENDIAN);
  const event = report?.eventTypeId;
  return { status, event, dataSet, report: readCommitmentReport(dataSet), atATime };
}

test('the objects of a large request are looked up sixteen at a time', async () => {
  const uids = Array.from({ length: 20 }, (_, index) => `1.2.840.92.1.${index + 1}`);
  await send(
    uids.map((uid) => dicomFile({ sopInstanceUid: uid, studyInstanceUid: '1.2.840.92.1' })),
  );
  const { report, atATime } = await commit('2.25.1', [...uids, '1.2.840.92.1.99']);
  expect(report?.committed.map(({ sopInstanceUid }) => sopInstanceUid)).toEqual(uids);
  expect(report?.failed).toMatchObject([{ sopInstanceUid: '1.2.840.92.1.99', reason: 0x0112 }]);
  expect(atATime).toBe(16);
});

test('an object with a malformed UID is reported as failed, so that its cart keeps it', async () => {
  const uid = '1.2.840.92.3.1';
  await send([dicomFile({ sopInstanceUid: uid, studyInstanceUid: '1.2.840.92.3' })]);
  const { event, dataSet, report } = await commit('2.25.4', [uid, '1.2.840.92.3.A']);
  expect(event).toBe(COMMITMENT_EVENT.failuresExist);
  expect(report?.committed.map(({ sopInstanceUid }) => sopInstanceUid)).toEqual([uid]);
  expect(itemsOf(dataSet.FailedSOPSequence)).toMatchObject([{ FailureReason: 0x0112 }]);
});

test('a request that names no object in one of its items is refused', async () => {
  expect(await commit('2.25.5', ['1.2.840.92.1.1', ''])).toMatchObject({ status: 0x0121 });
});

test('an object with two conflicting copies, one of which is missing, is not committed to', async () => {
  const of = { sopInstanceUid: '1.2.840.92.2.1', studyInstanceUid: '1.2.840.92.2' };
  await send([dicomFile(of), dicomFile({ ...of, pixels: Buffer.from('other pixels....') })]);
  expect((await commit('2.25.2', [of.sopInstanceUid])).report?.committed).toHaveLength(1);
  const { rows } = await site.database.query<{ path: string }>(
    'SELECT path FROM instances WHERE sop_instance_uid = $1 ORDER BY ordinal',
    [of.sopInstanceUid],
  );
  expect(rows).toHaveLength(2);
  await unlink(join(site.config.dataDir, rows[0]?.path ?? ''));
  expect((await commit('2.25.3', [of.sopInstanceUid])).report?.committed).toEqual([]);
});

test('objects can be found by their UID through an index', async () => {
  const plan = await site.database.transaction(async (tx) => {
    await tx.query('SET LOCAL enable_seqscan = off');
    const { rows } = await tx.query<Record<string, string>>(
      "EXPLAIN SELECT 1 FROM instances WHERE sop_instance_uid = ANY ('{1.2.3}'::text[])",
    );
    return rows.map((row) => Object.values(row)[0]).join('\n');
  });
  expect(plan).toContain('instances_sop_instance_uid');
});
