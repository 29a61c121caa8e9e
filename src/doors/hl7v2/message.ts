/**
 * Messages of HL7 version 2 in their vertical-bar encoding (2.5.1, chapter 2): segments of fields,
 * which have repetitions, components and subcomponents. Libraries of npm were compared and left: they
 * keep connections and repeat messages themselves, which is the outbox's work, or cannot be installed.
 */

/** Repetitions of components of subcomponents; text as it is meant, without escapes. */
export type Field = readonly (readonly (readonly string[])[])[];

export interface Segment {
  name: string;
  /** Field n of the standard is at n - 1; for MSH, whose first field is the separator, at n - 2. */
  fields: readonly Field[];
}

/** One repetition: text alone, or components, each alone or as subcomponents. */
export type Value = string | readonly (string | readonly string[])[];

const repetition = (value: Value): string[][] =>
  typeof value === 'string'
    ? [[value]]
    : value.map((component) => (typeof component === 'string' ? [component] : [...component]));

/** A field with several repetitions. */
export const repeated = (values: readonly Value[]): { repetitions: readonly Value[] } => ({
  repetitions: values,
});

/** A segment from its fields, by the number that the standard gives them. */
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

/** MSH-1 and MSH-2 as this gateway writes them. */
const FIELD = '|';
const ENCODING = { component: '^', repetition: '~', escapes: '\\', subcomponent: '&' } as const;
const SEGMENT_END = '\r';

/** Escape sequences of the separators (2.7.1). */
const ESCAPED: Readonly<Record<string, string>> = {
  [FIELD]: 'F',
  [ENCODING.component]: 'S',
  [ENCODING.repetition]: 'R',
  [ENCODING.escapes]: 'E',
  [ENCODING.subcomponent]: 'T',
};

/** Characters that may not be in a message as they are: separators, and controls (2.5.3). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: controls are what it looks for.
const UNSAFE = /[|^~\\&\x00-\x1f\x7f]/g;

const escapeText = (text: string): string =>
  text.replace(UNSAFE, (character) => {
    const letter = ESCAPED[character];
    const hex = character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0');
    return `\\${letter ?? `X${hex}`}\\`;
  });

/** Joins parts, without the empty ones at the end, which mean the same as none. */
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

/** A message as text; its first segment is MSH, whose first two fields are written here. */
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

/** Not a message of HL7 version 2. */
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

/** Separators of a foreign message, as its MSH states them. */
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

/** Splits by a separator that the message may not define. */
const split = (text: string, separator: string): string[] =>
  separator === '' ? [text] : text.split(separator);

/**
 * The text of an escaped value. Sequences of formatting and unknown ones carry no text and are left
 * out; an escape character without its partner is taken as it is.
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
 * A foreign message. Its size is bounded where it is received.
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
      // MSH-2 holds the separators themselves.
      const isHeader = name === 'MSH';
      return {
        name,
        fields: fields.map((field, index) =>
          isHeader && index === 0 ? [[[field]]] : fieldOf(field),
        ),
      };
    });
}

/** The text of a component of the first repetition; '' where the message has none. */
export function componentOf(
  { name, fields }: Segment,
  field: number,
  component = 1,
  subcomponent = 1,
): string {
  const index = name === 'MSH' ? field - 2 : field - 1;
  return fields[index]?.[0]?.[component - 1]?.[subcomponent - 1] ?? '';
}

/** The repetitions of a field; empty where the segment has none. */
export function repetitionsOf({ name, fields }: Segment, field: number): Field {
  return fields[name === 'MSH' ? field - 2 : field - 1] ?? [];
}

/** Character sets of MSH-18 (table 0211) that this gateway writes. */
export const CHARACTER_SETS = { utf8: 'UNICODE UTF-8', latin1: '8859/1' } as const;
export type CharacterSet = (typeof CHARACTER_SETS)[keyof typeof CHARACTER_SETS];

// biome-ignore lint/suspicious/noControlCharactersInRegex: the range is that of ISO 8859-1.
const LATIN_1 = /^[\x00-\x7f\xa0-\xff]*$/;

/** The preferred character set; UTF-8 for a text that has other characters. */
export const characterSetFor = (text: string, preferred: CharacterSet): CharacterSet =>
  LATIN_1.test(text) ? preferred : CHARACTER_SETS.utf8;

export const encodeText = (text: string, set: CharacterSet): Buffer =>
  Buffer.from(text, set === CHARACTER_SETS.latin1 ? 'latin1' : 'utf8');

/** A field of MSH as it is written, read before its character set is known: every name in it is ASCII. */
export function writtenHeaderField(bytes: Buffer, field: number): string {
  const [header = ''] = bytes
    .subarray(0, 2000)
    .toString('latin1')
    .split(/[\r\n]/, 1);
  return header.split(header[3] ?? '|')[field - 1]?.trim() ?? '';
}

/**
 * The decoder of a character set of MSH-18; undefined for one that is not read. ASCII is read as
 * UTF-8, which includes it.
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

/** The text of a received message by its MSH-18, whatever that is; without one, UTF-8. */
export function decodeText(bytes: Buffer): string {
  const [set = ''] = writtenHeaderField(bytes, 18).split(/[~^]/);
  return (decoderOf(set, false) ?? new TextDecoder()).decode(bytes);
}
