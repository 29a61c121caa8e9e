import type { AttributeName } from './dicom-attributes.ts';
import type { DicomHeader } from './dicom-header.ts';
import { Refusal } from './refusal.ts';
import { expandSegments } from './segmented-palette.ts';

/** Lookup tables to 8-bit colour (PS3.3 C.7.6.3.1.5). */
export interface Palette {
  /** First stored value that is mapped; lower ones take the first entry, higher ones the last. */
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
    throw new Refusal('the colour palette is cut short');
  }
  // 8-bit entries are packed two in a word; some writers give each a word of its own.
  if (bits === 8 && data.length < entries * 2) return Uint8Array.from(data.subarray(0, entries));
  const words = Uint16Array.from({ length: entries }, (_, index) => data.readUInt16LE(index * 2));
  // Tables that announce 16 bits and hold 8 are common; scaled down they would be black.
  const eightBit = words.every((word) => word < 256);
  return Uint8Array.from(words, (word) => (eightBit ? word : word >> 8));
}

function channel(header: DicomHeader, colour: Colour): { first: number; values: Uint8Array } {
  const descriptor = header.values.get(`${colour}PaletteColorLookupTableDescriptor`);
  if (!Array.isArray(descriptor)) throw new Refusal('the colour palette is missing');
  const [count = 0, first = 0, bits = 16] = descriptor;
  const entries = count === 0 ? 65_536 : count;
  const data = bytesOf(header, `${colour}PaletteColorLookupTableData`);
  if (data) return { first, values: table(data, entries, bits) };
  const segments = bytesOf(header, `Segmented${colour}PaletteColorLookupTableData`);
  if (!segments) throw new Refusal('the colour palette is missing');
  return { first, values: Uint8Array.from(expandSegments(segments, entries), (word) => word >> 8) };
}

/** Reads the three tables; throws a Refusal where one is missing, short or damaged. */
export function readPalette(header: DicomHeader): Palette {
  const red = channel(header, 'Red');
  return {
    first: red.first,
    red: red.values,
    green: channel(header, 'Green').values,
    blue: channel(header, 'Blue').values,
  };
}
