/**
 * HL7 version 2 messages in vertical-bar encoding (HL7 2.5.1, chapter 2): segments of fields, which
 * have repetitions, components and subcomponents. We use no npm library: some keep connections open
 * and repeat messages, which is the outbox's task, and others cannot be installed.
 */

/** Repetitions, their components and their subcomponents. The text contains no escape sequences. */
export type Field = readonly (readonly (readonly string[])[])[];

export interface Segment {
  name: string;
  /**
   * Field n of the standard is at index n - 1. In MSH, whose first field is the separator, it is at
   * index n - 2.
   */
  fields: readonly Field[];
}

/**
 * One repetition: a single text, or components, each of which is a text or a list of subcomponents.
 */
export type Value = string | readonly (string | readonly string[])[];

const repetition = (value: Value): string[][] =>
  typeof value === 'string'
    ? [[value]]
    : value.map((component) => (typeof component === 'string' ? [component] : [...component]));

/** Creates a field with several repetitions. */
export const repeated = (values: readonly Value[]): { repetitions: readonly Value[] } => ({
  repetitions: values,
});

/** Creates a segment from its fields, keyed by field number in the standard. */
export function segment(
  name: string,
  fields: Readonly<Record<number, Value | ReturnType<typeof repeated>>>,
): Segment {
  const first = name === 'MSH' ? 2 : 1;
  const last = Math.max(first, ...Object.keys(fields).map(Number));
  return {
    name,
    fields: Array.from({ length: last - first + 1 }, (_, index): Field => {
      const value = fields[index + first] ?? '';
      return typeof value === 'object' && 'repetitions' in value
        ? value.repetitions.map(repetition)
        : [repetition(value)];
    }),
  };
}

/** MSH-1 and MSH-2 as written by this gateway. */
const FIELD = '|';
const ENCODING = { component: '^', repetition: '~', escapes: '\\', subcomponent: '&' } as const;
const SEGMENT_END = '\r';

/** Escape sequences of the separators (HL7 2.5.1, chapter 2.7.1). */
const ESCAPED: Readonly<Record<string, string>> = {
  [FIELD]: 'F',
  [ENCODING.component]: 'S',
  [ENCODING.repetition]: 'R',
  [ENCODING.escapes]: 'E',
  [ENCODING.subcomponent]: 'T',
};

/**
 * Characters that must be escaped in a message: separators and control characters (HL7 2.5.1,
 * chapter 2.5.3).
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: it searches for control characters.
const UNSAFE = /[|^~\\&\x00-\x1f\x7f]/g;

const escapeText = (text: string): string =>
  text.replace(UNSAFE, (character) => {
    const letter = ESCAPED[character];
    const hex = character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0');
    return `\\${letter ?? `X${hex}`}\\`;
  });

/**
 * Joins parts and drops empty ones at the end, because a trailing empty part means the same as a
 * missing one.
 */
function joined(parts: readonly string[], separator: string): string {
  const last = parts.findLastIndex((part) => part !== '');
  return parts.slice(0, last + 1).join(separator);
}

function encodeField(field: Field): string {
  const { component, repetition, subcomponent } = ENCODING;
  const written = field.map((one) =>
    joined(
      one.map((parts) => joined(parts.map(escapeText), subcomponent)),
      component,
    ),
  );
  return joined(written, repetition);
}

/**
 * Encodes a message as text. The first segment is MSH, whose first two fields this function adds.
 */
export function encodeMessage(segments: readonly Segment[]): string {
  const { component, repetition, escapes, subcomponent } = ENCODING;
  return segments
    .map(({ name, fields }) => {
      const own = fields.map(encodeField);
      if (name !== 'MSH') return joined([name, ...own], FIELD) + SEGMENT_END;
      const encoding = component + repetition + escapes + subcomponent;
      return joined([name, encoding, ...own.slice(1)], FIELD) + SEGMENT_END;
    })
    .join('');
}

/** Thrown for text that is not a message of HL7 version 2. */
export class NotHl7 extends Error {
  override name = 'NotHl7';
}

interface Separators {
  field: string;
  component: string;
  repetition: string;
  escapes: string;
  subcomponent: string;
}

function separatorsOf(text: string): Separators {
  const field = text[3] ?? '';
  const [component = '', repetition = '', escapes = '', subcomponent = ''] = [
    ...text.slice(4).split(field, 1).join(''),
  ];
  const all = [field, component, repetition, escapes, subcomponent].filter(Boolean);
  const usable = text.startsWith('MSH') && field !== '' && component !== '';
  if (!usable || new Set(all).size !== all.length || all.some((one) => /[\w\s]/.test(one))) {
    throw new NotHl7('The message does not begin with MSH and its separators.');
  }
  return { field, component, repetition, escapes, subcomponent };
}

/**
 * Splits a text by a separator. A separator that the message does not define is '', and the text is
 * then not split.
 */
const split = (text: string, separator: string): string[] =>
  separator === '' ? [text] : text.split(separator);

/**
 * Decodes the escape sequences in a value. Formatting sequences and unknown sequences are omitted,
 * because they contain no text. An unpaired escape character is kept.
 */
function unescapeText(text: string, separators: Separators): string {
  const { escapes } = separators;
  if (escapes === '' || !text.includes(escapes)) return text;
  const meant: Readonly<Record<string, string>> = {
    F: separators.field,
    S: separators.component,
    R: separators.repetition,
    E: escapes,
    T: separators.subcomponent,
    '.br': '\n',
  };
  const parts = text.split(escapes);
  let plain = parts[0] ?? '';
  for (let at = 1; at < parts.length; at += 2) {
    const sequence = parts[at] ?? '';
    if (at === parts.length - 1) return plain + escapes + sequence;
    const hex = /^X((?:[0-9A-Fa-f]{2})+)$/.exec(sequence)?.[1];
    plain += meant[sequence] ?? (hex ? Buffer.from(hex, 'hex').toString('latin1') : '');
    plain += parts[at + 1] ?? '';
  }
  return plain;
}

/**
 * Decodes a received message. The caller has already limited its size.
 * @throws NotHl7
 */
export function decodeMessage(text: string): Segment[] {
  const separators = separatorsOf(text);
  const plain = (part: string) => unescapeText(part, separators);
  const fieldOf = (written: string): Field =>
    split(written, separators.repetition).map((repetition) =>
      split(repetition, separators.component).map((component) =>
        split(component, separators.subcomponent).map(plain),
      ),
    );
  return text
    .split(/[\r\n]+/)
    .filter((line) => line !== '')
    .map((line): Segment => {
      const [name = '', ...fields] = line.split(separators.field);
      // MSH-2 contains the separators themselves, so it is not decoded.
      const isHeader = name === 'MSH';
      return {
        name,
        fields: fields.map((field, index) =>
          isHeader && index === 0 ? [[[field]]] : fieldOf(field),
        ),
      };
    });
}

/**
 * Returns a component of a field's first repetition as text; '' if the message does not have it.
 */
export function componentOf(
  { name, fields }: Segment,
  field: number,
  component = 1,
  subcomponent = 1,
): string {
  const index = name === 'MSH' ? field - 2 : field - 1;
  return fields[index]?.[0]?.[component - 1]?.[subcomponent - 1] ?? '';
}

/** Returns the repetitions of a field; empty if the segment does not have it. */
export function repetitionsOf({ name, fields }: Segment, field: number): Field {
  return fields[name === 'MSH' ? field - 2 : field - 1] ?? [];
}

/** Character sets that this gateway writes, as named in MSH-18 (table 0211). */
const CHARACTER_SETS = { utf8: 'UNICODE UTF-8', latin1: '8859/1' } as const;
export type CharacterSet = (typeof CHARACTER_SETS)[keyof typeof CHARACTER_SETS];

// biome-ignore lint/suspicious/noControlCharactersInRegex: the range is that of ISO 8859-1.
const LATIN_1 = /^[\x00-\x7f\xa0-\xff]*$/;

/** Returns the preferred character set, or UTF-8 if the text has characters outside Latin-1. */
export const characterSetFor = (text: string, preferred: CharacterSet): CharacterSet =>
  LATIN_1.test(text) ? preferred : CHARACTER_SETS.utf8;

export const encodeText = (text: string, set: CharacterSet): Buffer =>
  Buffer.from(text, set === CHARACTER_SETS.latin1 ? 'latin1' : 'utf8');

/**
 * Returns the raw text of an MSH field. It can be read before the character set is known, because
 * the names of all character sets are ASCII.
 */
export function writtenHeaderField(bytes: Buffer, field: number): string {
  const [header = ''] = bytes
    .subarray(0, 2000)
    .toString('latin1')
    .split(/[\r\n]/, 1);
  return header.split(header[3] ?? '|')[field - 1]?.trim() ?? '';
}

/**
 * Returns the decoder for a character set in MSH-18; undefined if the gateway does not support it.
 * ASCII is read as UTF-8, which includes it.
 */
export function decoderOf(
  set: string,
  fatal: boolean,
): InstanceType<typeof TextDecoder> | undefined {
  const part = /^8859\/(\d{1,2})$/.exec(set)?.[1];
  if (part === undefined && !['', 'ASCII', 'UNICODE UTF-8', 'UNICODE'].includes(set))
    return undefined;
  try {
    return new TextDecoder(part ? `iso-8859-${part}` : 'utf-8', { fatal });
  } catch {
    return undefined;
  }
}

/**
 * Decodes a received message with the character set in its MSH-18, or as UTF-8 if there is none.
 */
export function decodeText(bytes: Buffer): string {
  const [set = ''] = writtenHeaderField(bytes, 18).split(/[~^]/);
  return (decoderOf(set, false) ?? new TextDecoder()).decode(bytes);
}
