import { type AttributeName, type ItemAttributeName, valueKind } from './dicom-attributes.ts';

export type HeaderValue = string | number[] | Buffer;

/** A damaged value may reach a sentence for a person: nothing but printable characters stays. */
function printable(bytes: Buffer): string {
  return bytes
    .toString('latin1')
    .replace(/[\0 ]+$/, '')
    .replaceAll(/[^ -~]/g, '?')
    .trim();
}

/** The value of a kept attribute, of its own memory; `words` says that its bytes are OW. */
export function decodeValue(
  bytes: Buffer,
  name: AttributeName | ItemAttributeName,
  bigEndian: boolean,
  words: boolean,
): HeaderValue {
  const numbers = (size: number, at: (offset: number) => number) =>
    Array.from({ length: Math.floor(bytes.length / size) }, (_, index) => at(index * size));
  const uint16 = (at: number) => (bigEndian ? bytes.readUInt16BE(at) : bytes.readUInt16LE(at));
  switch (valueKind(name)) {
    case 'us':
      return numbers(2, uint16);
    case 'at':
      return numbers(2, uint16)
        .map((half) => half.toString(16).toUpperCase().padStart(4, '0'))
        .join('');
    case 'ul':
      return numbers(4, (at) => (bigEndian ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at)));
    case 'sl':
      return numbers(4, (at) => (bigEndian ? bytes.readInt32BE(at) : bytes.readInt32LE(at)));
    case 'fl':
      return numbers(4, (at) => (bigEndian ? bytes.readFloatBE(at) : bytes.readFloatLE(at)));
    case 'fd':
      return numbers(8, (at) => (bigEndian ? bytes.readDoubleBE(at) : bytes.readDoubleLE(at)));
    case 'bytes':
      return bigEndian && words && bytes.length % 2 === 0
        ? Buffer.from(bytes).swap16()
        : Buffer.from(bytes);
    case 'text':
      return printable(bytes);
  }
}
