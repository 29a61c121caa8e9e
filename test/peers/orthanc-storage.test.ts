import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sendFiles } from '../../dimse/send/store-scu.ts';
import { readFileMeta } from '../../pipelines/dicom/part10.ts';
import { type Orthanc, startOrthanc } from './orthanc.ts';

const DATA = '../shared/data/dicom/us';
/** Orthanc does not respond to this file, because DCMTK cannot read its sequence delimiter. */
const UNREADABLE_FOR_ORTHANC = 'DIRW0007_broken-delimiter.dcm';
const FILES = (existsSync(DATA) ? readdirSync(DATA) : [])
  .filter((name) => name !== UNREADABLE_FOR_ORTHANC)
  .map((name) => join(DATA, name));

const nodeOf = ({ dicomPort, aeTitle }: Orthanc, timeoutSeconds: number) => ({
  host: '127.0.0.1',
  port: dicomPort,
  aeTitle,
  callingAeTitle: 'SONOGATE',
  timeoutSeconds,
});

let orthanc: Orthanc | null = null;
beforeAll(async () => {
  orthanc = await startOrthanc();
});
afterAll(() => orthanc?.stop());

test.skipIf(FILES.length === 0)('Orthanc accepts every real file from us', async ({ skip }) => {
  if (!orthanc) return skip('Orthanc is not installed');
  const node = nodeOf(orthanc, 20);
  const results = await sendFiles(node, FILES);
  expect(results.filter(({ outcome }) => outcome !== 'stored')).toEqual([]);
  const sent = await Promise.all(FILES.map(async (file) => (await readFileMeta(file)).meta));
  const held = (await orthanc.instances()).map((tags) => tags.SOPInstanceUID);
  expect(held.sort()).toEqual([...new Set(sent.map((meta) => meta.sopInstanceUid))].sort());
});

test.skipIf(FILES.length === 0)(
  'an object to which it does not respond causes no loss of other objects',
  async ({ skip }) => {
    if (!orthanc) return skip('Orthanc is not installed');
    const node = nodeOf(orthanc, 2);
    const files = [join(DATA, UNREADABLE_FOR_ORTHANC), join(DATA, 'OBXXXX1A.dcm')];
    expect(await sendFiles(node, files)).toMatchObject([
      { outcome: 'failed', code: 'peer_connection_lost' },
      { outcome: 'stored' },
    ]);
  },
);
