import { Refusal } from './refusal.ts';

const DISCRETE = 0;
const LINEAR = 1;
const INDIRECT = 2;

interface Expansion {
  words: Uint16Array;
  entries: number;
  values: number[];
}

/** The linear segment goes from the last value to `end` in `length` steps (PS3.3 C.7.9.2.2). */
function appendLinear({ values, entries }: Expansion, length: number, end: number): void {
  const start = values.at(-1);
  if (start === undefined) throw new Refusal('the colour palette is damaged');
  for (let step = 1; step <= length && values.length < entries; step += 1) {
    values.push(Math.round(start + ((end - start) * step) / length));
  }
}

/** Expands one segment at `at`; returns the place of the next. */
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
    // A byte offset in two words, least significant first (PS3.3 C.7.9.2.3).
    let source = ((words[at + 2] ?? 0) + (words[at + 3] ?? 0) * 0x10000) / 2;
    for (let segment = 0; segment < length; segment += 1) {
      source = expandSegment(expansion, source, true);
    }
    return at + 4;
  }
  throw new Refusal('the colour palette is damaged');
}

/**
 * Expands Segmented Palette Color Lookup Table Data of 16-bit words (PS3.3 C.7.9.2) to `entries`
 * values. Throws a Refusal where the segments are damaged or too few.
 */
export function expandSegments(data: Buffer, entries: number): Uint16Array {
  const words = Uint16Array.from({ length: data.length >> 1 }, (_, index) =>
    data.readUInt16LE(index * 2),
  );
  const expansion: Expansion = { words, entries, values: [] };
  let at = 0;
  while (at < words.length && expansion.values.length < entries) {
    at = expandSegment(expansion, at, false);
  }
  if (expansion.values.length < entries) throw new Refusal('the colour palette is cut short');
  return Uint16Array.from(expansion.values);
}
