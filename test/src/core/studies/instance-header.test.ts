import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { buildTid5000 } from '../../../../pipelines/artifacts/sr/tid5000.ts';
import { decodeFileMeta, encodeFileMeta } from '../../../../pipelines/dicom/part10.ts';
import { readInstanceHeader } from '../../../../src/core/studies/read-header.ts';
import { dicomFile, type SmallObject } from '../../../dimse/dicom-file.ts';
import { RESULT } from '../../../pipelines/artifacts/example-result.ts';
import { IDENTITY, SUBJECT } from '../../../pipelines/artifacts/example-subject.ts';

const DATA = '../shared/data/dicom/us';
const MEBIBYTE = 1024 * 1024;

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sonogate-header-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** Inserts an element in explicit VR little endian before the Study Instance UID. */
function inserted(file: Buffer, tag: number[], vr: string, value: Buffer): Buffer {
  const head = Buffer.from([...tag, ...Buffer.from(vr), 0, 0, 0, 0, 0, 0]);
  head.writeUInt32LE(value.length, 8);
  const at = file.indexOf(Buffer.from([0x20, 0, 0x0d, 0]), decodeFileMeta(file).dataSetOffset);
  return Buffer.concat([file.subarray(0, at), head, value, file.subarray(at)]);
}

/** Returns the same file with its data set deflated (PS3.5 A.5), after applying `damage` to it. */
function deflated(file: Buffer, damage: (dataSet: Buffer) => Buffer = (all) => all): Buffer {
  const { meta, dataSetOffset } = decodeFileMeta(file);
  const transferSyntax = '1.2.840.10008.1.2.1.99';
  const dataSet = damage(deflateRawSync(file.subarray(dataSetOffset), { level: 1 }));
  return Buffer.concat([encodeFileMeta({ ...meta, transferSyntax }), dataSet]);
}

async function headerOf(bytes: Buffer) {
  const path = join(folder, 'object.dcm');
  await writeFile(path, bytes);
  return readInstanceHeader(path);
}

describe('the header of an object', () => {
  test('has the attributes that identify it', async () => {
    const header = await headerOf(
      dicomFile({
        sopInstanceUid: '1.2.3.4',
        studyDescription: 'OB ',
        lastMenstrualDate: '20260101',
      }),
    );
    expect(header).toMatchObject({
      sopInstanceUid: '1.2.3.4',
      studyInstanceUid: '1.2.3',
      modality: 'US',
      lastMenstrualDate: '20260101',
      identity: { StudyDescription: 'OB', PatientName: '', SpecificCharacterSet: null },
    });
  });

  test('returns names as Unicode, and states that', async () => {
    const { identity } = await headerOf(
      dicomFile({
        sopInstanceUid: '1.2',
        characterSet: 'ISO_IR 100',
        patientName: Buffer.from('M\xfcller^J\xf6rg', 'latin1'),
      }),
    );
    expect(identity).toMatchObject({
      PatientName: 'Müller^Jörg',
      SpecificCharacterSet: 'ISO_IR 192',
    });
  });

  test.each([
    ['several sets, which dcmjs alone cannot read', Buffer.alloc(16)],
    ['them with more pixels than the first MiB', Buffer.alloc(2 * MEBIBYTE)],
  ])('returns names in %s', async (_what, pixels) => {
    const { identity } = await headerOf(
      dicomFile({
        sopInstanceUid: '1.2',
        characterSet: '\\ISO 2022 IR 87',
        patientName: Buffer.from('Yamada^Tarou=\x1b$B;3ED\x1b(B^\x1b$BB@O:\x1b(B', 'latin1'),
        patientId: 'P1',
        pixels,
      }),
    );
    expect(identity).toMatchObject({
      PatientName: 'Yamada^Tarou=山田^太郎',
      PatientID: 'P1',
      SpecificCharacterSet: 'ISO_IR 192',
    });
  });

  test('is read beyond an item that declares several character sets itself', async () => {
    const sets = Buffer.from('\x08\0\x05\0CS\x10\0\\ISO 2022 IR 87 ', 'latin1');
    const item = Buffer.concat([Buffer.from([0xfe, 0xff, 0, 0xe0, sets.length, 0, 0, 0]), sets]);
    const file = dicomFile({ sopInstanceUid: '1.2', characterSet: 'ISO_IR 192' });
    const { studyInstanceUid } = await headerOf(inserted(file, [0x08, 0, 0x40, 0x11], 'SQ', item));
    expect(studyInstanceUid).toBe('1.2.3');
  });

  test('keeps a letter whose last byte equals that of a no-break space', async () => {
    const object = { sopInstanceUid: '1.2', characterSet: 'ISO_IR 192' };
    const { identity } = await headerOf(
      dicomFile({ ...object, patientName: Buffer.from('Carità') }),
    );
    expect(identity.PatientName).toBe('Carità');
  });

  test('has no control characters, which the database would not accept', async () => {
    const { identity } = await headerOf(
      dicomFile({ sopInstanceUid: '1.2', patientId: 'P\x001\x07', studyDescription: 'OB\tA' }),
    );
    expect(identity).toMatchObject({ PatientID: 'P1', StudyDescription: 'OB\tA' });
  });

  test('has the qualifiers of the issuer of the patient id, which our own objects contain too', async () => {
    const qualifiers = { UniversalEntityID: '1.2.840.99', UniversalEntityIDType: 'ISO' };
    const identity = { ...IDENTITY, IssuerOfPatientIDQualifiers: qualifiers };
    const { identity: read } = await headerOf(buildTid5000(RESULT, { ...SUBJECT, identity }));
    expect(read.IssuerOfPatientIDQualifiers).toEqual(qualifiers);
    expect((await headerOf(buildTid5000(RESULT, SUBJECT))).identity).not.toHaveProperty(
      'IssuerOfPatientIDQualifiers',
    );
  });

  test('has the retired reason for the study, which old systems still send', async () => {
    const file = dicomFile({ sopInstanceUid: '1.2' });
    const at = file.indexOf(Buffer.from([0xe0, 0x7f, 0x10, 0]));
    const reason = Buffer.from('\x32\0\x30\x10LO\x0a\0Known AS  ', 'latin1');
    const asked = Buffer.concat([file.subarray(0, at), reason, file.subarray(at)]);
    expect((await headerOf(asked)).indication).toBe('Known AS');
  });

  test('is read without the pixel data after it, however long they are', async () => {
    const object: SmallObject = { sopInstanceUid: '1.2.5', pixels: Buffer.alloc(3 * MEBIBYTE) };
    expect((await headerOf(dicomFile(object))).sopInstanceUid).toBe('1.2.5');
  });

  test('is found beyond the first MiB', async () => {
    const file = dicomFile({ sopInstanceUid: '1.2.6' });
    const grown = inserted(file, [0x09, 0, 0x10, 0x10], 'UN', Buffer.alloc(2 * MEBIBYTE));
    expect((await headerOf(grown)).studyInstanceUid).toBe('1.2.3');
    expect((await headerOf(deflated(grown))).studyInstanceUid).toBe('1.2.3');
  });

  test('is read from a deflated file without the pixel data after it', async () => {
    const file = dicomFile({ sopInstanceUid: '1.2.7', pixels: randomBytes(3 * MEBIBYTE) });
    expect((await headerOf(deflated(file))).sopInstanceUid).toBe('1.2.7');
    const cut = deflated(file, (dataSet) => dataSet.subarray(0, 2 * MEBIBYTE));
    expect((await headerOf(cut)).sopInstanceUid).toBe('1.2.7');
  });

  test('is searched for only in the beginning of a deflated file', async () => {
    const bomb = inserted(
      dicomFile({ sopInstanceUid: '1.2.8' }),
      [0x09, 0, 0x10, 0x10],
      'UN',
      Buffer.alloc(65 * MEBIBYTE),
    );
    await expect(headerOf(deflated(bomb))).rejects.toMatchObject({ code: 'object_not_understood' });
  });

  test.each([
    ['64 characters', '1.'.padEnd(64, '2'), null],
    ['65 characters', '1.'.padEnd(65, '2'), 'object_not_understood'],
    ['6000 characters', '1.'.padEnd(6000, '2'), 'object_not_understood'],
    ['a leading zero', '1.2.007', null],
    ['two values', '1.2\\1.3', 'object_not_understood'],
    ['no digit', '...', 'object_not_understood'],
    ['a letter', '1.2.4b', 'object_not_understood'],
    ['a control character inside', '1.2\x013', 'object_not_understood'],
    ['a dot at its end', '1.2.', 'object_not_understood'],
    ['an empty component', '1..2', 'object_not_understood'],
  ])('whose SOP Instance UID has %s', async (_what, sopInstanceUid, code) => {
    const read = headerOf(dicomFile({ sopInstanceUid }));
    if (code) await expect(read).rejects.toMatchObject({ code });
    else expect(await read).toMatchObject({ sopInstanceUid });
  });

  test.each(['1.2.a4', '1.2.4b', '1.2.4.', '1.2..4'])(
    'with the Study or Series Instance UID %s is refused, and never read as 1.2.4',
    async (uid) => {
      for (const level of ['studyInstanceUid', 'seriesInstanceUid']) {
        const read = headerOf(dicomFile({ sopInstanceUid: '1.2.5', [level]: uid }));
        await expect(read).rejects.toMatchObject({ code: 'object_not_understood' });
      }
    },
  );

  test.each([
    ['no Study Instance UID', dicomFile({ sopInstanceUid: '1.2', studyInstanceUid: '' })],
    [
      'a Study Instance UID of 6 kB',
      dicomFile({ sopInstanceUid: '1.2', studyInstanceUid: '1.'.padEnd(6000, '2') }),
    ],
    [
      'no DICOM inside',
      Buffer.concat([
        dicomFile({ sopInstanceUid: '1.2' }).subarray(0, 300),
        Buffer.from('<html>not found</html>'.repeat(50)),
      ]),
    ],
    ['no prefix', Buffer.alloc(1000)],
    [
      'a deflated data set that is cut short',
      deflated(dicomFile({ sopInstanceUid: '1.2' }), (dataSet) => dataSet.subarray(0, 20)),
    ],
    ['nothing in it', Buffer.alloc(0)],
  ])('of a file with %s cannot be understood', async (_what, bytes) => {
    await expect(headerOf(bytes)).rejects.toThrowError(
      expect.objectContaining({ code: 'object_not_understood' }),
    );
  });
});

test.skipIf(!existsSync(DATA))('every real ultrasound file has a readable header', async () => {
  for (const name of await readdir(DATA)) {
    const header = await readInstanceHeader(join(DATA, name));
    expect(header.modality, name).toBe('US');
    expect(header.rows * header.columns, name).toBeGreaterThan(0);
  }
});
