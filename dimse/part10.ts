import { open } from 'node:fs/promises';
import {
  IMPLEMENTATION_CLASS_UID,
  IMPLEMENTATION_VERSION,
} from '../pipelines/artifacts/implementation.ts';
import { SonogateError } from '../src/errors/catalogue.ts';

/** File meta information of a DICOM file (PS3.10 7.1). */
export interface FileMeta {
  sopClassUid: string;
  sopInstanceUid: string;
  transferSyntax: string;
  /** (0002,0016): who sent the object to us. */
  sourceAeTitle: string;
  /** (0002,0018): the AE title of ours that took it. */
  receivingAeTitle: string;
}

const PREAMBLE_BYTES = 128;
const MAGIC = 'DICM';
/** Enough for any file meta information that is met; private information may stand in it. */
export const MAX_META_BYTES = 64 * 1024;

/** Explicit representations with a 32-bit length (PS3.5 7.1.2). */
const LONG_FORM = new Set(['OB', 'OD', 'OF', 'OL', 'OV', 'OW', 'SQ', 'UC', 'UN', 'UR', 'UT']);

/** Preamble and file meta information; the data set follows as it was received. */
export function encodeFileMeta(meta: FileMeta): Buffer {
  const elements = Buffer.concat([
    element(0x0001, 'OB', Buffer.from([0, 1])),
    element(0x0002, 'UI', padded(meta.sopClassUid, '\0')),
    element(0x0003, 'UI', padded(meta.sopInstanceUid, '\0')),
    element(0x0010, 'UI', padded(meta.transferSyntax, '\0')),
    element(0x0012, 'UI', padded(IMPLEMENTATION_CLASS_UID, '\0')),
    element(0x0013, 'SH', padded(IMPLEMENTATION_VERSION, ' ')),
    element(0x0016, 'AE', padded(meta.sourceAeTitle, ' ')),
    element(0x0018, 'AE', padded(meta.receivingAeTitle, ' ')),
  ]);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(elements.length);
  return Buffer.concat([
    Buffer.alloc(PREAMBLE_BYTES),
    Buffer.from(MAGIC, 'latin1'),
    element(0x0000, 'UL', length),
    elements,
  ]);
}

/**
 * Reads the file meta information at the start of a file.
 * @returns the meta and the offset at which the data set begins.
 * @throws SonogateError `object_not_understood` when it is no DICOM file.
 */
export function decodeFileMeta(bytes: Buffer): { meta: FileMeta; dataSetOffset: number } {
  if (bytes.toString('latin1', PREAMBLE_BYTES, PREAMBLE_BYTES + 4) !== MAGIC) {
    throw new SonogateError('object_not_understood', 'The file has no DICOM prefix.');
  }
  const values = new Map<number, string>();
  let offset = PREAMBLE_BYTES + 4;
  // Walked to the first element of another group: some writers get the group length wrong.
  while (offset + 8 <= bytes.length && bytes.readUInt16LE(offset) === 0x0002) {
    const number = bytes.readUInt16LE(offset + 2);
    const long = LONG_FORM.has(bytes.toString('latin1', offset + 4, offset + 6));
    if (long && offset + 12 > bytes.length) break;
    const start = offset + (long ? 12 : 8);
    const end = start + (long ? bytes.readUInt32LE(offset + 8) : bytes.readUInt16LE(offset + 6));
    if (end > bytes.length) break;
    values.set(number, bytes.toString('latin1', start, end).replace(/[\0 ]+$/, ''));
    offset = end;
  }
  const meta: FileMeta = {
    sopClassUid: values.get(0x0002) ?? '',
    sopInstanceUid: values.get(0x0003) ?? '',
    transferSyntax: values.get(0x0010) ?? '',
    sourceAeTitle: values.get(0x0016) ?? '',
    receivingAeTitle: values.get(0x0018) ?? '',
  };
  if (!meta.sopClassUid || !meta.sopInstanceUid || !meta.transferSyntax) {
    throw new SonogateError('object_not_understood', 'The file meta information is incomplete.');
  }
  return { meta, dataSetOffset: offset };
}

/** @throws SonogateError `object_not_understood` when it is no DICOM file. */
export async function readFileMeta(
  path: string,
): Promise<{ meta: FileMeta; dataSetOffset: number; bytes: number }> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(
      Buffer.alloc(MAX_META_BYTES),
      0,
      MAX_META_BYTES,
      0,
    );
    const { size } = await file.stat();
    return { ...decodeFileMeta(buffer.subarray(0, bytesRead)), bytes: size };
  } finally {
    await file.close();
  }
}

function padded(text: string, padding: string): Buffer {
  return Buffer.from(text.length % 2 === 0 ? text : text + padding, 'latin1');
}

function element(number: number, representation: string, value: Buffer): Buffer {
  const long = LONG_FORM.has(representation);
  const header = Buffer.alloc(long ? 12 : 8);
  header.writeUInt16LE(0x0002, 0);
  header.writeUInt16LE(number, 2);
  header.write(representation, 4, 'latin1');
  if (long) header.writeUInt32LE(value.length, 8);
  else header.writeUInt16LE(value.length, 6);
  return Buffer.concat([header, value]);
}
