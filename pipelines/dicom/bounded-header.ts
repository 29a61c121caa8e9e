import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import dcmjs, { type NaturalDataset } from 'dcmjs';
import { SonogateError } from '../../src/platform/errors/catalogue.ts';
import { type DecodeText, textDecoder } from './character-set.ts';
import { TEXT_KINDS, textValues } from './data-set.ts';
import {
  DELIMITER_GROUP,
  dictionaryVr,
  type ElementHead,
  type Encoding,
  elementHead,
  encodingOf,
  IMPLICIT,
  ITEM,
  ITEM_END,
  numbersIn,
  SEQUENCE_END,
  UNDEFINED_LENGTH,
} from './elements.ts';
import { decodeFileMeta, fileStart } from './part10.ts';
import { DEFLATED_EXPLICIT_VR_LITTLE_ENDIAN } from './transfer-syntaxes.ts';

/**
 * This file reads the header of an object received from another system, within limits. Only the
 * attributes requested by the caller become values; all others are skipped by their length. The
 * cost therefore depends on the number of elements, not on their content.
 */

/** Limits for one header. Beyond any of them, the object is refused (`object_not_understood`). */
export const HEADER_LIMITS = {
  /**
   * Maximum number of elements. A thousand frames with a hundred elements in each per-frame group
   * need 100,000.
   */
  elements: 500_000,
  /**
   * Maximum depth of nested sequences. The reports of ultrasound machines (TID 5000, TID 5200) are
   * about ten levels deep.
   */
  depth: 32,
  /**
   * Maximum number of bytes in a value that is read. The longest texts in a header have 10,240
   * characters (LT).
   */
  valueBytes: 64 * 1024,
  inflatedBytes: 64 * 1024 * 1024,
} as const;

/** Keyword and dictionary VR for each tag whose value is read, at any depth of the data set. */
type WantedAttributes = ReadonlyMap<number, { name: string; vr: string }>;

const UNKNOWN = 'UN';
const CHARACTER_SET = 0x00080005;
const { nameMap } = dcmjs.data.DicomMetaDictionary;

/**
 * Returns the wanted attributes by tag.
 *
 * @param names PS3.6 keywords, or the eight hexadecimal digits of private tags. Unknown keywords
 * are ignored.
 */
export function wantedAttributes(names: Iterable<string>): WantedAttributes {
  const wanted = new Map([[CHARACTER_SET, { name: 'SpecificCharacterSet', vr: 'CS' }]]);
  for (const name of names) {
    // dcmjs adds a prefix to the keywords of retired attributes, which old systems still send.
    const digits = (nameMap[name] ?? nameMap[`RETIRED_${name}`])?.tag.replace(/[(),]/g, '') ?? name;
    if (!/^[0-9A-Fa-f]{8}$/.test(digits)) continue;
    const tag = Number.parseInt(digits, 16);
    wanted.set(tag, { name, vr: dictionaryVr(tag) ?? UNKNOWN });
  }
  return wanted;
}

/**
 * Reads the header from the first bytes of a file.
 *
 * @param whole true if `start` is the whole file.
 *
 * @returns null if the header continues beyond `start`, or is deflated.
 *
 * @throws SonogateError `object_not_understood`, also if the header exceeds a limit.
 */
export function headerInBytes(
  start: Buffer,
  whole: boolean,
  wanted: WantedAttributes,
): NaturalDataset | null {
  return headerAndEnd(start, whole, wanted)?.dataSet ?? null;
}

/**
 * Where a file ends if it is complete: at an offset or later, or with the delimiter of encapsulated
 * pixel data; `unknown` if only the entire file shows it (`isCutOff`).
 */
export type StatedEnd = { offset: number } | 'delimiter' | 'unknown';

/** Reads the header like `headerInBytes`, and what it says about the end of the file. */
export function headerAndEnd(
  start: Buffer,
  whole: boolean,
  wanted: WantedAttributes,
): { dataSet: NaturalDataset; statedEnd: StatedEnd } | null {
  const { meta, dataSetOffset } = decodeFileMeta(start);
  if (meta.transferSyntax === DEFLATED_EXPLICIT_VR_LITTLE_ENDIAN) return null;
  const bytes = new SlidingWindow(start, null);
  const { dataSet, end } = readTop(bytes, dataSetOffset, encodingOf(meta.transferSyntax), wanted);
  if (end.kind === 'bytes' && !whole) return null;
  const isAtEnd = end.kind === 'bytes' && end.offset === start.length;
  const statedEnd = isAtEnd ? { offset: end.offset } : (end.pixels ?? 'unknown');
  return { dataSet, statedEnd };
}

/**
 * Reads the data set of a DIMSE message, whose size is limited by the network code.
 *
 * @throws SonogateError `object_not_understood` if it is damaged or exceeds a limit.
 */
export function attributesOfMessage(
  bytes: Buffer,
  transferSyntax: string,
  wanted: WantedAttributes,
): NaturalDataset {
  const window = new SlidingWindow(bytes, null);
  const { dataSet, end } = readTop(window, 0, encodingOf(transferSyntax), wanted);
  if (end.kind === 'bytes' && end.offset === bytes.length) return dataSet;
  throw new SonogateError('object_not_understood', 'The data set of the message is damaged.');
}

const WINDOW_BYTES = 256 * 1024;
const FIRST_INFLATED_BYTES = 1024 * 1024;
const GROWTH = 4;

/**
 * Reads the header of a file. A large header blocks the thread for up to about a second.
 *
 * @throws SonogateError `object_not_understood`, or the system error if the file cannot be read.
 */
export async function headerInFile(
  path: string,
  wanted: WantedAttributes,
): Promise<NaturalDataset> {
  const file = openSync(path, 'r');
  try {
    const windowAt = (offset: number) => {
      const window = Buffer.alloc(Math.max(0, Math.min(WINDOW_BYTES, size - offset)));
      return window.subarray(0, readSync(file, window, 0, window.length, offset));
    };
    const { size } = fstatSync(file);
    const start = windowAt(0);
    const { meta, dataSetOffset } = decodeFileMeta(start);
    if (meta.transferSyntax === DEFLATED_EXPLICIT_VR_LITTLE_ENDIAN) {
      return await headerOfDeflated(path, wanted);
    }
    const bytes = new SlidingWindow(start, windowAt);
    return readTop(bytes, dataSetOffset, encodingOf(meta.transferSyntax), wanted).dataSet;
  } finally {
    closeSync(file);
  }
}

/**
 * Returns true if a file ends within its pixel data, or within an element before them that states its
 * length. Other damage is not looked for. Like a header, a file of many fragments blocks the thread.
 *
 * @param frames number of frames. A file without the delimiter of its pixel data is complete if it
 * has as many fragments.
 *
 * @throws SonogateError `object_not_understood`, or the system error if the file cannot be read.
 */
export function isCutOff(path: string, frames: number): boolean {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    const windowAt = (offset: number) => {
      const window = Buffer.alloc(Math.max(0, Math.min(WINDOW_BYTES, size - offset)));
      return window.subarray(0, readSync(file, window, 0, window.length, offset));
    };
    const start = windowAt(0);
    const { meta, dataSetOffset } = decodeFileMeta(start);
    if (meta.transferSyntax === DEFLATED_EXPLICIT_VR_LITTLE_ENDIAN) return false;
    const encoding = encodingOf(meta.transferSyntax);
    const bytes = new SlidingWindow(start, windowAt);
    const walk: Walk = { bytes, wanted: new Map(), elements: 0 };
    const { end } = readTop(bytes, dataSetOffset, encoding, walk.wanted);
    if (end.kind === 'damage') return false;
    for (let at = end.offset; at < size; ) {
      const { tag, length, value } = elementAt(walk, at, encoding);
      if (length === UNDEFINED_LENGTH) {
        return tag === PIXEL_DATA && fragmentsAreCutOff(walk, value, { encoding, size, frames });
      }
      at = value + length;
      if (at > size || tag >= PIXEL_DATA) return at > size;
    }
    return end.offset > size;
  } catch (error) {
    if (error instanceof HeaderEnds) return false;
    throw error;
  } finally {
    closeSync(file);
  }
}

function fragmentsAreCutOff(
  walk: Walk,
  start: number,
  { encoding, size, frames }: { encoding: Encoding; size: number; frames: number },
): boolean {
  // The first item is the offset table.
  let fragments = -1;
  for (let at = start; at + 8 <= size; fragments += 1) {
    const { tag, length, value } = elementAt(walk, at, encoding);
    if (tag !== ITEM) return false;
    at = value + length;
    if (at > size) return true;
  }
  return fragments < frames;
}

async function headerOfDeflated(path: string, wanted: WantedAttributes): Promise<NaturalDataset> {
  const most = HEADER_LIMITS.inflatedBytes;
  for (let bytes = FIRST_INFLATED_BYTES; bytes <= most; bytes *= GROWTH) {
    const { start, whole } = await fileStart(path, bytes);
    const dataSet = headerInBytes(start, whole, wanted);
    if (dataSet) return dataSet;
  }
  throw refused('is longer than 64 MiB');
}

function refused(why: string): SonogateError {
  return new SonogateError('object_not_understood', `The header ${why}.`);
}

class HeaderEnds extends Error {
  override name = 'HeaderEnds';
  readonly damaged: boolean;

  constructor(damaged: boolean) {
    super(damaged ? 'the header is damaged' : 'the bytes end');
    this.damaged = damaged;
  }
}

/** Reads bytes of a file by offset, keeping only part of the file in memory. */
class SlidingWindow {
  bytes: Buffer;
  private base = 0;
  private readonly load: ((offset: number) => Buffer) | null;

  constructor(start: Buffer, load: ((offset: number) => Buffer) | null) {
    this.bytes = start;
    this.load = load;
  }

  /**
   * Ensures that `bytes` contains the `length` bytes at `offset` in the file.
   *
   * @returns the index of the first of them in `bytes`.
   *
   * @throws HeaderEnds if the file ends before them.
   */
  position(offset: number, length: number): number {
    if (offset < this.base || offset + length > this.base + this.bytes.length) {
      if (!this.load) throw new HeaderEnds(false);
      this.bytes = this.load(offset);
      this.base = offset;
      if (length > this.bytes.length) throw new HeaderEnds(false);
    }
    return offset - this.base;
  }
}

interface Walk {
  bytes: SlidingWindow;
  wanted: WantedAttributes;
  elements: number;
}

interface Element extends ElementHead {
  /** Offset of the value. */
  value: number;
}

/** Group length of the pixel data and their offset tables. The header ends before the next tag. */
const PIXEL_GROUP = 0x7fe00000;
const PIXEL_DATA = 0x7fe00010;

function elementAt(walk: Walk, offset: number, encoding: Encoding): Element {
  walk.elements += 1;
  if (walk.elements > HEADER_LIMITS.elements) {
    throw refused(`has more than ${HEADER_LIMITS.elements} elements`);
  }
  const bytesAt = (from: number, length: number) => {
    const at = walk.bytes.position(from, length);
    return walk.bytes.bytes.subarray(at, at + length);
  };
  const head = elementHead(bytesAt(offset, 8), encoding, () => bytesAt(offset + 8, 4));
  if (!head) throw new HeaderEnds(true);
  return { ...head, value: offset + head.size };
}

interface HeaderEnd {
  kind: 'pixels' | 'bytes' | 'damage';
  offset: number;
  /** The end stated by the pixel data at this offset. */
  pixels?: StatedEnd;
}

/**
 * Reads the top level of the data set. If the data set is damaged, the header ends there without an
 * error, because damage after the required attributes does not matter.
 *
 * @returns why the header ended, and the offset of the element that could not be read.
 */
function readTop(
  bytes: SlidingWindow,
  start: number,
  encoding: Encoding,
  wanted: WantedAttributes,
): { dataSet: NaturalDataset; end: HeaderEnd } {
  const walk: Walk = { bytes, wanted, elements: 0 };
  const scope: Scope = { dataSet: {}, decode: textDecoder([]) };
  let offset = start;
  try {
    for (;;) {
      const element = elementAt(walk, offset, encoding);
      // Some writers leave a stray delimiter behind, which is skipped.
      if (element.tag >= DELIMITER_GROUP && element.tag <= SEQUENCE_END) offset = element.value;
      else if (element.tag <= PIXEL_GROUP) offset = readElement(walk, element, encoding, 0, scope);
      else {
        const pixels = endOfPixels(element);
        return { dataSet: scope.dataSet, end: { kind: 'pixels', offset, pixels } };
      }
    }
  } catch (error) {
    if (!(error instanceof HeaderEnds)) throw error;
    return { dataSet: scope.dataSet, end: { kind: error.damaged ? 'damage' : 'bytes', offset } };
  }
}

function endOfPixels({ tag, length, value }: Element): StatedEnd {
  if (tag !== PIXEL_DATA) return 'unknown';
  return length === UNDEFINED_LENGTH ? 'delimiter' : { offset: value + length };
}

interface Scope {
  dataSet: NaturalDataset;
  /**
   * Decodes text with the character set of the item or, if it has none, of the enclosing data set
   * (PS3.5 7.5.3).
   */
  decode: DecodeText;
}

/**
 * Stores the value of an element if it is wanted.
 *
 * @param scope null inside a sequence that is not wanted.
 *
 * @returns the offset after the element.
 */
function readElement(
  walk: Walk,
  element: Element,
  encoding: Encoding,
  depth: number,
  scope: Scope | null,
): number {
  const { tag, length, value } = element;
  const wanted = scope && walk.wanted.get(tag);
  const vr = element.vr === '' || element.vr === UNKNOWN ? (wanted?.vr ?? UNKNOWN) : element.vr;
  const next = length === UNDEFINED_LENGTH ? null : value + length;
  if (next === null || (wanted && vr === 'SQ')) {
    const inner = element.vr === UNKNOWN ? IMPLICIT : encoding;
    const items: NaturalDataset[] | null = wanted ? [] : null;
    const end = readItems(walk, { value, end: next }, inner, depth + 1, scope, items);
    if (scope && wanted && items) scope.dataSet[wanted.name] = items;
    return end;
  }
  if (!scope || !wanted) return next;
  if (length > HEADER_LIMITS.valueBytes) {
    throw refused(`has a value of ${length} bytes for ${wanted.name}`);
  }
  const at = walk.bytes.position(value, length);
  const bytes = walk.bytes.bytes.subarray(at, at + length);
  if (tag === CHARACTER_SET) scope.decode = textDecoder(asciiValues(bytes));
  const read = decodedValue(vr, bytes, encoding.bigEndian, scope.decode);
  if (read !== undefined) scope.dataSet[wanted.name] = read;
  return next;
}

/**
 * Reads the items of a sequence into `items`, or skips them if `items` is null.
 *
 * @returns the offset after the sequence.
 */
function readItems(
  walk: Walk,
  sequence: { value: number; end: number | null },
  encoding: Encoding,
  depth: number,
  scope: Scope | null,
  items: NaturalDataset[] | null,
): number {
  if (depth > HEADER_LIMITS.depth) {
    throw refused(`is nested more than ${HEADER_LIMITS.depth} sequences deep`);
  }
  const end = sequence.end ?? Number.POSITIVE_INFINITY;
  let offset = sequence.value;
  while (offset < end) {
    const { tag, length, value } = elementAt(walk, offset, encoding);
    offset = value;
    if (tag === SEQUENCE_END) return sequence.end ?? offset;
    if (tag === ITEM_END) continue;
    // Anything but an item means that the sequence is damaged: its end cannot be found.
    if (tag !== ITEM) throw new HeaderEnds(true);
    const itemEnd = length === UNDEFINED_LENGTH ? null : value + length;
    if (!items && itemEnd !== null) {
      offset = itemEnd;
      continue;
    }
    const item: Scope | null = scope && items && { dataSet: {}, decode: scope.decode };
    offset = readItem(walk, { value, end: itemEnd }, encoding, depth, item);
    if (item) items?.push(item.dataSet);
  }
  return end;
}

function readItem(
  walk: Walk,
  item: { value: number; end: number | null },
  encoding: Encoding,
  depth: number,
  scope: Scope | null,
): number {
  const end = item.end ?? Number.POSITIVE_INFINITY;
  let offset = item.value;
  while (offset < end) {
    const element = elementAt(walk, offset, encoding);
    if (element.tag === ITEM_END) return item.end ?? element.value;
    // Some carts omit the item delimiter. The item then ends here.
    if (element.tag === ITEM || element.tag === SEQUENCE_END) return item.end ?? offset;
    offset = readElement(walk, element, encoding, depth, scope);
  }
  return end;
}

const ASCII = new Set('AE AS CS DA DT TM UI UR'.split(' '));
const DECIMAL = new Set(['DS', 'IS']);
/**
 * Returns the value in the form used by dcmjs: a single value, or an array of several. Returns
 * undefined for a VR whose value is binary.
 */
function decodedValue(vr: string, bytes: Buffer, bigEndian: boolean, decode: DecodeText): unknown {
  const kind = TEXT_KINDS[vr];
  if (kind) return alone(textValues(bytes, kind, decode));
  if (ASCII.has(vr)) return alone(asciiValues(bytes));
  if (DECIMAL.has(vr)) {
    return alone(asciiValues(bytes).map((text) => (text === '' ? text : numberOr(text))));
  }
  const numbers = numbersIn(vr, bytes, bigEndian);
  return numbers ? alone(numbers) : undefined;
}

function numberOr(text: string): number | string {
  const number = Number(text);
  return Number.isFinite(number) ? number : text;
}

function asciiValues(bytes: Buffer): string[] {
  return bytes
    .toString('latin1')
    .split('\\')
    .map((value) => value.replace(/[\0 ]+$/, '').trimStart());
}

const alone = (values: readonly unknown[]): unknown => (values.length === 1 ? values[0] : values);
