import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readInstanceHeader } from '../../dimse/header.ts';
import { decodeFileMeta } from '../../dimse/part10.ts';
import { buildTid5000 } from '../../pipelines/artifacts/sr/tid5000.ts';
import { RESULT } from '../pipelines/artifacts/example-result.ts';
import { IDENTITY, SUBJECT } from '../pipelines/artifacts/example-subject.ts';
import { dicomFile, type SmallObject } from './dicom-file.ts';

const DATA = '../shared/data/dicom/us';
const MEBIBYTE = 1024 * 1024;

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sonogate-header-'));
});
afterAll(() => rm(folder, { recursive: true }));

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

  test('gives names as Unicode, and says so', async () => {
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

  test('has the qualifiers of the issuer of the patient id, as our own objects carry them on', async () => {
    const qualifiers = { UniversalEntityID: '1.2.840.99', UniversalEntityIDType: 'ISO' };
    const identity = { ...IDENTITY, IssuerOfPatientIDQualifiers: qualifiers };
    const { identity: read } = await headerOf(buildTid5000(RESULT, { ...SUBJECT, identity }));
    expect(read.IssuerOfPatientIDQualifiers).toEqual(qualifiers);
    expect((await headerOf(buildTid5000(RESULT, SUBJECT))).identity).not.toHaveProperty(
      'IssuerOfPatientIDQualifiers',
    );
  });

  test('is read without the pixels behind it, however many there are', async () => {
    const object: SmallObject = { sopInstanceUid: '1.2.5', pixels: Buffer.alloc(3 * MEBIBYTE) };
    expect((await headerOf(dicomFile(object))).sopInstanceUid).toBe('1.2.5');
  });

  test('is found behind more than the first MiB', async () => {
    const file = dicomFile({ sopInstanceUid: '1.2.6' });
    const { dataSetOffset } = decodeFileMeta(file);
    const long = Buffer.alloc(12 + 2 * MEBIBYTE);
    long.write('\x09\x00\x10\x10UN\0\0', 0, 'latin1');
    long.writeUInt32LE(2 * MEBIBYTE, 8);
    const at = file.indexOf(Buffer.from([0x20, 0, 0x0d, 0]), dataSetOffset);
    const grown = Buffer.concat([file.subarray(0, at), long, file.subarray(at)]);
    expect((await headerOf(grown)).studyInstanceUid).toBe('1.2.3');
  });

  test.each([
    ['no Study Instance UID', dicomFile({ sopInstanceUid: '1.2', studyInstanceUid: '' })],
    [
      'no DICOM inside',
      Buffer.concat([
        dicomFile({ sopInstanceUid: '1.2' }).subarray(0, 300),
        Buffer.from('<html>not found</html>'.repeat(50)),
      ]),
    ],
    ['no prefix', Buffer.alloc(1000)],
    ['nothing in it', Buffer.alloc(0)],
  ])('of a file with %s cannot be understood', async (_what, bytes) => {
    await expect(headerOf(bytes)).rejects.toThrowError(
      expect.objectContaining({ code: 'object_not_understood' }),
    );
  });
});

test.skipIf(!existsSync(DATA))('every real ultrasound file has one', async () => {
  for (const name of await readdir(DATA)) {
    const header = await readInstanceHeader(join(DATA, name));
    expect(header.modality, name).toBe('US');
    expect(header.rows * header.columns, name).toBeGreaterThan(0);
  }
});
