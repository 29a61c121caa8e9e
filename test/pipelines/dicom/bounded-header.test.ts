import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  headerInBytes,
  headerInFile,
  wantedAttributes,
} from '../../../pipelines/dicom/bounded-header.ts';
import { HEADER_ATTRIBUTES } from '../../../src/core/studies/instance-header.ts';
import { dicomFile } from '../../dimse/dicom-file.ts';
import { hostileObjects } from '../../fuzz/hostile-objects.ts';

/**
 * On the slowest machine tried, the largest header within the limits takes less than half of this
 * time.
 */
const MOST_CPU_MS = 4_000;

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sonogate-bounded-header-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('a hostile object', () => {
  test.each(hostileObjects('1.2.840.99'))(
    'with $name is read or refused within the limits',
    async ({ bytes, refused }) => {
      const path = join(folder, 'hostile.dcm');
      await writeFile(path, bytes);
      const before = process.cpuUsage();
      const read = headerInFile(path, HEADER_ATTRIBUTES);
      if (refused) await expect(read).rejects.toMatchObject({ code: 'object_not_understood' });
      else expect(await read).toMatchObject({ StudyInstanceUID: '1.2.840.99' });
      const { user, system } = process.cpuUsage(before);
      expect((user + system) / 1000).toBeLessThan(MOST_CPU_MS);
    },
  );
});

describe('the start of a file', () => {
  const wanted = wantedAttributes(['StudyInstanceUID', 'PatientID']);
  const file = dicomFile({ sopInstanceUid: '1.2', patientId: 'P1', pixels: Buffer.alloc(4096) });

  test('contains the whole header if the pixel data begin in it', () => {
    const start = file.subarray(0, file.length - 4000);
    const header = { StudyInstanceUID: '1.2.3', PatientID: 'P1' };
    expect(headerInBytes(start, false, wanted)).toEqual(header);
  });

  test('does not contain the whole header if it ends earlier, unless there are no more bytes', () => {
    const start = file.subarray(0, file.indexOf('P1') + 2);
    expect(headerInBytes(start, false, wanted)).toBeNull();
    expect(headerInBytes(start, true, wanted)).toEqual({ PatientID: 'P1' });
  });
});
