import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createInflateRaw } from 'node:zlib';
import { data, type NaturalDataset, type TagDataset, type TagElement } from 'dcmjs';
import { SonogateError } from '../../src/platform/errors/catalogue.ts';
import {
  elementHeader,
  ITEM,
  ITEM_END,
  LONG_FORM,
  SEQUENCE_END,
  UNDEFINED_LENGTH,
} from './elements.ts';
import { IMPLEMENTATION_CLASS_UID, IMPLEMENTATION_VERSION } from './implementation.ts';
import {
  DEFLATED_EXPLICIT_VR_LITTLE_ENDIAN,
  EXPLICIT_VR_BIG_ENDIAN,
  EXPLICIT_VR_LITTLE_ENDIAN,
  IMPLICIT_VR_LITTLE_ENDIAN,
} from './transfer-syntaxes.ts';

/** File meta information of a DICOM file (PS3.10 7.1). */
export interface FileMeta {
  sopClassUid: string;
  sopInstanceUid: string;
  transferSyntax: string;
  /** AE that sent the object to us (0002,0016). */
  sourceAeTitle: string;
  /** Our AE that received the object (0002,0018). */
  receivingAeTitle: string;
}

const PREAMBLE_LENGTH = 128;
const PREFIX = 'DICM';
/**
 * Offset at which the file meta information begins: after the preamble of 128 bytes and the prefix
 * `DICM` (PS3.10 7.1).
 */
export const PREFIX_END = PREAMBLE_LENGTH + PREFIX.length;
/**
 * Number of bytes read to decode the file meta information, including private information. No file
 * seen so far needs more.
 */
export const MAX_META_BYTES = 64 * 1024;

/**
 * Encodes the preamble and the file meta information that precede the data set of a received
 * object.
 */
export function encodeFileMeta(meta: FileMeta): Buffer {
  return startOfFile(meta, [
    metaElement(0x0016, 'AE', padded(meta.sourceAeTitle, ' ')),
    metaElement(0x0018, 'AE', padded(meta.receivingAeTitle, ' ')),
  ]);
}

function startOfFile(
  { sopClassUid, sopInstanceUid, transferSyntax }: Omit<FileMeta, `${string}AeTitle`>,
  titles: readonly Buffer[] = [],
): Buffer {
  const elements = Buffer.concat([
    metaElement(0x0001, 'OB', Buffer.from([0, 1])),
    metaElement(0x0002, 'UI', padded(sopClassUid, '\0')),
    metaElement(0x0003, 'UI', padded(sopInstanceUid, '\0')),
    metaElement(0x0010, 'UI', padded(transferSyntax, '\0')),
    metaElement(0x0012, 'UI', padded(IMPLEMENTATION_CLASS_UID, '\0')),
    metaElement(0x0013, 'SH', padded(IMPLEMENTATION_VERSION, ' ')),
    ...titles,
  ]);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(elements.length);
  return Buffer.concat([
    Buffer.alloc(PREAMBLE_LENGTH),
    Buffer.from(PREFIX, 'latin1'),
    metaElement(0x0000, 'UL', length),
    elements,
  ]);
}

/**
 * Decodes the file meta information at the start of a file.
 *
 * @returns the file meta information, and the offset at which the data set begins.
 *
 * @throws SonogateError `object_not_understood` if it is not a DICOM file.
 */
export function decodeFileMeta(bytes: Buffer): { meta: FileMeta; dataSetOffset: number } {
  if (!hasPreamble(bytes)) {
    throw new SonogateError('object_not_understood', 'The file has no DICOM prefix.');
  }
  const values = new Map<number, string>();
  let offset = PREFIX_END;
  // The elements are read until the group changes, because some writers set the group length
  // incorrectly.
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

/**
 * Reads the file meta information of a file.
 * @throws SonogateError `object_not_understood` if it is not a DICOM file.
 */
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
  const bytes = Buffer.from(text);
  return bytes.length % 2 === 0 ? bytes : Buffer.from(text + padding);
}

const metaElement = (number: number, vr: string, value: Buffer): Buffer =>
  Buffer.concat([elementHeader(0x00020000 + number, vr, value.length), value]);

/** First bytes of a DICOM file, in a buffer that does not share its memory. */
interface FileStart {
  start: Buffer<ArrayBuffer>;
  whole: boolean;
}

/**
 * Returns the start of a DICOM file, inflated if the file is deflated. Only the requested bytes are
 * inflated, because one deflated megabyte can expand to a thousand.
 *
 * @param limit number of bytes of the file, or of the inflated data set.
 *
 * @throws SonogateError `object_not_understood`.
 */
export async function fileStart(path: string, limit: number): Promise<FileStart> {
  const { start, whole } = await firstBytes(path, limit);
  const { meta, dataSetOffset } = decodeFileMeta(start);
  if (meta.transferSyntax !== DEFLATED_EXPLICIT_VR_LITTLE_ENDIAN) return { start, whole };
  const plainMeta = encodeFileMeta({ ...meta, transferSyntax: EXPLICIT_VR_LITTLE_ENDIAN });
  const inflated = await firstInflated(path, dataSetOffset, limit);
  return { start: joined([plainMeta, ...inflated.chunks]), whole: inflated.whole };
}

/** Returns the first `limit` bytes of a file. */
export async function firstBytes(path: string, limit: number): Promise<FileStart> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const start = Buffer.alloc(Math.min(limit, size));
    await file.read(start, 0, start.length, 0);
    return { start, whole: start.length === size };
  } finally {
    await file.close();
  }
}

/**
 * Inflates the data set, which begins at `offset`, until at least `limit` bytes are inflated. The
 * file meta information before it is not deflated (PS3.5 A.5).
 */
async function firstInflated(
  path: string,
  offset: number,
  limit: number,
): Promise<{ chunks: Buffer[]; whole: boolean }> {
  const source = createReadStream(path, { start: offset });
  const dataSet = source.pipe(createInflateRaw());
  source.once('error', (error) => dataSet.destroy(error));
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of dataSet as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= limit) return { chunks, whole: false };
    }
    return { chunks, whole: true };
  } catch (error) {
    if (error instanceof Error && 'syscall' in error) throw error;
    throw new SonogateError('object_not_understood', 'The deflated data set is damaged.', {
      cause: error,
    });
  } finally {
    source.destroy();
  }
}

/**
 * Joins buffers in newly allocated memory. `Buffer.concat` may use pooled memory, and dcmjs would
 * then read beyond the buffer.
 */
function joined(parts: readonly Buffer[]): Buffer<ArrayBuffer> {
  const whole = Buffer.alloc(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) at += part.copy(whole, at);
  return whole;
}

/**
 * Encodes a data set by keyword as a DICOM Part 10 file in Explicit VR Little Endian, with text in
 * UTF-8. `dataset` must contain at least SOPClassUID and SOPInstanceUID. Its `_vrMap` contains the
 * VR of elements that can have several VRs (Pixel Data). A value of the source images that is longer
 * than its VR permits, such as a name, is kept, because a PACS files an object by the same values.
 */
export function encodePart10(dataset: NaturalDataset): Buffer {
  const meta = {
    sopClassUid: String(dataset.SOPClassUID),
    sopInstanceUid: String(dataset.SOPInstanceUID),
    transferSyntax: EXPLICIT_VR_LITTLE_ENDIAN,
  };
  const parts = [startOfFile(meta)];
  addElements(parts, data.DicomMetaDictionary.denaturalizeDataset(dataset));
  return joined(parts);
}

/**
 * Appends the elements of a data set in Explicit VR Little Endian, in the order of their tags.
 * Sequences and items have undefined lengths. This is done here because dcmjs copies each element
 * once for each sequence around it, and takes several times as long.
 */
function addElements(parts: Buffer[], dataSet: TagDataset): void {
  for (const tag of Object.keys(dataSet).sort()) {
    const element = dataSet[tag];
    if (!element) continue;
    const number = Number.parseInt(tag, 16);
    if (element.vr === 'SQ') {
      parts.push(elementHeader(number, 'SQ', UNDEFINED_LENGTH));
      for (const item of element.Value ?? []) {
        parts.push(elementHeader(ITEM, '', UNDEFINED_LENGTH));
        addElements(parts, item as TagDataset);
        parts.push(elementHeader(ITEM_END, '', 0));
      }
      parts.push(elementHeader(SEQUENCE_END, '', 0));
    } else {
      const value = valueBytes(element);
      parts.push(elementHeader(number, element.vr, value.length), value);
    }
  }
}

const BINARY = new Set(['OB', 'OW', 'UN']);

/** Size of each number, and the function that writes it. */
const NUMBERS: Readonly<
  Record<string, { size: number; write(bytes: Buffer, value: number, at: number): void }>
> = {
  // An attribute tag is two words, first its group.
  AT: {
    size: 4,
    write(bytes, value, at) {
      bytes.writeUInt16LE(value >>> 16, at);
      bytes.writeUInt16LE(value & 0xffff, at + 2);
    },
  },
  FD: { size: 8, write: (bytes, value, at) => bytes.writeDoubleLE(value, at) },
  FL: { size: 4, write: (bytes, value, at) => bytes.writeFloatLE(value, at) },
  SL: { size: 4, write: (bytes, value, at) => bytes.writeInt32LE(value, at) },
  SS: { size: 2, write: (bytes, value, at) => bytes.writeInt16LE(value, at) },
  UL: { size: 4, write: (bytes, value, at) => bytes.writeUInt32LE(value, at) },
  US: { size: 2, write: (bytes, value, at) => bytes.writeUInt16LE(value, at) },
};

/** Encodes the values of an element that is not a sequence. */
function valueBytes({ vr, Value }: TagElement): Buffer {
  const values = Value ?? [];
  if (BINARY.has(vr)) return Buffer.from(values[0] as ArrayBuffer);
  const number = NUMBERS[vr];
  if (!number) return padded(values.map(textOf).join('\\'), vr === 'UI' ? '\0' : ' ');
  const bytes = Buffer.alloc(number.size * values.length);
  for (const [index, value] of values.entries()) {
    number.write(bytes, Number(value), index * number.size);
  }
  return bytes;
}

const textOf = (value: unknown): string => (value === null ? '' : String(value));

/** Wraps bytes as the value of an OB element, padded to an even length (PS3.5 7.1.1). */
export function evenBytes(bytes: Uint8Array): ArrayBuffer[] {
  const even = new Uint8Array(bytes.length + (bytes.length % 2));
  even.set(bytes);
  return [even.buffer];
}

/** Value representations expected of the first element of a data set, which is in group 0008. */
const FIRST_REPRESENTATIONS = /^(AE|CS|DA|DT|LO|PN|SH|SQ|ST|TM|UI|UL|UN)$/;
const LAST_ELEMENT_OF_0008 = 0x9999;
/**
 * Maximum length in bytes of the first value in a data set, which is a group length, a character
 * set, an image type or a UID.
 */
const LONGEST_FIRST_VALUE = 1024;

/** Returns true if the bytes begin with the preamble and prefix of PS3.10 7.1. */
export function hasPreamble(head: Buffer): boolean {
  return head.toString('latin1', PREAMBLE_LENGTH, PREFIX_END) === PREFIX;
}

/**
 * Guesses the transfer syntax of a data set that has no file meta information, from its first
 * element, which is in group 0008. Returns null if the bytes are not such an element.
 */
export function guessTransferSyntax(head: Buffer): string | null {
  if (head.length < 8) return null;
  const explicit = FIRST_REPRESENTATIONS.test(head.toString('latin1', 4, 6));
  if (head.readUInt16BE(0) === 8) return explicit ? EXPLICIT_VR_BIG_ENDIAN : null;
  if (head.readUInt16LE(0) !== 8 || head.readUInt16LE(2) > LAST_ELEMENT_OF_0008) return null;
  if (explicit) return EXPLICIT_VR_LITTLE_ENDIAN;
  return head.readUInt32LE(4) <= LONGEST_FIRST_VALUE ? IMPLICIT_VR_LITTLE_ENDIAN : null;
}

/**
 * Returns true if the first bytes belong to a DICOM file. This may be a PS3.10 preamble, file meta
 * information without a preamble, or a bare data set. The last two are stored by old writers and
 * some archives.
 */
export function isDicom(head: Buffer): boolean {
  const meta =
    head.length >= 8 && head.readUInt16LE(0) === 2 && head.toString('latin1', 4, 6) === 'UL';
  return hasPreamble(head) || meta || guessTransferSyntax(head) !== null;
}
