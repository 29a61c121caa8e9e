import { UnreadableInput } from '../../contract/study.ts';
import type { AttributeName } from '../dicom/attributes.ts';
import type { DicomHeader } from '../dicom/header.ts';

const DISCRETE = 0;
const LINEAR = 1;
const INDIRECT = 2;

interface Expansion {
  words: Uint16Array;
  entries: number;
  values: number[];
}

/** Appends a linear segment from the last value to `end`, in `length` steps (PS3.3 C.7.9.2.2). */
function appendLinear({ values, entries }: Expansion, length: number, end: number): void {
  const start = values.at(-1);
  if (start === undefined) throw new UnreadableInput('the colour palette is damaged');
  for (let step = 1; step <= length && values.length < entries; step += 1) {
    values.push(Math.round(start + ((end - start) * step) / length));
  }
}

/** Expands the segment at `at`. Returns the offset of the next segment. */
function expandSegment(expansion: Expansion, at: number, nested: boolean): number {
  const { words, values, entries } = expansion;
  const opcode = words[at];
  const length = words[at + 1] ?? 0;
  if (opcode === DISCRETE) {
    values.push(...words.subarray(at + 2, at + 2 + Math.min(length, entries - values.length)));
    return at + 2 + length;
  }
  if (opcode === LINEAR) {
    appendLinear(expansion, length, words[at + 2] ?? 0);
    return at + 3;
  }
  if (opcode === INDIRECT && !nested) {
    // The segment contains a byte offset in two words, least significant word first (PS3.3
    // C.7.9.2.3).
    let source = ((words[at + 2] ?? 0) + (words[at + 3] ?? 0) * 0x10000) / 2;
    for (let segment = 0; segment < length; segment += 1) {
      source = expandSegment(expansion, source, true);
    }
    return at + 4;
  }
  throw new UnreadableInput('the colour palette is damaged');
}

/**
 * Expands Segmented Palette Color Lookup Table Data of 16-bit words (PS3.3 C.7.9.2) to `entries`
 * values.
 *
 * @throws UnreadableInput if the segments are damaged or too few.
 */
function expandSegments(data: Buffer, entries: number): Uint16Array {
  const words = Uint16Array.from({ length: data.length >> 1 }, (_, index) =>
    data.readUInt16LE(index * 2),
  );
  const expansion: Expansion = { words, entries, values: [] };
  let at = 0;
  while (at < words.length && expansion.values.length < entries) {
    at = expandSegment(expansion, at, false);
  }
  if (expansion.values.length < entries)
    throw new UnreadableInput('the colour palette is cut short');
  return Uint16Array.from(expansion.values);
}

/** Lookup tables from stored values to 8-bit colour (PS3.3 C.7.6.3.1.5). */
export interface Palette {
  /**
   * Stored pixel value that maps to the first entry of the tables. Lower values map to the first
   * entry too, and values beyond the last entry map to the last.
   */
  first: number;
  red: Uint8Array;
  green: Uint8Array;
  blue: Uint8Array;
}

type Colour = 'Red' | 'Green' | 'Blue';

function bytesOf(header: DicomHeader, name: AttributeName): Buffer | null {
  const value = header.values.get(name);
  return Buffer.isBuffer(value) ? value : null;
}

function table(data: Buffer, entries: number, bits: number): Uint8Array {
  if (data.length < (bits === 8 ? entries : entries * 2)) {
    throw new UnreadableInput('the colour palette is cut short');
  }
  // 8-bit entries are packed two to a word, but some writers use a whole word per entry.
  if (bits === 8 && data.length < entries * 2) return Uint8Array.from(data.subarray(0, entries));
  const words = Uint16Array.from({ length: entries }, (_, index) => data.readUInt16LE(index * 2));
  // Tables often declare 16 bits but contain 8-bit values. If these were scaled down, they would be
  // black.
  const eightBit = words.every((word) => word < 256);
  return Uint8Array.from(words, (word) => (eightBit ? word : word >> 8));
}

function channel(header: DicomHeader, colour: Colour): { first: number; values: Uint8Array } {
  const descriptor = header.values.get(`${colour}PaletteColorLookupTableDescriptor`);
  if (!Array.isArray(descriptor)) throw new UnreadableInput('the colour palette is missing');
  const [count = 0, first = 0, bits = 16] = descriptor;
  const entries = count === 0 ? 65_536 : count;
  const data = bytesOf(header, `${colour}PaletteColorLookupTableData`);
  if (data) return { first, values: table(data, entries, bits) };
  const segments = bytesOf(header, `Segmented${colour}PaletteColorLookupTableData`);
  if (!segments) throw new UnreadableInput('the colour palette is missing');
  return { first, values: Uint8Array.from(expandSegments(segments, entries), (word) => word >> 8) };
}

/**
 * Reads the three tables.
 *
 * @throws UnreadableInput if one is missing, too short or damaged.
 */
export function readPalette(header: DicomHeader): Palette {
  const red = channel(header, 'Red');
  return {
    first: red.first,
    red: red.values,
    green: channel(header, 'Green').values,
    blue: channel(header, 'Blue').values,
  };
}
