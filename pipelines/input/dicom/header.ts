import { UnreadableInput } from '../../contract/study.ts';
import {
  DELIMITER_GROUP,
  dictionaryVr,
  type ElementHead,
  type Encoding,
  elementHead,
  encodingOf,
  IMPLICIT,
  ITEM,
  numbersIn,
  SEQUENCE_END,
  UNDEFINED_LENGTH,
} from '../../dicom/elements.ts';
import { guessTransferSyntax, hasPreamble, PREFIX_END } from '../../dicom/part10.ts';
import { DEFLATED_EXPLICIT_VR_LITTLE_ENDIAN } from '../../dicom/transfer-syntaxes.ts';
import { LIMITS } from '../limits.ts';
import type { ByteSource } from '../study-file.ts';
import { type AcquisitionTime, acquisitionTimeOf } from './acquisition-time.ts';
import {
  ACQUISITION_TIMES,
  ATTRIBUTES,
  type AttributeName,
  byTag,
  type ItemAttributeName,
  PIXEL_DATA,
  SEQUENCES,
  type SequenceName,
} from './attributes.ts';

type HeaderValue = string | number[] | Buffer;

/** Only printable characters are returned, because an error message may quote a damaged value. */
function printable(bytes: Buffer): string {
  return bytes
    .toString('latin1')
    .replace(/[\0 ]+$/, '')
    .replaceAll(/[^ -~]/g, '?')
    .trim();
}

const BYTES: ReadonlySet<string> = new Set(['OB', 'OW', 'ox', 'OV']);

/**
 * Decodes an attribute's value into newly allocated memory. Its VR is that of PS3.6, because implicit
 * VR files do not contain it. `words` means that the bytes are OW.
 */
function decodeValue(bytes: Buffer, tag: number, bigEndian: boolean, words: boolean): HeaderValue {
  const vr = dictionaryVr(tag) ?? '';
  if (vr === 'AT') {
    const halves = numbersIn('US', bytes, bigEndian) ?? [];
    return halves.map((half) => half.toString(16).toUpperCase().padStart(4, '0')).join('');
  }
  if (BYTES.has(vr)) {
    return bigEndian && words && bytes.length % 2 === 0
      ? Buffer.from(bytes).swap16()
      : Buffer.from(bytes);
  }
  return numbersIn(vr, bytes, bigEndian) ?? printable(bytes);
}

export interface PixelDataElement {
  offset: number;
  /** In bytes; null for encapsulated pixel data, whose length is undefined. */
  length: number | null;
  /**
   * True if the data are 16-bit words in file byte order, even if each word contains two 8-bit
   * samples.
   */
  words: boolean;
}

export type HeaderItem = ReadonlyMap<ItemAttributeName, HeaderValue>;

/** The allow-listed part of a DICOM header (attributes.ts). */
export interface DicomHeader extends Readonly<Record<SequenceName, readonly HeaderItem[]>> {
  transferSyntax: string;
  bigEndian: boolean;
  values: ReadonlyMap<AttributeName, HeaderValue>;
  /** Used to order the images of a study. It never leaves the reader in this form. */
  taken: AcquisitionTime | null;
  pixelData: PixelDataElement | null;
}

export interface Element extends ElementHead {
  valueOffset: number;
}

interface Walk {
  source: ByteSource;
  elements: number;
}

/** Reads the header of the element at `offset` (PS3.5 7.1.2 and 7.1.3). */
export function elementAt(walk: Walk, offset: number, encoding: Encoding): Element {
  walk.elements += 1;
  if (walk.elements > LIMITS.headerElements)
    throw new UnreadableInput('the header has too many elements');
  const head = elementHead(walk.source.read(offset, 8), encoding, () =>
    walk.source.read(offset + 8, 4),
  );
  if (!head) throw new UnreadableInput('the header is damaged: a value has no type');
  return { ...head, valueOffset: offset + head.size };
}

function readValue(
  walk: Walk,
  element: Element,
  name: AttributeName | ItemAttributeName,
  bigEndian: boolean,
): HeaderValue {
  if (element.length > LIMITS.valueBytes)
    throw new UnreadableInput(`the header value ${name} is too long`);
  const bytes = walk.source.read(element.valueOffset, element.length);
  return decodeValue(bytes, element.tag, bigEndian, element.vr === 'OW');
}

/**
 * Calls `visit` for every element of every item in a sequence, and returns the offset after the
 * sequence. If a delimiter is missing or wrongly nested, as in some real cart files, the innermost
 * open item ends there.
 */
export function walkSequence(
  walk: Walk,
  sequence: Element,
  encoding: Encoding,
  depth: number,
  visit: (item: number, element: Element) => void,
): number {
  if (depth > LIMITS.sequenceDepth) throw new UnreadableInput('the header is nested too deeply');
  const end = sequence.length === UNDEFINED_LENGTH ? null : sequence.valueOffset + sequence.length;
  const inner = sequence.vr === 'UN' ? IMPLICIT : encoding;
  let offset = sequence.valueOffset;
  let item = -1;
  while (end === null || offset < end) {
    const element = elementAt(walk, offset, inner);
    offset = element.valueOffset;
    if (element.tag === SEQUENCE_END) break;
    if (element.tag === ITEM) item += 1;
    if (element.tag >= DELIMITER_GROUP) continue;
    offset = passValue(walk, element, inner, depth);
    visit(item, element);
  }
  return end ?? offset;
}

/**
 * Returns the offset after an element's value. A value of undefined length must be parsed to find
 * its end.
 */
export function passValue(walk: Walk, element: Element, encoding: Encoding, depth: number): number {
  if (element.length !== UNDEFINED_LENGTH) return element.valueOffset + element.length;
  return walkSequence(walk, element, encoding, depth + 1, () => {});
}

function readItems(
  walk: Walk,
  sequence: Element,
  encoding: Encoding,
  names: ReadonlyMap<number, ItemAttributeName>,
): { items: HeaderItem[]; next: number } {
  const items: Map<ItemAttributeName, HeaderValue>[] = [];
  const next = walkSequence(walk, sequence, encoding, 1, (index, element) => {
    if (index < 0 || index >= LIMITS.regions) return;
    while (items.length <= index) items.push(new Map());
    const name = names.get(element.tag);
    const item = items[index];
    if (!name || !item || element.length > LIMITS.valueBytes) return;
    item.set(name, readValue(walk, element, name, encoding.bigEndian));
  });
  return { items, next };
}

function readFileMeta(
  walk: Walk,
  start: number,
): { transferSyntax: string | null; offset: number } {
  const meta = { explicit: true, bigEndian: false };
  let offset = start;
  let transferSyntax: string | null = null;
  while (offset + 8 <= walk.source.size) {
    const group = walk.source.read(offset, 2).readUInt16LE(0);
    if (group !== 2) break;
    const element = elementAt(walk, offset, meta);
    if (element.tag === 0x00020010) {
      const value = readValue(walk, element, 'TransferSyntaxUID', false);
      transferSyntax = typeof value === 'string' ? value : null;
    }
    offset = element.valueOffset + element.length;
  }
  return { transferSyntax, offset };
}

/** A data set ready for reading. `start` is the offset of its first element. */
export interface DataSet {
  walk: Walk;
  transferSyntax: string;
  encoding: Encoding;
  start: number;
}

/**
 * Reads the file meta information (PS3.10 7.1). If a file starts directly with its data set, the
 * encoding is guessed.
 *
 * @throws UnreadableInput if it cannot be parsed.
 */
export function openDataSet(source: ByteSource): DataSet {
  const walk: Walk = { source, elements: 0 };
  const head = source.read(0, Math.min(source.size, PREFIX_END));
  const preamble = hasPreamble(head);
  const bare = preamble ? null : guessTransferSyntax(head);
  const meta = bare ? null : readFileMeta(walk, preamble ? PREFIX_END : 0);
  const transferSyntax = bare ?? meta?.transferSyntax;
  if (!transferSyntax) throw new UnreadableInput('the DICOM header names no transfer syntax');
  if (transferSyntax === DEFLATED_EXPLICIT_VR_LITTLE_ENDIAN) {
    throw new UnreadableInput(
      'the transfer syntax Deflated Explicit VR Little Endian is not supported',
    );
  }
  return {
    walk,
    transferSyntax,
    encoding: encodingOf(transferSyntax),
    start: meta?.offset ?? 0,
  };
}

const NAMES = byTag<AttributeName>(ATTRIBUTES);
const ITEMS = new Map(
  Array.from(byTag<(typeof SEQUENCES)[keyof typeof SEQUENCES]>(SEQUENCES), ([tag, sequence]) => [
    tag,
    { name: sequence.name, attributes: byTag<ItemAttributeName>(sequence.attributes) },
  ]),
);
const TIME_TAGS: ReadonlySet<number> = new Set(ACQUISITION_TIMES.flat());

/**
 * Reads the header of a DICOM file (PS3.10) up to its pixel data. Only allow-listed attributes are
 * returned.
 *
 * @throws UnreadableInput if the header cannot be parsed.
 */
export function readDicomHeader(source: ByteSource): DicomHeader {
  const { walk, transferSyntax, encoding, start } = openDataSet(source);
  const values = new Map<AttributeName, HeaderValue>();
  const sequences: Record<SequenceName, HeaderItem[]> = {
    regions: [],
    views: [],
    anatomicRegions: [],
  };
  const times = new Map<number, string>();
  let pixelData: PixelDataElement | null = null;
  let offset = start;
  while (offset < source.size && !pixelData) {
    const element = elementAt(walk, offset, encoding);
    const sequence = ITEMS.get(element.tag);
    if (element.tag === PIXEL_DATA) {
      const length = element.length === UNDEFINED_LENGTH ? null : element.length;
      const words = !encoding.explicit || element.vr === 'OW';
      pixelData = { offset: element.valueOffset, length, words };
    } else if (sequence) {
      const read = readItems(walk, element, encoding, sequence.attributes);
      sequences[sequence.name] = read.items;
      offset = read.next;
    } else {
      const name = NAMES.get(element.tag);
      if (name) values.set(name, readValue(walk, element, name, encoding.bigEndian));
      if (TIME_TAGS.has(element.tag) && element.length <= LONGEST_TIME) {
        const bytes = source.read(element.valueOffset, element.length);
        times.set(element.tag, bytes.toString('latin1').replaceAll(/[\0 ]+$/g, ''));
      }
      offset = passValue(walk, element, encoding, 0);
    }
  }
  const { bigEndian } = encoding;
  return {
    transferSyntax,
    bigEndian,
    values,
    ...sequences,
    taken: acquisitionTimeOf(times),
    pixelData,
  };
}

/** Maximum length of a DT in characters (PS3.5 6.2). */
const LONGEST_TIME = 26;

/** Returns the text of an attribute; '' if it is absent. */
export function textOf(header: DicomHeader, name: AttributeName): string {
  const value = header.values.get(name);
  return typeof value === 'string' ? value : '';
}

/**
 * Returns the first number of an attribute, whether it is stored as binary or as decimal text. Null
 * if it is absent or not a number.
 */
export function numberOf(header: DicomHeader, name: AttributeName): number | null {
  const value = header.values.get(name);
  if (Array.isArray(value)) return value[0] ?? null;
  if (typeof value !== 'string' || value === '') return null;
  const number = Number(value.split('\\')[0]);
  return Number.isFinite(number) ? number : null;
}

/**
 * Returns all numbers of an attribute. Empty if it is absent or if one of its values is not a
 * number.
 */
export function numbersOf(header: DicomHeader, name: AttributeName): number[] {
  const value = header.values.get(name);
  const numbers = typeof value === 'string' && value !== '' ? value.split('\\').map(Number) : value;
  return Array.isArray(numbers) && numbers.every(Number.isFinite) ? numbers : [];
}

/** Returns the first number of an attribute in an item; null if it is absent or not a number. */
export function numberIn(item: HeaderItem, name: ItemAttributeName): number | null {
  const value = item.get(name);
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  const first = Array.isArray(number) ? number[0] : number;
  return typeof first === 'number' && Number.isFinite(first) ? first : null;
}
