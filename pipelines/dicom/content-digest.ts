import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
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
import { readFileMeta } from './part10.ts';
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
 * A data set that is deflated or damaged has the digest of its bytes.
 *
 * @throws SonogateError `object_not_understood` if it is not a DICOM file; the system error if the
 * file cannot be read.
 */
export async function contentDigest(path: string): Promise<string> {
  const { meta, dataSetOffset } = await readFileMeta(path);
  const source = () => createReadStream(path, { start: dataSetOffset, highWaterMark: CHUNK_BYTES });
  if (meta.transferSyntax !== DEFLATED_EXPLICIT_VR_LITTLE_ENDIAN) {
    const bytes = source();
    const walk = { bytes: new Bytes(bytes), hash: createHash('sha256') };
    try {
      await addElements(walk, null, encodingOf(meta.transferSyntax), 0);
      return walk.hash.digest('hex');
    } catch (error) {
      if (!(error instanceof DamagedError)) throw error;
    } finally {
      bytes.destroy();
    }
  }
  const hash = createHash('sha256');
  for await (const chunk of source()) hash.update(chunk as Buffer);
  return hash.digest('hex');
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

/** Reads the bytes of a data set in order. */
class Bytes {
  readonly #source: AsyncIterator<Buffer>;
  #chunk: Buffer = Buffer.alloc(0);
  /** Number of bytes read. */
  offset = 0;

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  async atEnd(): Promise<boolean> {
    while (this.#chunk.length === 0) {
      const { done, value } = await this.#source.next();
      if (done) return true;
      this.#chunk = value;
    }
    return false;
  }

  /** Passes the next bytes on, in pieces. */
  async pass(length: number, use: (piece: Buffer) => void): Promise<void> {
    for (let left = length; left > 0; ) {
      if (await this.atEnd()) throw new DamagedError();
      const piece = this.#chunk.subarray(0, left);
      this.#chunk = this.#chunk.subarray(piece.length);
      this.offset += piece.length;
      left -= piece.length;
      use(piece);
    }
  }

  async take(length: number): Promise<Buffer> {
    if (this.#chunk.length < length) {
      const pieces: Buffer[] = [];
      await this.pass(length, (piece) => pieces.push(piece));
      return Buffer.concat(pieces);
    }
    const taken = this.#chunk.subarray(0, length);
    this.#chunk = this.#chunk.subarray(length);
    this.offset += length;
    return taken;
  }
}

interface Walk {
  bytes: Bytes;
  hash: Hash;
}

async function nextElement({ bytes }: Walk, encoding: Encoding): Promise<ElementHead> {
  const start = await bytes.take(8);
  const isLong = encoding.explicit && LONG_FORM.has(start.toString('latin1', 4, 6));
  const more = isLong ? await bytes.take(4) : start;
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
async function addElements(
  walk: Walk,
  end: number | null,
  encoding: Encoding,
  depth: number,
): Promise<void> {
  const { bytes } = walk;
  if (depth > DEPTH_LIMIT) throw new DamagedError();
  while (depth === 0 ? !(await bytes.atEnd()) : end === null || bytes.offset < end) {
    const element = await nextElement(walk, encoding);
    if (element.tag === ITEM_END && end === null && depth > 0) return;
    if (element.tag >= ITEM && element.tag <= SEQUENCE_END) throw new DamagedError();
    await addElement(walk, element, encoding, depth);
  }
  if (end !== null && bytes.offset > end) throw new DamagedError();
}

async function addElement(
  walk: Walk,
  { tag, vr, length }: ElementHead,
  encoding: Encoding,
  depth: number,
): Promise<void> {
  const { bytes, hash } = walk;
  const known = dictionaryVr(tag);
  if (tag === PIXEL_DATA && length === UNDEFINED_LENGTH) return addFragments(walk, encoding);
  if (vr === 'SQ' || known === 'SQ' || length === UNDEFINED_LENGTH) {
    hash.update(elementHeader(tag, '', UNDEFINED_LENGTH));
    // A sequence of unknown VR is encoded in Implicit VR (PS3.5 6.2.2 note 2).
    await addItems(walk, length, vr === 'UN' ? IMPLICIT : encoding, depth + 1);
    hash.update(elementHeader(SEQUENCE_END, '', 0));
    return;
  }
  if (tag % 0x10000 === 0 || tag === TRAILING_PADDING) return bytes.pass(length, () => {});
  if (known !== null && PADDED.has(known) && length <= LONGEST_TEXT_BYTES) {
    const text = withoutPadding(await bytes.take(length));
    hash.update(elementHeader(tag, '', text.length)).update(text);
    return;
  }
  hash.update(elementHeader(tag, '', length));
  const numberBytes = encoding.bigEndian ? NUMBER_BYTES[vr] : undefined;
  if (numberBytes !== undefined) return addReversed(walk, length, numberBytes);
  await bytes.pass(length, (piece) => hash.update(piece));
}

async function addReversed({ bytes, hash }: Walk, length: number, size: number): Promise<void> {
  if (length % size !== 0) throw new DamagedError();
  for (let left = length; left > 0; ) {
    const block = Buffer.from(await bytes.take(Math.min(left, CHUNK_BYTES)));
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

async function addItems(
  walk: Walk,
  length: number,
  encoding: Encoding,
  depth: number,
): Promise<void> {
  const { bytes, hash } = walk;
  const end = length === UNDEFINED_LENGTH ? null : bytes.offset + length;
  while (end === null || bytes.offset < end) {
    const item = await nextElement(walk, encoding);
    if (item.tag === SEQUENCE_END && end === null) return;
    if (item.tag !== ITEM) throw new DamagedError();
    hash.update(elementHeader(ITEM, '', UNDEFINED_LENGTH));
    const itemEnd = item.length === UNDEFINED_LENGTH ? null : bytes.offset + item.length;
    await addElements(walk, itemEnd, encoding, depth);
    hash.update(elementHeader(ITEM_END, '', 0));
  }
  if (bytes.offset > end) throw new DamagedError();
}

/** Adds encapsulated pixel data as one stream of bytes (PS3.5 A.4). */
async function addFragments(walk: Walk, encoding: Encoding): Promise<void> {
  const { bytes, hash } = walk;
  hash.update(elementHeader(PIXEL_DATA, '', UNDEFINED_LENGTH));
  for (let isOffsetTable = true; ; isOffsetTable = false) {
    const { tag, length } = await nextElement(walk, encoding);
    if (tag === SEQUENCE_END) break;
    if (tag !== ITEM || length === UNDEFINED_LENGTH) throw new DamagedError();
    await bytes.pass(length, isOffsetTable ? () => {} : (piece) => hash.update(piece));
  }
  hash.update(elementHeader(SEQUENCE_END, '', 0));
}
