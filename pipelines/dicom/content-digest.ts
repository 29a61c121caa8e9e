import { createHash, type Hash } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';
import {
  dictionaryVr,
  type ElementHead,
  type Encoding,
  elementHead,
  elementHeader,
  encodingOf,
  IMPLICIT,
  ITEM,
  ITEM_END,
  LONG_FORM,
  SEQUENCE_END,
  UNDEFINED_LENGTH,
} from './elements.ts';
import { decodeFileMeta, MAX_META_BYTES } from './part10.ts';
import { DEFLATED_EXPLICIT_VR_LITTLE_ENDIAN } from './transfer-syntaxes.ts';

/**
 * This file computes a digest of what a data set says, whatever its encoding: archives do not return
 * an object byte for byte as they received it.
 */

/**
 * Returns the SHA-256 of the data set of a file in one encoding: Implicit VR Little Endian, undefined
 * lengths of sequences and items, no group lengths, no padding, and no offset table of encapsulated
 * pixel data. Two files with the same digest have the same elements with the same values. Pixel data
 * that was compressed, decompressed or compressed anew differs from the original.
 *
 * A data set that is deflated or damaged has the digest of its bytes. A large file blocks the thread.
 *
 * @throws SonogateError `object_not_understood` if it is not a DICOM file; the system error if the
 * file cannot be read.
 */
export function contentDigest(path: string): string {
  const file = openSync(path, 'r');
  try {
    const start = Buffer.alloc(MAX_META_BYTES);
    const { meta, dataSetOffset } = decodeFileMeta(
      start.subarray(0, readSync(file, start, 0, start.length, 0)),
    );
    if (meta.transferSyntax !== DEFLATED_EXPLICIT_VR_LITTLE_ENDIAN) {
      const walk = { bytes: new Bytes(file, dataSetOffset), hash: createHash('sha256') };
      try {
        addElements(walk, null, encodingOf(meta.transferSyntax), 0);
        return walk.hash.digest('hex');
      } catch (error) {
        if (!(error instanceof DamagedError)) throw error;
      }
    }
    const hash = createHash('sha256');
    new Bytes(file, dataSetOffset).passAll((piece) => hash.update(piece));
    return hash.digest('hex');
  } finally {
    closeSync(file);
  }
}

const CHUNK_BYTES = 256 * 1024;
const DEPTH_LIMIT = 32;
/** A longer text is not held in memory, and keeps its padding. */
const LONGEST_TEXT_BYTES = 64 * 1024;

const PIXEL_DATA = 0x7fe00010;
/** Data Set Trailing Padding (PS3.10 7.2). */
const TRAILING_PADDING = 0xfffcfffc;
/** Value representations that are padded with a space or, in a UID, with NUL (PS3.5 6.2). */
const PADDED = new Set('AE AS CS DA DS DT IS LO LT PN SH ST TM UC UI UR UT'.split(' '));

/** Size of the numbers that are reversed in big endian (PS3.5 7.3). */
const NUMBER_BYTES: Readonly<Record<string, number>> = {
  ...{ AT: 2, OW: 2, SS: 2, US: 2 },
  ...{ FL: 4, OF: 4, OL: 4, SL: 4, UL: 4 },
  ...{ FD: 8, OD: 8, OV: 8, SV: 8, UV: 8 },
};

class DamagedError extends Error {
  override name = 'DamagedError';
}

/** Reads the bytes of a file in order. */
class Bytes {
  readonly #file: number;
  readonly #buffer = Buffer.alloc(CHUNK_BYTES);
  #chunk = this.#buffer.subarray(0, 0);
  #next: number;
  /** Number of bytes read. */
  offset = 0;

  constructor(file: number, start: number) {
    this.#file = file;
    this.#next = start;
  }

  atEnd(): boolean {
    if (this.#chunk.length > 0) return false;
    const read = readSync(this.#file, this.#buffer, 0, CHUNK_BYTES, this.#next);
    this.#next += read;
    this.#chunk = this.#buffer.subarray(0, read);
    return read === 0;
  }

  /** Passes the next bytes on, in pieces that are valid only during the call. */
  pass(length: number, use: (piece: Buffer) => void): void {
    for (let left = length; left > 0; ) {
      if (this.atEnd()) throw new DamagedError();
      const piece = this.#chunk.subarray(0, left);
      this.#chunk = this.#chunk.subarray(piece.length);
      this.offset += piece.length;
      left -= piece.length;
      use(piece);
    }
  }

  passAll(use: (piece: Buffer) => void): void {
    while (!this.atEnd()) this.pass(this.#chunk.length, use);
  }

  take(length: number): Buffer {
    const taken = Buffer.alloc(length);
    let filled = 0;
    this.pass(length, (piece) => {
      filled += piece.copy(taken, filled);
    });
    return taken;
  }
}

interface Walk {
  bytes: Bytes;
  hash: Hash;
}

function nextElement({ bytes }: Walk, encoding: Encoding): ElementHead {
  const start = bytes.take(8);
  const isLong = encoding.explicit && LONG_FORM.has(start.toString('latin1', 4, 6));
  const more = isLong ? bytes.take(4) : start;
  const head = elementHead(start, encoding, () => more);
  if (!head) throw new DamagedError();
  return head;
}

/**
 * Adds the elements of a data set or of an item.
 *
 * @param end the offset after the last element; null if they end with a delimiter or, at depth 0,
 * with the file.
 */
function addElements(walk: Walk, end: number | null, encoding: Encoding, depth: number): void {
  const { bytes } = walk;
  if (depth > DEPTH_LIMIT) throw new DamagedError();
  while (depth === 0 ? !bytes.atEnd() : end === null || bytes.offset < end) {
    const element = nextElement(walk, encoding);
    if (element.tag === ITEM_END && end === null && depth > 0) return;
    if (element.tag >= ITEM && element.tag <= SEQUENCE_END) throw new DamagedError();
    addElement(walk, element, encoding, depth);
  }
  if (end !== null && bytes.offset > end) throw new DamagedError();
}

function addElement(
  walk: Walk,
  { tag, vr, length }: ElementHead,
  encoding: Encoding,
  depth: number,
): void {
  const { bytes, hash } = walk;
  const known = dictionaryVr(tag);
  if (tag === PIXEL_DATA && length === UNDEFINED_LENGTH) {
    addFragments(walk, encoding);
    return;
  }
  if (vr === 'SQ' || known === 'SQ' || length === UNDEFINED_LENGTH) {
    hash.update(elementHeader(tag, '', UNDEFINED_LENGTH));
    // A sequence of unknown VR is encoded in Implicit VR (PS3.5 6.2.2 note 2).
    addItems(walk, length, vr === 'UN' ? IMPLICIT : encoding, depth + 1);
    hash.update(elementHeader(SEQUENCE_END, '', 0));
    return;
  }
  if (tag % 0x10000 === 0 || tag === TRAILING_PADDING) {
    bytes.pass(length, () => {});
    return;
  }
  if (known !== null && PADDED.has(known) && length <= LONGEST_TEXT_BYTES) {
    const text = withoutPadding(bytes.take(length));
    hash.update(elementHeader(tag, '', text.length)).update(text);
    return;
  }
  hash.update(elementHeader(tag, '', length));
  const numberBytes = encoding.bigEndian ? NUMBER_BYTES[vr] : undefined;
  if (numberBytes !== undefined) addReversed(walk, length, numberBytes);
  else bytes.pass(length, (piece) => hash.update(piece));
}

function addReversed({ bytes, hash }: Walk, length: number, size: number): void {
  if (length % size !== 0) throw new DamagedError();
  for (let left = length; left > 0; ) {
    const block = bytes.take(Math.min(left, CHUNK_BYTES));
    if (size === 2) block.swap16();
    else if (size === 4) block.swap32();
    else block.swap64();
    hash.update(block);
    left -= block.length;
  }
}

function withoutPadding(text: Buffer): Buffer {
  let end = text.length;
  while (end > 0 && (text[end - 1] === 0x20 || text[end - 1] === 0)) end -= 1;
  return text.subarray(0, end);
}

function addItems(walk: Walk, length: number, encoding: Encoding, depth: number): void {
  const { bytes, hash } = walk;
  const end = length === UNDEFINED_LENGTH ? null : bytes.offset + length;
  while (end === null || bytes.offset < end) {
    const item = nextElement(walk, encoding);
    if (item.tag === SEQUENCE_END && end === null) return;
    if (item.tag !== ITEM) throw new DamagedError();
    hash.update(elementHeader(ITEM, '', UNDEFINED_LENGTH));
    const itemEnd = item.length === UNDEFINED_LENGTH ? null : bytes.offset + item.length;
    addElements(walk, itemEnd, encoding, depth);
    hash.update(elementHeader(ITEM_END, '', 0));
  }
  if (bytes.offset > end) throw new DamagedError();
}

/** Adds encapsulated pixel data as one stream of bytes (PS3.5 A.4). */
function addFragments(walk: Walk, encoding: Encoding): void {
  const { bytes, hash } = walk;
  hash.update(elementHeader(PIXEL_DATA, '', UNDEFINED_LENGTH));
  for (let isOffsetTable = true; ; isOffsetTable = false) {
    const { tag, length } = nextElement(walk, encoding);
    if (tag === SEQUENCE_END) break;
    if (tag !== ITEM || length === UNDEFINED_LENGTH) throw new DamagedError();
    bytes.pass(length, isOffsetTable ? () => {} : (piece) => hash.update(piece));
  }
  hash.update(elementHeader(SEQUENCE_END, '', 0));
}
