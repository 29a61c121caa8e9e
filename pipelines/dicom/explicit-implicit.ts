import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { SonogateError } from '../../src/platform/errors/catalogue.ts';
import { HEADER_LIMITS } from './bounded-header.ts';
import {
  dictionaryVr,
  type ElementHead,
  elementHead,
  elementHeader,
  ITEM,
  ITEM_END,
  LONG_FORM,
  SEQUENCE_END,
  UNDEFINED_LENGTH,
} from './elements.ts';
import { readFileMeta } from './part10.ts';
import { EXPLICIT_VR_LITTLE_ENDIAN, IMPLICIT_VR_LITTLE_ENDIAN } from './transfer-syntaxes.ts';

/**
 * This file converts data sets between Explicit and Implicit VR Little Endian. Values keep their
 * bytes; only the element headers are rewritten. Sequences and items get an undefined length,
 * because their length changes.
 */

/** For each of the two uncompressed little-endian transfer syntaxes, the other one. */
export const OTHER_LITTLE_ENDIAN: Readonly<Record<string, string>> = {
  [IMPLICIT_VR_LITTLE_ENDIAN]: EXPLICIT_VR_LITTLE_ENDIAN,
  [EXPLICIT_VR_LITTLE_ENDIAN]: IMPLICIT_VR_LITTLE_ENDIAN,
};

/** Bytes, or a range of the file that is read on demand. */
type Piece = Buffer | { from: number; length: number };

interface Converted {
  sopClassUid: string;
  sopInstanceUid: string;
  transferSyntax: string;
  bytes: number;
  read(size: number): AsyncIterable<Buffer>;
}

/**
 * Opens a file in Explicit or Implicit VR Little Endian as an object in the other transfer syntax.
 * Long values stay on the disk.
 *
 * @throws SonogateError `object_not_understood` if it is not such a file, or is damaged.
 */
export async function convertedFile(path: string): Promise<Converted> {
  const { meta, dataSetOffset, bytes: size } = await readFileMeta(path);
  const transferSyntax = OTHER_LITTLE_ENDIAN[meta.transferSyntax];
  if (!transferSyntax) throw damaged('is not in Explicit or Implicit VR Little Endian');
  const file = await open(path);
  try {
    const window = { start: 0, bytes: Buffer.alloc(0) };
    const read: ReadBytes = async (from, length) => {
      if (from + length > size) throw damaged('ends within an element');
      if (from < window.start || from + length > window.start + window.bytes.length) {
        window.bytes = Buffer.alloc(Math.max(length, Math.min(WINDOW_BYTES, size - from)));
        await file.read(window.bytes, 0, window.bytes.length, from);
        window.start = from;
      }
      return window.bytes.subarray(from - window.start, from - window.start + length);
    };
    const pieces: Piece[] = [];
    const toExplicit = transferSyntax === EXPLICIT_VR_LITTLE_ENDIAN;
    const walk = { read, pieces, toExplicit, elements: 0 };
    await convertElements(walk, { from: dataSetOffset, to: size }, { isSigned: false, depth: 0 });
    return {
      sopClassUid: meta.sopClassUid,
      sopInstanceUid: meta.sopInstanceUid,
      transferSyntax,
      bytes: pieces.reduce((sum, { length }) => sum + length, 0),
      read: (most) => inFragments(joined(path, pieces), most),
    };
  } finally {
    await file.close();
  }
}

const WINDOW_BYTES = 256 * 1024;
/**
 * Values up to this length are copied, so that the file need not be reopened for each short value.
 */
const COPIED_BYTES = 64 * 1024;

type ReadBytes = (from: number, length: number) => Promise<Buffer>;

interface Walk {
  read: ReadBytes;
  pieces: Piece[];
  toExplicit: boolean;
  elements: number;
}

interface Scope {
  /**
   * True if the pixels of the data set are signed. This determines whether SS or US is used (PS3.5
   * A.1).
   */
  isSigned: boolean;
  depth: number;
}

const PIXEL_REPRESENTATION = 0x00280103;

function damaged(why: string): SonogateError {
  return new SonogateError('object_not_understood', `The data set ${why}.`);
}

interface Element extends ElementHead {
  /** Offset of the value. */
  value: number;
}

async function elementAt(walk: Walk, at: number, isExplicit: boolean): Promise<Element> {
  walk.elements += 1;
  if (walk.elements > HEADER_LIMITS.elements) throw damaged('has too many elements');
  const bytes = await walk.read(at, 8);
  const encoding = { explicit: isExplicit, bigEndian: false };
  const isLong = isExplicit && LONG_FORM.has(bytes.toString('latin1', 4, 6));
  const more = isLong ? await walk.read(at + 8, 4) : bytes;
  const head = elementHead(bytes, encoding, () => more);
  if (!head) throw damaged('has an element without a value representation');
  return { ...head, value: at + head.size };
}

/**
 * Converts the elements of a data set. If `to` is null, it converts the elements of an item of
 * undefined length up to its delimiter.
 *
 * @returns the offset after the last of these elements.
 */
async function convertElements(
  walk: Walk,
  { from, to }: { from: number; to: number | null },
  outer: Scope,
): Promise<number> {
  if (outer.depth > HEADER_LIMITS.depth) throw damaged('is nested too deep');
  const scope = { ...outer };
  let at = from;
  while (to === null || at < to) {
    const element = await elementAt(walk, at, !walk.toExplicit);
    if (element.tag >= ITEM && element.tag <= SEQUENCE_END) {
      if (to === null && element.tag === ITEM_END) return element.value;
      throw damaged('has a delimiter outside a sequence');
    }
    if (element.tag === PIXEL_REPRESENTATION && element.length === 2) {
      scope.isSigned = (await walk.read(element.value, 2)).readUInt16LE(0) === 1;
    }
    at = await convertElement(walk, element, scope);
  }
  if (at > to) throw damaged('has an element that is longer than its item');
  return at;
}

async function convertElement(walk: Walk, element: Element, scope: Scope): Promise<number> {
  const { tag, length, value } = element;
  const vr = walk.toExplicit ? vrOf(tag, scope) : element.vr;
  if (vr === 'SQ') {
    put(walk, elementHeader(tag, walk.toExplicit ? 'SQ' : '', UNDEFINED_LENGTH));
    const end = await convertItems(walk, value, length, scope);
    put(walk, elementHeader(SEQUENCE_END, '', 0));
    return end;
  }
  if (length === UNDEFINED_LENGTH) {
    // Only a sequence of unknown VR (UN) may have an undefined length here. It is copied, because
    // it is encoded in Implicit VR in both syntaxes (PS3.5 6.2.2).
    if (vr !== 'UN') throw damaged('has a value without a length');
    put(walk, elementHeader(tag, walk.toExplicit ? 'UN' : '', UNDEFINED_LENGTH));
    const end = await endOfItems(walk, value, scope.depth + 1);
    await copy(walk, value, end);
    return end;
  }
  // Group lengths are retired (PS3.5 7.2) and would no longer be correct.
  if (tag % 0x10000 === 0) return value + length;
  put(walk, elementHeader(tag, walk.toExplicit ? vr : '', length));
  await copy(walk, value, value + length);
  return value + length;
}

async function convertItems(
  walk: Walk,
  from: number,
  length: number,
  scope: Scope,
): Promise<number> {
  const to = length === UNDEFINED_LENGTH ? null : from + length;
  const inside = { ...scope, depth: scope.depth + 1 };
  let at = from;
  while (to === null || at < to) {
    const item = await elementAt(walk, at, false);
    if (to === null && item.tag === SEQUENCE_END) return item.value;
    if (item.tag !== ITEM) throw damaged('has a sequence without items');
    put(walk, elementHeader(ITEM, '', UNDEFINED_LENGTH));
    const end = item.length === UNDEFINED_LENGTH ? null : item.value + item.length;
    at = await convertElements(walk, { from: item.value, to: end }, inside);
    put(walk, elementHeader(ITEM_END, '', 0));
  }
  if (at > to) throw damaged('has an item that is longer than its sequence');
  return at;
}

async function endOfItems(walk: Walk, from: number, depth: number): Promise<number> {
  if (depth > HEADER_LIMITS.depth) throw damaged('is nested too deep');
  for (let at = from; ; ) {
    const { tag, length, value } = await elementAt(walk, at, false);
    if (tag === SEQUENCE_END || tag === ITEM_END) return value;
    at = length === UNDEFINED_LENGTH ? await endOfItems(walk, value, depth + 1) : value + length;
  }
}

/** VRs for dcmjs dictionary entries that depend on other elements (PS3.6 chapter 6). */
const AMBIGUOUS: Readonly<Record<string, string>> = { ox: 'OW', lt: 'OW', up: 'UL' };

/**
 * Returns the VR of an element in Implicit VR: the VR in the dictionary, or UN for private and
 * other unlisted elements (PS3.5 6.2.2). "OB or OW" becomes OW, as Implicit VR requires (PS3.5
 * A.1).
 */
function vrOf(tag: number, { isSigned }: Scope): string {
  const [group, element] = [Math.floor(tag / 0x10000), tag % 0x10000];
  // The private creator elements are LO (PS3.5 7.8.1).
  if (group % 2 === 1) return element >= 0x10 && element <= 0xff ? 'LO' : 'UN';
  const vr = dictionaryVr(tag) ?? 'UN';
  if (vr === 'xs') return isSigned ? 'SS' : 'US';
  return /^[A-Z]{2}$/.test(vr) ? vr : (AMBIGUOUS[vr] ?? 'UN');
}

function put({ pieces }: Walk, bytes: Buffer): void {
  pieces.push(bytes);
}

async function copy({ read, pieces }: Walk, from: number, to: number): Promise<void> {
  const length = to - from;
  if (length > COPIED_BYTES) {
    // The last byte is read so that a value missing from the file is noticed.
    await read(to - 1, 1);
    pieces.push({ from, length });
  } else if (length > 0) pieces.push(Buffer.from(await read(from, length)));
}

async function* joined(path: string, pieces: readonly Piece[]): AsyncGenerator<Buffer> {
  for (const piece of pieces) {
    if (Buffer.isBuffer(piece)) yield piece;
    else yield* createReadStream(path, { start: piece.from, end: piece.from + piece.length - 1 });
  }
}

/** Regroups bytes into fragments of `size`. The last one may be shorter. */
async function* inFragments(source: AsyncIterable<Buffer>, size: number): AsyncGenerator<Buffer> {
  let held: Buffer[] = [];
  let length = 0;
  for await (let bytes of source) {
    while (length + bytes.length >= size) {
      yield Buffer.concat([...held, bytes.subarray(0, size - length)]);
      bytes = bytes.subarray(size - length);
      held = [];
      length = 0;
    }
    if (bytes.length > 0) held.push(bytes);
    length += bytes.length;
  }
  if (length > 0) yield Buffer.concat(held);
}
