import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { contentDigest } from '../../../pipelines/dicom/content-digest.ts';
import { encodeDataSet } from '../../../pipelines/dicom/data-set.ts';
import { elementHeader } from '../../../pipelines/dicom/elements.ts';
import { encodeFileMeta } from '../../../pipelines/dicom/part10.ts';
import {
  EXPLICIT_VR_BIG_ENDIAN,
  EXPLICIT_VR_LITTLE_ENDIAN,
  IMPLICIT_VR_LITTLE_ENDIAN,
  JPEG_BASELINE,
} from '../../../pipelines/dicom/transfer-syntaxes.ts';
import { DCMTK_INSTALLED, dcmtk } from '../../peers/dcmtk.ts';

const UIDS = { sopClassUid: '1.2.840.10008.5.1.4.1.1.3.1', sopInstanceUid: '1.2.3.4' };

const DATA_SET = {
  SOPClassUID: UIDS.sopClassUid,
  SOPInstanceUID: UIDS.sopInstanceUid,
  PatientName: 'GATE^SONO^A',
  SequenceOfUltrasoundRegions: [
    {
      PhysicalDeltaX: 0.01,
      RegionFlags: 2,
      ReferencedSOPSequence: [{ FrameOfReferenceUID: '1.2' }],
    },
    { PhysicalDeltaX: 0.02 },
    {},
  ],
  Rows: 2,
  FrameIncrementPointer: [0x00181063],
  PixelData: [Uint8Array.from([1, 2, 3, 4]).buffer],
  _vrMap: { PixelData: 'OW' },
};

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sonogate-content-'));
});
afterAll(() => rm(folder, { recursive: true }));

let files = 0;
async function written(dataSet: Buffer, transferSyntax: string): Promise<string> {
  files += 1;
  const path = join(folder, `${files}.dcm`);
  const meta = { ...UIDS, transferSyntax, sourceAeTitle: 'CART', receivingAeTitle: 'SONOGATE' };
  await writeFile(path, Buffer.concat([encodeFileMeta(meta), dataSet]));
  return path;
}

const digest = async (dataSet: Buffer, transferSyntax = EXPLICIT_VR_LITTLE_ENDIAN) =>
  contentDigest(await written(dataSet, transferSyntax));

const explicit = (changes: object = {}) =>
  encodeDataSet({ ...DATA_SET, ...changes }, EXPLICIT_VR_LITTLE_ENDIAN);

describe('the content of a data set is the same', () => {
  test('in Implicit VR', async () => {
    const implicit = encodeDataSet(DATA_SET, IMPLICIT_VR_LITTLE_ENDIAN);
    expect(await digest(implicit, IMPLICIT_VR_LITTLE_ENDIAN)).toBe(await digest(explicit()));
  });

  test('with more padding, group lengths, and padding after it', async () => {
    const [lo, ul] = [Buffer.from('ID    '), Buffer.from([20, 0, 0, 0])];
    const patientId = (value: Buffer) =>
      Buffer.concat([elementHeader(0x00100020, 'LO', value.length), value]);
    const padded = [
      Buffer.concat([elementHeader(0x00100000, 'UL', 4), ul]),
      patientId(lo),
      Buffer.concat([elementHeader(0xfffcfffc, 'OB', 4), Buffer.alloc(4)]),
    ];
    expect(await digest(Buffer.concat(padded))).toBe(await digest(patientId(Buffer.from('ID'))));
  });

  test('with another offset table and other fragments of its compressed frames', async () => {
    const item = (value: Buffer) =>
      Buffer.concat([elementHeader(0xfffee000, '', value.length), value]);
    const encapsulated = (...items: Buffer[]) =>
      Buffer.concat([
        elementHeader(0x7fe00010, 'OB', 0xffffffff),
        ...items.map(item),
        elementHeader(0xfffee0dd, '', 0),
      ]);
    const one = encapsulated(Buffer.alloc(0), Buffer.from('abcdef'));
    const two = encapsulated(Buffer.alloc(4), Buffer.from('abcd'), Buffer.from('ef'));
    const other = encapsulated(Buffer.alloc(0), Buffer.from('abcdeg'));
    expect(await digest(one, JPEG_BASELINE)).toBe(await digest(two, JPEG_BASELINE));
    expect(await digest(one, JPEG_BASELINE)).not.toBe(await digest(other, JPEG_BASELINE));
  });

  test.skipIf(!DCMTK_INSTALLED).each([
    ['Explicit VR with lengths of sequences', '+te', '+e', '+g'],
    ['Explicit VR with undefined lengths', '+te', '-e', '-g'],
    ['Implicit VR', '+ti', '+e', '+g'],
    ['big endian', '+tb', '+e', '-g'],
  ])('as DCMTK encodes it in %s', async (_, ...options) => {
    const original = await written(explicit(), EXPLICIT_VR_LITTLE_ENDIAN);
    const converted = `${original}.converted`;
    const { exitCode, output } = await dcmtk('dcmconv', [...options, original, converted]);
    expect(exitCode, output).toBe(0);
    expect(await contentDigest(converted)).toBe(await contentDigest(original));
  });
});

describe('the content of a data set is another one', () => {
  const [first, second] = DATA_SET.SequenceOfUltrasoundRegions;
  test.each([
    ['if a value changes', { PatientName: 'GATE^SONO^B' }],
    ['if an element is missing', { Rows: undefined }],
    ['if an element is added', { Columns: 2 }],
    [
      'if a value in a sequence changes',
      { SequenceOfUltrasoundRegions: [first, { PhysicalDeltaX: 0.03 }, {}] },
    ],
    ['if an empty item is missing', { SequenceOfUltrasoundRegions: [first, second] }],
    ['if a value is added', { FrameIncrementPointer: [0x00181063, 0] }],
    ['if a pixel changes', { PixelData: [Uint8Array.from([1, 2, 3, 5]).buffer] }],
    ['if a row of zeros is added', { PixelData: [Uint8Array.from([1, 2, 3, 4, 0, 0]).buffer] }],
  ])('%s', async (_, changes) => {
    expect(await digest(explicit(changes))).not.toBe(await digest(explicit()));
  });

  test('if it is damaged: then its bytes count', async () => {
    const damaged = explicit().subarray(0, -1);
    const group = Buffer.concat([elementHeader(0x00080000, 'UL', 4), Buffer.alloc(4)]);
    expect(await digest(damaged)).toBe(await digest(damaged));
    expect(await digest(Buffer.concat([group, damaged]))).not.toBe(await digest(damaged));
  });
});

test('big endian has the same content only if its numbers are the same', async () => {
  const rows = (bytes: number[]) => {
    const head = Buffer.from([0x00, 0x28, 0x00, 0x10, 0x55, 0x53, 0x00, 0x02]);
    return Buffer.concat([head, Buffer.from(bytes)]);
  };
  const little = Buffer.concat([elementHeader(0x00280010, 'US', 2), Buffer.from([2, 1])]);
  expect(await digest(rows([1, 2]), EXPLICIT_VR_BIG_ENDIAN)).toBe(await digest(little));
  expect(await digest(rows([2, 1]), EXPLICIT_VR_BIG_ENDIAN)).not.toBe(await digest(little));
});
