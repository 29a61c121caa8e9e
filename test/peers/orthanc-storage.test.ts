import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readFileMeta } from '../../dimse/part10.ts';
import { sendFiles } from '../../dimse/store-scu.ts';
import { type Orthanc, startOrthanc } from './orthanc.ts';

const DATA = '../shared/data/dicom/us';
const FILES = existsSync(DATA) ? readdirSync(DATA).map((name) => join(DATA, name)) : [];

let orthanc: Orthanc | null = null;
beforeAll(async () => {
  orthanc = await startOrthanc();
});
afterAll(() => orthanc?.stop());

test.skipIf(FILES.length === 0)('Orthanc takes every real file from us', async ({ skip }) => {
  if (!orthanc) return skip('Orthanc is not installed');
  const node = {
    host: '127.0.0.1',
    port: orthanc.dicomPort,
    aeTitle: orthanc.aeTitle,
    callingAeTitle: 'SONOGATE',
    timeoutSeconds: 20,
  };
  const results = await sendFiles(node, FILES);
  expect(results.filter(({ outcome }) => outcome !== 'stored')).toEqual([]);
  const sent = await Promise.all(FILES.map(async (file) => (await readFileMeta(file)).meta));
  const held = (await orthanc.instances()).map((tags) => tags.SOPInstanceUID);
  expect(held.sort()).toEqual([...new Set(sent.map((meta) => meta.sopInstanceUid))].sort());
});
