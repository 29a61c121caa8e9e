import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  headerInBytes,
  headerInFile,
  isCutOff,
  wantedAttributes,
} from '../../../pipelines/dicom/bounded-header.ts';
import { elementHeader } from '../../../pipelines/dicom/elements.ts';
import { encodeFileMeta } from '../../../pipelines/dicom/part10.ts';
import { JPEG_BASELINE } from '../../../pipelines/dicom/transfer-syntaxes.ts';
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

describe('a file is cut off', () => {
  const meta = {
    sopClassUid: '1.2.840.10008.5.1.4.1.1.3.1',
    sopInstanceUid: '1.2.3',
    sourceAeTitle: 'CART',
    receivingAeTitle: 'SONOGATE',
  };
  const item = (length: number) =>
    Buffer.concat([elementHeader(0xfffee000, '', length), Buffer.alloc(length)]);
  /** Three frames in as many fragments, after an empty offset table. */
  const fragments = Buffer.concat([
    encodeFileMeta({ ...meta, transferSyntax: JPEG_BASELINE }),
    elementHeader(0x7fe00010, 'OB', 0xffffffff),
    ...[0, 100, 100, 100].map(item),
    elementHeader(0xfffee0dd, '', 0),
  ]);
  const native = dicomFile({ sopInstanceUid: '1.2.3.4', pixels: Buffer.alloc(5000) });
  const following = Buffer.concat([elementHeader(0x7fe10010, 'LO', 4), Buffer.from('cart')]);

  test.each([
    ['native pixel data', native, 1, false],
    ['native pixel data without the last byte', native.subarray(0, -1), 1, true],
    [
      'pixel data and the elements of a cart after them',
      Buffer.concat([native, following]),
      1,
      false,
    ],
    ['a cut in the header', native.subarray(0, -5030), 1, true],
    ['compressed frames', fragments, 3, false],
    ['compressed frames and elements after them', Buffer.concat([fragments, following]), 3, false],
    ['a cut in the last frame', fragments.subarray(0, -9), 3, true],
    ['the last frame missing', fragments.subarray(0, -116), 3, true],
    ['only the delimiter missing', fragments.subarray(0, -8), 3, false],
    ['a damaged delimiter', Buffer.concat([fragments.subarray(0, -8), Buffer.alloc(8)]), 3, false],
  ])('%s', async (_, file, frames, cutOff) => {
    const path = join(folder, 'end.dcm');
    await writeFile(path, file);
    expect(isCutOff(path, frames)).toBe(cutOff);
  });
});
