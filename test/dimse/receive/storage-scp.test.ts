import { mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { decodeFileMeta } from '../../../pipelines/dicom/part10.ts';
import { findStudy, instancesOf } from '../../../src/core/studies/study-store.ts';
import { dicomFile } from '../dicom-file.ts';
import { sendBuffer } from '../send.ts';
import { openSite, type Site } from '../site.ts';

let site: Site;
beforeAll(async () => {
  site = await openSite();
});
afterAll(() => site.close());

function newFile(studyInstanceUid: string): { file: Buffer; prefix: Buffer; dataSet: Buffer } {
  const file = dicomFile({ sopInstanceUid: `${studyInstanceUid}.1.1`, studyInstanceUid });
  const { dataSetOffset } = decodeFileMeta(file);
  return { file, prefix: file.subarray(0, dataSetOffset), dataSet: file.subarray(dataSetOffset) };
}

async function filesBelow(folder: string): Promise<string[]> {
  const below = join(site.config.dataDir, folder);
  const names = await readdir(below, { recursive: true }).catch(() => []);
  return names.filter((name) => /\.(dcm|part)$/.test(name)).sort();
}

test('an acknowledged object is on the disk byte for byte, with the name of its sender', async () => {
  const { file, dataSet } = newFile('1.2.1');
  expect(await sendBuffer(site.node, file)).toMatchObject({ outcome: 'stored', status: 0 });
  const study = await findStudy(site.database, '1.2.1');
  const [instance] = study ? await instancesOf(site.database, study) : [];
  const stored = await readFile(join(site.config.dataDir, instance?.path ?? ''));
  const { meta, dataSetOffset } = decodeFileMeta(stored);
  expect(stored.subarray(dataSetOffset).equals(dataSet)).toBe(true);
  expect(stored).toHaveLength(instance?.bytes ?? 0);
  expect(meta).toMatchObject({ sourceAeTitle: 'CART', receivingAeTitle: 'SONOGATE' });
});

describe('an object that cannot be used', () => {
  const html = Buffer.from('<html>not found</html>'.repeat(20));
  test.each([
    ['is no DICOM inside', html, 0xc000],
    ['is another instance than announced', newFile('9.9').dataSet, 0xa900],
  ])('because it %s gets its status and is quarantined', async (_what, inside, status) => {
    const { file, prefix } = newFile('1.2.2');
    const [stored, kept] = [await filesBelow('intake'), await filesBelow('quarantine')];
    const bad = Buffer.concat([prefix, inside]);
    expect(await sendBuffer(site.node, bad)).toMatchObject({ outcome: 'failed', status });
    expect(await filesBelow('intake')).toEqual(stored);
    expect(await filesBelow('quarantine')).toHaveLength(kept.length + 1);
    expect(await sendBuffer(site.node, file)).toMatchObject({ outcome: 'stored' });
  });

  test('because the disk is nearly full is refused with A700H and leaves nothing behind', async () => {
    const { file } = newFile('1.2.3');
    const stored = await filesBelow('intake');
    await site.restart({ minFreeBytes: Number.MAX_SAFE_INTEGER });
    expect(await sendBuffer(site.node, file)).toMatchObject({ status: 0xa700 });
    expect(await filesBelow('intake')).toEqual(stored);
  });

  test('because it is one byte too large is refused with A700H and leaves nothing behind', async () => {
    const { file, dataSet } = newFile('1.2.4');
    const stored = await filesBelow('intake');
    await site.restart({ maxObjectBytes: dataSet.length - 1 });
    expect(await sendBuffer(site.node, file)).toMatchObject({ status: 0xa700 });
    expect(site.receptions.at(-1)).toBe('refused');
    expect(await filesBelow('intake')).toEqual(stored);
    await site.restart({ maxObjectBytes: dataSet.length });
    expect(await sendBuffer(site.node, file)).toMatchObject({ status: 0 });
    expect(site.receptions.at(-1)).toBe('stored');
  });
});

test('at startup, objects without a row get one, and old partial objects are removed', async () => {
  const { file } = newFile('1.2.5');
  const folder = join(site.config.dataDir, 'intake', 'this-machine', '2026-01-01');
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'complete.dcm'), file);
  await writeFile(join(folder, 'partial.part'), file.subarray(0, 400));
  // Another process may still be writing a newer one.
  const twoHoursAgo = new Date(Date.now() - 2 * 3_600_000);
  await utimes(join(folder, 'partial.part'), twoHoursAgo, twoHoursAgo);
  await site.restart();
  expect(await findStudy(site.database, '1.2.5')).toMatchObject({
    source: 'this-machine',
    calling_ae_title: 'CART',
    instance_count: 1,
  });
  expect(await readdir(folder)).toEqual(['complete.dcm']);
  await site.restart();
  expect(await findStudy(site.database, '1.2.5')).toMatchObject({ instance_count: 1, revision: 1 });
});
