/**
 * This file decodes text according to (0008,0005) Specific Character Set (PS3.3 C.12.1.1.2),
 * including code extensions (PS3.5 6.1.2.4 and 6.1.2.5). Code extensions are escape sequences that
 * change the character set of the bytes below 128 (G0) or of the bytes from 128 up (G1).
 */

const ESCAPE = 0x1b;

/** A character set in use for G0 or G1. Each character has `bytes` bytes. */
interface CharacterSet {
  bytes: 1 | 2;
  text(code: Uint8Array): string;
}

const decoded = (bytes: 1 | 2, label: string): CharacterSet => {
  const decoder = new TextDecoder(label);
  return { bytes, text: (code) => decoder.decode(code) };
};

const high = (byte: number) => byte | 0x80;

/**
 * Decodes ISO-IR 13, 87 and 159. EUC-JP contains these three sets with the high bit set, two of
 * them after a prefix byte.
 */
const EUC_JP = new TextDecoder('euc-jp');
const japanese = (bytes: 1 | 2, ...prefix: number[]): CharacterSet => ({
  bytes,
  text: (code) => EUC_JP.decode(Uint8Array.of(...prefix, ...[...code].map(high))),
});

const ASCII = decoded(1, 'ascii');
/** Character set for bytes from 128 up if none is declared. Most carts mean this one. */
const LATIN_1 = decoded(1, 'iso-8859-1');

/**
 * Character set for each ISO-IR number, and the escape sequence that selects it for G1 (tables
 * C.12-3 and C.12-4).
 */
const G1_SETS: Readonly<Record<string, { escape: string; set: CharacterSet }>> = {
  '100': { escape: '-A', set: LATIN_1 },
  '101': { escape: '-B', set: decoded(1, 'iso-8859-2') },
  '109': { escape: '-C', set: decoded(1, 'iso-8859-3') },
  '110': { escape: '-D', set: decoded(1, 'iso-8859-4') },
  '144': { escape: '-L', set: decoded(1, 'iso-8859-5') },
  '127': { escape: '-G', set: decoded(1, 'iso-8859-6') },
  '126': { escape: '-F', set: decoded(1, 'iso-8859-7') },
  '138': { escape: '-H', set: decoded(1, 'iso-8859-8') },
  '148': { escape: '-M', set: decoded(1, 'iso-8859-9') },
  '203': { escape: '-b', set: decoded(1, 'iso-8859-15') },
  '166': { escape: '-T', set: decoded(1, 'windows-874') },
  '13': { escape: ')I', set: japanese(1, 0x8e) },
  '149': { escape: '$)C', set: decoded(2, 'euc-kr') },
  '58': { escape: '$)A', set: decoded(2, 'gb18030') },
};

/**
 * Character set that each escape sequence selects for G0 (without ESC). JIS X 0201 is read as
 * ASCII, from which it differs in only two characters.
 */
const G0_ESCAPES: Readonly<Record<string, CharacterSet>> = {
  '(B': ASCII,
  '(J': ASCII,
  $B: japanese(2),
  '$(D': japanese(2, 0x8f),
};
const G1_ESCAPES: Readonly<Record<string, CharacterSet>> = Object.fromEntries(
  Object.values(G1_SETS).map((one) => [one.escape, one.set]),
);

/**
 * Character sets without code extensions. In these sets, one byte of a character may look like a
 * delimiter.
 */
const WHOLE: readonly [RegExp, string][] = [
  [/^ISO IR 192$/, 'utf-8'],
  [/^GB18030$/, 'gb18030'],
  [/^(ISO 2022 )?GBK$/, 'gbk'],
];

export type DecodeText = (bytes: Uint8Array, kind: TextKind) => string;

/**
 * Delimiters that end the effect of an escape sequence (PS3.5 6.1.2.5.3), in addition to the
 * control characters.
 */
const DELIMITERS = { name: '\\^=', short: '\\', long: '' } as const;
/**
 * `name` is a person name, `short` is other text that can have several values, and `long` is text
 * with a single value.
 */
export type TextKind = keyof typeof DELIMITERS;
/**
 * Control characters that end the effect of an escape sequence: line feed, form feed, carriage
 * return and tab.
 */
const ENDING_CONTROLS = '\n\f\r\t';

/**
 * Returns a function that decodes text.
 *
 * @param terms values of (0008,0005). Unknown values are ignored.
 */
export function textDecoder(terms: readonly string[]): DecodeText {
  const named = terms.map((term) =>
    term
      .toUpperCase()
      .replaceAll(/[\s_-]+/g, ' ')
      .trim(),
  );
  for (const [term, label] of WHOLE) {
    if (!named.some((name) => term.test(name))) continue;
    const decoder = new TextDecoder(label);
    return (bytes) => decoder.decode(bytes);
  }
  // G1 starts with the first declared character set. The standard requires an escape sequence to
  // select it, but many carts omit this sequence.
  const numbers = named.map((name) => /^ISO (?:2022 )?IR ?(\d+)$/.exec(name)?.[1] ?? '');
  const g1 = numbers.map((number) => G1_SETS[number]?.set).find(Boolean) ?? LATIN_1;
  return (bytes, kind) => decodeExtended(bytes, g1, DELIMITERS[kind]);
}

function decodeExtended(bytes: Uint8Array, initial: CharacterSet, delimiters: string): string {
  let [g0, g1] = [ASCII, initial];
  let text = '';
  for (let at = 0; at < bytes.length; ) {
    const byte = bytes[at] ?? 0;
    if (byte === ESCAPE) {
      const sequence = escapeAt(bytes, at + 1);
      g0 = G0_ESCAPES[sequence] ?? g0;
      g1 = G1_ESCAPES[sequence] ?? g1;
      at += 1 + sequence.length;
      continue;
    }
    const set = byte < 0x80 ? g0 : g1;
    const code = bytes.subarray(at, at + set.bytes);
    if (byte > 0x20 && set.bytes === 2 && isPair(code)) {
      text += set.text(code);
      at += 2;
      continue;
    }
    const single = String.fromCharCode(byte);
    text +=
      byte < 0x80 ? single : (set.bytes === 1 ? set : LATIN_1).text(bytes.subarray(at, at + 1));
    if (delimiters.includes(single) || ENDING_CONTROLS.includes(single))
      [g0, g1] = [ASCII, initial];
    at += 1;
  }
  return text;
}

function escapeAt(bytes: Uint8Array, at: number): string {
  for (const length of [2, 3]) {
    const sequence = String.fromCharCode(...bytes.subarray(at, at + length));
    if (sequence in G0_ESCAPES || sequence in G1_ESCAPES) return sequence;
  }
  return '';
}

function isPair([first = 0, second = 0]: Uint8Array): boolean {
  const low = second & 0x7f;
  return (first & 0x80) === (second & 0x80) && low > 0x20 && low < 0x7f;
}
