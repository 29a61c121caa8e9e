import type { ByteSource } from './byte-source.ts';
import {
  ATTRIBUTES,
  type AttributeName,
  PIXEL_DATA,
  REGION_ATTRIBUTES,
  REGION_SEQUENCE,
  type RegionAttributeName,
  valueKind,
} from './dicom-attributes.ts';
import { LIMITS } from './limits.ts';
import { Refusal } from './refusal.ts';

export type HeaderValue = string | number[] | Buffer;

export interface PixelDataElement {
  offset: number;
  /** Null: encapsulated, of undefined length. */
  length: number | null;
  /** 16-bit words in the byte order of the file, even where they hold two 8-bit samples. */
  words: boolean;
}

/** The allow-listed part of a DICOM header; see dicom-attributes.ts. */
export interface DicomHeader {
  transferSyntax: string;
  bigEndian: boolean;
  values: ReadonlyMap<AttributeName, HeaderValue>;
  regions: readonly ReadonlyMap<RegionAttributeName, HeaderValue>[];
  pixelData: PixelDataElement | null;
}

const UNDEFINED_LENGTH = 0xffffffff;
const LONG_FORM = new Set('OB OD OF OL OV OW SQ SV UC UN UR UT UV'.split(' '));
const ITEM = 'FFFEE000';
const SEQUENCE_END = 'FFFEE0DD';

const IMPLICIT_LITTLE_ENDIAN = '1.2.840.10008.1.2';
const EXPLICIT_BIG_ENDIAN = '1.2.840.10008.1.2.2';
const DEFLATED = '1.2.840.10008.1.2.1.99';

export interface Encoding {
  explicit: boolean;
  bigEndian: boolean;
}

export interface Element {
  tag: string;
  vr: string | null;
  length: number;
  valueOffset: number;
}

export interface Walk {
  source: ByteSource;
  elements: number;
}

function tagAt(bytes: Buffer, offset: number, bigEndian: boolean): string {
  const group = bigEndian ? bytes.readUInt16BE(offset) : bytes.readUInt16LE(offset);
  const element = bigEndian ? bytes.readUInt16BE(offset + 2) : bytes.readUInt16LE(offset + 2);
  return (group * 0x10000 + element).toString(16).toUpperCase().padStart(8, '0');
}

/** Reads the head of the element at `offset` (PS3.5 7.1.2 and 7.1.3). */
export async function elementAt(walk: Walk, offset: number, encoding: Encoding): Promise<Element> {
  walk.elements += 1;
  if (walk.elements > LIMITS.headerElements) throw new Refusal('the header has too many elements');
  const head = await walk.source.read(offset, 8);
  const { bigEndian } = encoding;
  const tag = tagAt(head, 0, bigEndian);
  const uint32 = (bytes: Buffer, at: number) =>
    bigEndian ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at);
  if (!encoding.explicit || tag.startsWith('FFFE')) {
    return { tag, vr: null, length: uint32(head, 4), valueOffset: offset + 8 };
  }
  const vr = head.toString('latin1', 4, 6);
  if (!/^[A-Z]{2}$/.test(vr)) throw new Refusal('the header is damaged: a value has no type');
  if (LONG_FORM.has(vr)) {
    const length = uint32(await walk.source.read(offset + 8, 4), 0);
    return { tag, vr, length, valueOffset: offset + 12 };
  }
  const length = bigEndian ? head.readUInt16BE(6) : head.readUInt16LE(6);
  return { tag, vr, length, valueOffset: offset + 8 };
}

async function readValue(
  walk: Walk,
  element: Element,
  name: AttributeName | RegionAttributeName,
  bigEndian: boolean,
): Promise<HeaderValue> {
  if (element.length > LIMITS.valueBytes) throw new Refusal(`the header value ${name} is too long`);
  const bytes = Buffer.from(await walk.source.read(element.valueOffset, element.length));
  const numbers = (size: number, at: (offset: number) => number) =>
    Array.from({ length: Math.floor(bytes.length / size) }, (_, index) => at(index * size));
  switch (valueKind(name)) {
    case 'us':
      return numbers(2, (at) => (bigEndian ? bytes.readUInt16BE(at) : bytes.readUInt16LE(at)));
    case 'ul':
      return numbers(4, (at) => (bigEndian ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at)));
    case 'fd':
      return numbers(8, (at) => (bigEndian ? bytes.readDoubleBE(at) : bytes.readDoubleLE(at)));
    case 'bytes':
      return bigEndian && element.vr === 'OW' ? bytes.swap16() : bytes;
    case 'text':
      // A damaged value may reach a sentence for a person: nothing but printable characters.
      return bytes
        .toString('latin1')
        .replace(/[\0 ]+$/, '')
        .replaceAll(/[^ -~]/g, '?')
        .trim();
  }
}

/**
 * The items of a sequence, one `each` per item with the offset of its first element; returns the
 * offset after the sequence. Delimiters that are missing or nested wrongly end the innermost open
 * item, as real carts write them.
 */
export async function walkSequence(
  walk: Walk,
  sequence: Element,
  encoding: Encoding,
  depth: number,
  visit: (item: number, element: Element) => Promise<void>,
): Promise<number> {
  if (depth > LIMITS.sequenceDepth) throw new Refusal('the header is nested too deeply');
  const end = sequence.length === UNDEFINED_LENGTH ? null : sequence.valueOffset + sequence.length;
  // PS3.5 6.2.2 note 2: a UN of undefined length holds implicit little endian.
  const inner = sequence.vr === 'UN' ? { explicit: false, bigEndian: false } : encoding;
  let offset = sequence.valueOffset;
  let item = -1;
  while (end === null || offset < end) {
    const element = await elementAt(walk, offset, inner);
    offset = element.valueOffset;
    if (element.tag === SEQUENCE_END) break;
    if (element.tag === ITEM) item += 1;
    if (element.tag.startsWith('FFFE')) continue;
    offset = await passValue(walk, element, inner, depth);
    await visit(item, element);
  }
  return end ?? offset;
}

/** The offset after the value of an element; a value of undefined length is walked through. */
export async function passValue(
  walk: Walk,
  element: Element,
  encoding: Encoding,
  depth: number,
): Promise<number> {
  if (element.length !== UNDEFINED_LENGTH) return element.valueOffset + element.length;
  return walkSequence(walk, element, encoding, depth + 1, async () => {});
}

async function readRegions(
  walk: Walk,
  sequence: Element,
  encoding: Encoding,
): Promise<{ regions: DicomHeader['regions']; next: number }> {
  const regions: Map<RegionAttributeName, HeaderValue>[] = [];
  const names: Readonly<Record<string, RegionAttributeName>> = REGION_ATTRIBUTES;
  const next = await walkSequence(walk, sequence, encoding, 1, async (item, element) => {
    if (item < 0 || item >= LIMITS.regions) return;
    while (regions.length <= item) regions.push(new Map());
    const name = names[element.tag];
    const region = regions[item];
    if (!name || !region) return;
    region.set(name, await readValue(walk, element, name, encoding.bigEndian));
  });
  return { regions, next };
}

async function readFileMeta(walk: Walk): Promise<{ transferSyntax: string; offset: number }> {
  const meta = { explicit: true, bigEndian: false };
  let offset = 132;
  let transferSyntax: string | null = null;
  while (offset < walk.source.size) {
    const group = (await walk.source.read(offset, 2)).readUInt16LE(0);
    if (group !== 2) break;
    const element = await elementAt(walk, offset, meta);
    if (element.tag === '00020010') {
      const value = await readValue(walk, element, 'TransferSyntaxUID', false);
      transferSyntax = typeof value === 'string' ? value : null;
    }
    offset = element.valueOffset + element.length;
  }
  if (!transferSyntax) throw new Refusal('the DICOM header names no transfer syntax');
  return { transferSyntax, offset };
}

/** A data set ready to be walked: how it is encoded and where its first element lies. */
export interface DataSet {
  walk: Walk;
  transferSyntax: string;
  encoding: Encoding;
  start: number;
}

/** Reads the File Meta Information (PS3.10 7.1). Throws a Refusal where it cannot be followed. */
export async function openDataSet(source: ByteSource): Promise<DataSet> {
  const walk: Walk = { source, elements: 0 };
  const { transferSyntax, offset } = await readFileMeta(walk);
  if (transferSyntax === DEFLATED) {
    throw new Refusal('the transfer syntax Deflated Explicit VR Little Endian is not supported');
  }
  const encoding: Encoding = {
    explicit: transferSyntax !== IMPLICIT_LITTLE_ENDIAN,
    bigEndian: transferSyntax === EXPLICIT_BIG_ENDIAN,
  };
  return { walk, transferSyntax, encoding, start: offset };
}

/**
 * Reads the header of a DICOM file (PS3.10) up to its pixel data, and of it only what is on the
 * allow-list. Throws a Refusal where the header cannot be followed.
 */
export async function readDicomHeader(source: ByteSource): Promise<DicomHeader> {
  const { walk, transferSyntax, encoding, start } = await openDataSet(source);
  const names: Readonly<Record<string, AttributeName>> = ATTRIBUTES;
  const values = new Map<AttributeName, HeaderValue>();
  let regions: DicomHeader['regions'] = [];
  let pixelData: PixelDataElement | null = null;
  let offset = start;
  while (offset < source.size && !pixelData) {
    const element = await elementAt(walk, offset, encoding);
    if (element.tag === PIXEL_DATA) {
      const length = element.length === UNDEFINED_LENGTH ? null : element.length;
      const words = !encoding.explicit || element.vr === 'OW';
      pixelData = { offset: element.valueOffset, length, words };
    } else if (element.tag === REGION_SEQUENCE) {
      const read = await readRegions(walk, element, encoding);
      regions = read.regions;
      offset = read.next;
    } else {
      const name = names[element.tag];
      if (name) values.set(name, await readValue(walk, element, name, encoding.bigEndian));
      offset = await passValue(walk, element, encoding, 0);
    }
  }
  return { transferSyntax, bigEndian: encoding.bigEndian, values, regions, pixelData };
}

/** Text of an attribute; '' where it is absent. */
export function textOf(header: DicomHeader, name: AttributeName): string {
  const value = header.values.get(name);
  return typeof value === 'string' ? value : '';
}

/** The first number of an attribute, binary or decimal text; null where it is absent or no number. */
export function numberOf(header: DicomHeader, name: AttributeName): number | null {
  const value = header.values.get(name);
  if (Array.isArray(value)) return value[0] ?? null;
  if (typeof value !== 'string' || value === '') return null;
  const number = Number(value.split('\\')[0]);
  return Number.isFinite(number) ? number : null;
}
