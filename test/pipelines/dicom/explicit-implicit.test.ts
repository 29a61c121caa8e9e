import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { decodeDataSet, encodeDataSet } from '../../../pipelines/dicom/data-set.ts';
import { convertedFile } from '../../../pipelines/dicom/explicit-implicit.ts';
import { encodeFileMeta } from '../../../pipelines/dicom/part10.ts';
import {
  EXPLICIT_VR_LITTLE_ENDIAN,
  IMPLICIT_VR_LITTLE_ENDIAN,
  JPEG_BASELINE,
} from '../../../pipelines/dicom/transfer-syntaxes.ts';

const UIDS = { sopClassUid: '1.2.840.10008.5.1.4.1.1.6.1', sopInstanceUid: '1.2.3.4' };

/** An ultrasound image with nested sequences, an ambiguous VR and long pixel data. */
const DATA_SET = {
  SOPClassUID: UIDS.sopClassUid,
  SOPInstanceUID: UIDS.sopInstanceUid,
  PatientName: 'GATE^SONO',
  SequenceOfUltrasoundRegions: [
    {
      PhysicalDeltaX: 0.01,
      RegionFlags: 2,
      ReferencedSOPSequence: [{ FrameOfReferenceUID: '1.2' }],
    },
    { PhysicalDeltaX: 0.02 },
  ],
  PixelRepresentation: 1,
  SmallestImagePixelValue: -5,
  PixelData: [new Uint8Array(300_000).map((_, index) => index % 251).buffer],
  _vrMap: { PixelData: 'OW', SmallestImagePixelValue: 'SS' },
};

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sonogate-syntax-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function converted(dataSet: Buffer, transferSyntax: string) {
  const path = join(folder, 'object.dcm');
  const titles = { sourceAeTitle: 'CART', receivingAeTitle: 'SONOGATE' };
  const meta = encodeFileMeta({ ...UIDS, ...titles, transferSyntax });
  await writeFile(path, Buffer.concat([meta, dataSet]));
  const object = await convertedFile(path);
  const pieces: Buffer[] = [];
  for await (const piece of object.read(16_000)) pieces.push(piece);
  expect(pieces.slice(0, -1).every(({ length }) => length === 16_000)).toBe(true);
  const bytes = Buffer.concat(pieces);
  expect(bytes).toHaveLength(object.bytes);
  return { ...object, dataSet: bytes };
}

const EXPLICIT = encodeDataSet(DATA_SET, EXPLICIT_VR_LITTLE_ENDIAN);
const IMPLICIT = encodeDataSet(DATA_SET, IMPLICIT_VR_LITTLE_ENDIAN);

describe('an object converted between Explicit and Implicit VR', () => {
  test.each([
    ['Implicit', IMPLICIT, IMPLICIT_VR_LITTLE_ENDIAN, EXPLICIT_VR_LITTLE_ENDIAN],
    ['Explicit', EXPLICIT, EXPLICIT_VR_LITTLE_ENDIAN, IMPLICIT_VR_LITTLE_ENDIAN],
  ])('from %s VR has the same values', async (_, dataSet, from, to) => {
    const result = await converted(dataSet, from);
    expect(result).toMatchObject({ ...UIDS, transferSyntax: to });
    expect(decodeDataSet(result.dataSet, to)).toEqual(
      decodeDataSet(to === EXPLICIT_VR_LITTLE_ENDIAN ? EXPLICIT : IMPLICIT, to),
    );
  });

  const element = (tag: string, value: Buffer, length = value.length) => {
    const head = Buffer.alloc(8);
    head.writeUInt16LE(Number.parseInt(tag.slice(0, 4), 16), 0);
    head.writeUInt16LE(Number.parseInt(tag.slice(4), 16), 2);
    head.writeUInt32LE(length, 4);
    return Buffer.concat([head, value]);
  };
  const endOf = (what: 'FFFEE00D' | 'FFFEE0DD') => element(what, Buffer.alloc(0));
  const explicitHead = (tag: string, vr: string, length: number) => {
    const head = Buffer.concat([element(tag, Buffer.alloc(0)).subarray(0, 4), Buffer.from(vr)]);
    const size = Buffer.alloc(vr === 'UN' ? 6 : 2);
    if (vr === 'UN') size.writeUInt32LE(length, 2);
    else size.writeUInt16LE(length);
    return Buffer.concat([head, size]);
  };
  const text = Buffer.from('private ');

  // PS3.5 6.2.2 and 7.8.1.
  test('turns private elements into UN and their creator into LO, and keeps a private sequence', async () => {
    const item = element('FFFEE000', element('00191002', text), 0xffffffff);
    const sequence = Buffer.concat([item, endOf('FFFEE00D'), endOf('FFFEE0DD')]);
    const { dataSet } = await converted(
      Buffer.concat([
        element('00190010', text),
        element('00191001', text),
        element('00191003', sequence, 0xffffffff),
        element('00204000', text),
      ]),
      IMPLICIT_VR_LITTLE_ENDIAN,
    );
    expect(dataSet).toEqual(
      Buffer.concat([
        explicitHead('00190010', 'LO', text.length),
        text,
        explicitHead('00191001', 'UN', text.length),
        text,
        explicitHead('00191003', 'UN', 0xffffffff),
        sequence,
        explicitHead('00204000', 'LT', text.length),
        text,
      ]),
    );
  });

  test('turns a value that is too long for its VR into UN', async () => {
    const long = Buffer.alloc(70_000, 'x');
    const { dataSet } = await converted(element('00204000', long), IMPLICIT_VR_LITTLE_ENDIAN);
    expect(dataSet.subarray(0, 12)).toEqual(explicitHead('00204000', 'UN', long.length));
  });

  test.each([
    ['ends within a value', element('00100010', text, 4000), IMPLICIT_VR_LITTLE_ENDIAN],
    [
      'has an item that is longer than its sequence',
      element('00081140', element('FFFEE000', element('00081150', text)), 10),
      IMPLICIT_VR_LITTLE_ENDIAN,
    ],
    ['is compressed', EXPLICIT, JPEG_BASELINE],
  ])('is refused when it %s', async (_, dataSet, transferSyntax) => {
    await expect(converted(dataSet, transferSyntax)).rejects.toMatchObject({
      code: 'object_not_understood',
    });
  });
});
