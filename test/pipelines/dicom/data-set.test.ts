import { expect, test } from 'vitest';
import { decodeDataSet, encodeDataSet } from '../../../pipelines/dicom/data-set.ts';
import { encodePart10 } from '../../../pipelines/dicom/part10.ts';
import {
  EXPLICIT_VR_LITTLE_ENDIAN,
  IMPLICIT_VR_LITTLE_ENDIAN,
} from '../../../pipelines/dicom/transfer-syntaxes.ts';
import { dataSet } from '../../dimse/dicom-file.ts';

/** PS3.5 H.3.1. */
const YAMADA = Buffer.from(
  'Yamada^Tarou=\x1b$B;3ED\x1b(B^\x1b$BB@O:\x1b(B=\x1b$B$d$^$@\x1b(B^\x1b$B$?$m$&\x1b(B',
  'latin1',
);

const answer = (characterSet: string, patientName: Buffer) =>
  dataSet({ sopInstanceUid: '1.2', characterSet, patientName, patientId: 'P1' });

/** Converts short-form explicit elements to implicit ones, which have a 32-bit length. */
function implicit(explicit: Buffer): Buffer {
  const elements: Buffer[] = [];
  for (let at = 0; explicit.readUInt16LE(at) < 0x7fe0; ) {
    const length = explicit.readUInt16LE(at + 6);
    const header = Buffer.alloc(8);
    explicit.copy(header, 0, at, at + 4);
    header.writeUInt32LE(length, 4);
    elements.push(header, explicit.subarray(at + 8, at + 8 + length));
    at += 8 + length;
  }
  return Buffer.concat(elements);
}

test.each([
  ['explicit', EXPLICIT_VR_LITTLE_ENDIAN, (bytes: Buffer) => bytes],
  ['implicit', IMPLICIT_VR_LITTLE_ENDIAN, implicit],
])('a data set with code extensions is read, %s', (_, syntax, written) => {
  const bytes = written(answer('\\ISO 2022 IR 87', YAMADA));
  const before = Buffer.from(bytes);
  expect(decodeDataSet(bytes, syntax)).toMatchObject({
    PatientName: [
      { Alphabetic: 'Yamada^Tarou', Ideographic: '山田^太郎', Phonetic: 'やまだ^たろう' },
    ],
    PatientID: 'P1',
  });
  expect(bytes).toEqual(before);
});

test.each([
  ['ISO_IR 100', Buffer.from('M\xfcller', 'latin1')],
  ['ISO_IR 192', Buffer.from('Müller')],
])('a data set with the single character set %s is read', (characterSet, name) => {
  const { PatientName } = decodeDataSet(answer(characterSet, name), EXPLICIT_VR_LITTLE_ENDIAN);
  expect(PatientName).toMatchObject([{ Alphabetic: 'Müller' }]);
});

test('an empty binary number has no value, not 0', () => {
  const rows = Buffer.from([0x28, 0, 0x10, 0, 0x55, 0x53, 0, 0]);
  const columns = Buffer.from([0x28, 0, 0x11, 0, 0x55, 0x53, 2, 0, 0, 0]);
  const { Rows, Columns } = decodeDataSet(
    Buffer.concat([rows, columns]),
    EXPLICIT_VR_LITTLE_ENDIAN,
  );
  expect([Rows, Columns]).toEqual([undefined, 0]);
});

test('bytes that are not a data set are refused', () => {
  expect(() => decodeDataSet(Buffer.alloc(7, 0xff), EXPLICIT_VR_LITTLE_ENDIAN)).toThrow(
    expect.objectContaining({ code: 'object_not_understood' }),
  );
});

test('a name longer than 64 characters is written as the source images have it', () => {
  const object = {
    ...{ SOPClassUID: '1.2.840.10008.5.1.4.1.1.88.33', SOPInstanceUID: '1.2' },
    PatientName: `Wolfeschlegelsteinhausenbergerdorff^${'Maria '.repeat(9)}`.trim(),
  };
  const { PatientName } = decodeDataSet(
    encodeDataSet(object, EXPLICIT_VR_LITTLE_ENDIAN),
    EXPLICIT_VR_LITTLE_ENDIAN,
  );
  expect(PatientName).toMatchObject([{ Alphabetic: object.PatientName }]);
  expect(encodePart10(object).includes(object.PatientName)).toBe(true);
});
