import { encodeFileMeta } from '../../pipelines/dicom/part10.ts';
import { EXPLICIT_VR_LITTLE_ENDIAN } from '../../pipelines/dicom/transfer-syntaxes.ts';

/** Values of a small ultrasound object; absent values are not written. */
export interface SmallObject {
  sopInstanceUid: string;
  studyInstanceUid?: string | undefined;
  seriesInstanceUid?: string | undefined;
  sopClassUid?: string;
  studyDate?: string;
  studyDescription?: string;
  modality?: string;
  patientName?: Buffer;
  patientId?: string;
  issuerOfPatientId?: string;
  birthDate?: string;
  sex?: string;
  characterSet?: string;
  accessionNumber?: string;
  referringPhysician?: string;
  reason?: string;
  lastMenstrualDate?: string;
  /** If set, the object is a grey image of this width and height that the pipelines can read. */
  side?: number;
  /** Bytes of pixel data, to distinguish contents. */
  pixels?: Buffer;
}

const US_IMAGE = '1.2.840.10008.5.1.4.1.1.6.1';

/** Encodes only the data set, in explicit VR little endian. */
export function dataSet(object: SmallObject): Buffer {
  const { studyInstanceUid = '1.2.3', seriesInstanceUid = `${studyInstanceUid}.1` } = object;
  const elements: [string, string, Buffer | string | undefined][] = [
    ['00080005', 'CS', object.characterSet],
    ['00080016', 'UI', object.sopClassUid ?? US_IMAGE],
    ['00080018', 'UI', object.sopInstanceUid],
    ['00080020', 'DA', object.studyDate],
    ['00080050', 'SH', object.accessionNumber],
    ['00080060', 'CS', object.modality ?? 'US'],
    ['00080090', 'PN', object.referringPhysician],
    ['00081030', 'LO', object.studyDescription],
    ['00100010', 'PN', object.patientName],
    ['00100020', 'LO', object.patientId],
    ['00100021', 'LO', object.issuerOfPatientId],
    ['00100030', 'DA', object.birthDate],
    ['00100040', 'CS', object.sex],
    ['001021D0', 'DA', object.lastMenstrualDate],
    ['0020000D', 'UI', studyInstanceUid],
    ['0020000E', 'UI', seriesInstanceUid],
    ['00401002', 'LO', object.reason],
    ...(object.side === undefined ? [] : greyImage(object.side)),
    ['7FE00010', 'OB', object.pixels ?? Buffer.alloc(16)],
  ];
  return Buffer.concat(
    elements.flatMap(([tag, vr, value]) => (value === undefined ? [] : [element(tag, vr, value)])),
  );
}

/** Returns the Image Pixel attributes for 8-bit grey pixels (PS3.3 C.7.6.3). */
function greyImage(side: number): [string, string, Buffer | string][] {
  const uint16 = (value: number) => Buffer.from([value & 0xff, value >> 8]);
  return [
    ['00280002', 'US', uint16(1)],
    ['00280004', 'CS', 'MONOCHROME2'],
    ['00280010', 'US', uint16(side)],
    ['00280011', 'US', uint16(side)],
    ['00280100', 'US', uint16(8)],
    ['00280101', 'US', uint16(8)],
    ['00280102', 'US', uint16(7)],
    ['00280103', 'US', uint16(0)],
  ];
}

export function dicomFile(object: SmallObject): Buffer {
  const meta = encodeFileMeta({
    sopClassUid: object.sopClassUid ?? US_IMAGE,
    sopInstanceUid: object.sopInstanceUid,
    transferSyntax: EXPLICIT_VR_LITTLE_ENDIAN,
    sourceAeTitle: 'CART',
    receivingAeTitle: 'SONOGATE',
  });
  return Buffer.concat([meta, dataSet(object)]);
}

function element(tag: string, vr: string, value: Buffer | string): Buffer {
  const bytes = typeof value === 'string' ? Buffer.from(value, 'latin1') : value;
  const padding = bytes.length % 2 === 0 ? '' : vr === 'UI' ? '\0' : ' ';
  const padded = Buffer.concat([bytes, Buffer.from(padding, 'latin1')]);
  const long = vr === 'OB';
  const header = Buffer.alloc(long ? 12 : 8);
  header.writeUInt16LE(Number.parseInt(tag.slice(0, 4), 16), 0);
  header.writeUInt16LE(Number.parseInt(tag.slice(4), 16), 2);
  header.write(vr, 4, 'latin1');
  if (long) header.writeUInt32LE(padded.length, 8);
  else header.writeUInt16LE(padded.length, 6);
  return Buffer.concat([header, padded]);
}
