import dcmjs from 'dcmjs';
import { EXPLICIT_VR_BIG_ENDIAN, IMPLICIT_VR_LITTLE_ENDIAN } from './transfer-syntaxes.ts';

/** Value representations with a 32-bit length in explicit VR (PS3.5 7.1.2). */
export const LONG_FORM: ReadonlySet<string> = new Set(
  'OB OD OF OL OV OW SQ SV UC UN UR UT UV'.split(' '),
);

/** Length of a sequence or an item that ends with a delimiter (PS3.5 7.5). */
export const UNDEFINED_LENGTH = 0xffffffff;
/** Tags of items and delimiters (PS3.5 7.5). They have no VR in any transfer syntax. */
export const ITEM = 0xfffee000;
export const ITEM_END = 0xfffee00d;
export const SEQUENCE_END = 0xfffee0dd;
/** First tag of their group. */
export const DELIMITER_GROUP = 0xfffe0000;

export interface Encoding {
  explicit: boolean;
  bigEndian: boolean;
}

/** Encoding of a value of unknown VR with an undefined length (PS3.5 6.2.2 note 2). */
export const IMPLICIT: Encoding = { explicit: false, bigEndian: false };

export function encodingOf(transferSyntax: string): Encoding {
  return {
    explicit: transferSyntax !== IMPLICIT_VR_LITTLE_ENDIAN,
    bigEndian: transferSyntax === EXPLICIT_VR_BIG_ENDIAN,
  };
}

export interface ElementHead {
  tag: number;
  /** Empty in implicit VR, and for items and delimiters. */
  vr: string;
  length: number;
  /** Number of bytes before the value. */
  size: 8 | 12;
}

/**
 * Decodes the header of a data element (PS3.5 7.1.2 and 7.1.3); null if its VR is damaged.
 * @param bytes the first eight bytes of the element.
 * @param more returns the four bytes after these, which contain the length in the long form.
 */
export function elementHead(
  bytes: Buffer,
  { explicit, bigEndian }: Encoding,
  more: () => Buffer,
): ElementHead | null {
  const uint16 = (at: number) => (bigEndian ? bytes.readUInt16BE(at) : bytes.readUInt16LE(at));
  const uint32 = (of: Buffer, at: number) =>
    bigEndian ? of.readUInt32BE(at) : of.readUInt32LE(at);
  const tag = uint16(0) * 0x10000 + uint16(2);
  if (!explicit || tag >= DELIMITER_GROUP)
    return { tag, vr: '', length: uint32(bytes, 4), size: 8 };
  const vr = bytes.toString('latin1', 4, 6);
  if (!/^[A-Z]{2}$/.test(vr)) return null;
  return LONG_FORM.has(vr)
    ? { tag, vr, length: uint32(more(), 0), size: 12 }
    : { tag, vr, length: uint16(6), size: 8 };
}

/**
 * Encodes an element header in little endian. In Implicit VR, and for items and delimiters, `vr` is
 * empty (PS3.5 7.1).
 */
export function elementHeader(tag: number, vr: string, length: number): Buffer {
  // A value that is too long for the short form is written as UN (PS3.5 6.2.2).
  const written = vr !== '' && !LONG_FORM.has(vr) && length > 0xffff ? 'UN' : vr;
  const isLong = LONG_FORM.has(written);
  const bytes = Buffer.alloc(isLong ? 12 : 8);
  bytes.writeUInt16LE(Math.floor(tag / 0x10000), 0);
  bytes.writeUInt16LE(tag % 0x10000, 2);
  bytes.write(written, 4, 'latin1');
  if (isLong) bytes.writeUInt32LE(length, 8);
  else if (written === '') bytes.writeUInt32LE(length, 4);
  else bytes.writeUInt16LE(length, 6);
  return bytes;
}

const { dictionary } = dcmjs.data.DicomMetaDictionary;

/**
 * Returns the VR of an attribute in PS3.6; null for private and other unlisted attributes. dcmjs
 * writes `xs` for US or SS, `ox` for OB or OW, and other lower-case letters likewise.
 */
export function dictionaryVr(tag: number): string | null {
  const digits = tag.toString(16).toUpperCase().padStart(8, '0');
  return dictionary[`(${digits.slice(0, 4)},${digits.slice(4)})`]?.vr ?? null;
}

const NUMBERS: Readonly<
  Record<string, { size: number; read: (bytes: Buffer, at: number, big: boolean) => number }>
> = {
  US: { size: 2, read: (b, at, big) => (big ? b.readUInt16BE(at) : b.readUInt16LE(at)) },
  SS: { size: 2, read: (b, at, big) => (big ? b.readInt16BE(at) : b.readInt16LE(at)) },
  UL: { size: 4, read: (b, at, big) => (big ? b.readUInt32BE(at) : b.readUInt32LE(at)) },
  SL: { size: 4, read: (b, at, big) => (big ? b.readInt32BE(at) : b.readInt32LE(at)) },
  FL: { size: 4, read: (b, at, big) => (big ? b.readFloatBE(at) : b.readFloatLE(at)) },
  FD: { size: 8, read: (b, at, big) => (big ? b.readDoubleBE(at) : b.readDoubleLE(at)) },
};

/** Returns the numbers in a value; null for a VR whose values are not binary numbers. */
export function numbersIn(vr: string, bytes: Buffer, bigEndian: boolean): number[] | null {
  const numbers = NUMBERS[vr === 'xs' ? 'US' : vr];
  if (!numbers) return null;
  const count = Math.floor(bytes.length / numbers.size);
  return Array.from({ length: count }, (_, index) =>
    numbers.read(bytes, index * numbers.size, bigEndian),
  );
}
