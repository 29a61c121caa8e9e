import dcmjs, {
  type DicomFile,
  type NaturalDataset,
  type TagDataset,
  type TagElement,
} from 'dcmjs';
import { SonogateError } from '../../src/platform/errors/catalogue.ts';
import { type DecodeText, type TextKind, textDecoder } from './character-set.ts';
import { decodeFileMeta, encodeFileMeta } from './part10.ts';
import { readItems } from './sequence-items.ts';
import { EXPLICIT_VR_BIG_ENDIAN, IMPLICIT_VR_LITTLE_ENDIAN } from './transfer-syntaxes.ts';

/**
 * This file converts data sets from and to bytes. dcmjs uses only the first value of (0008,0005) to
 * decode text, and refuses or truncates a header with several values. The character sets are
 * therefore removed before dcmjs reads the file. dcmjs then returns one character per byte, and the
 * text is decoded here.
 */

/** The shared readers of dcmjs that return 0 for an empty element. */
const BINARY_NUMBERS = ['FD', 'FL', 'SL', 'SS', 'UL', 'US'].map((vr) =>
  dcmjs.data.ValueRepresentation.createByTypeString(vr),
);
/** The shared reader of sequences of dcmjs, and how it reads. */
const SEQUENCE = dcmjs.data.ValueRepresentation.createByTypeString('SQ');
const readItemsByDcmjs = SEQUENCE.readBytes;

const CHARACTER_SET = '00080005';
const PIXEL_DATA = '7FE00010';
const GROUP = 0x0008;
const ELEMENT = 0x0005;
/**
 * Maximum length of (0008,0005) in bytes. No data set needs more than six values of sixteen
 * characters.
 */
const MAX_CHARACTER_SET_BYTES = 128;
const SEVERAL_SETS = /^[\w -]*\\[\w\\ -]*\0?$/;
/** Matches text that is encoded identically in every character set and needs no decoding. */
const PLAIN = /^[ -~]*$/;

/** Value representations whose text is encoded in the Specific Character Set (PS3.5 6.1.2.2). */
export const TEXT_KINDS: Readonly<Record<string, TextKind>> = {
  PN: 'name',
  LO: 'short',
  SH: 'short',
  UC: 'short',
  LT: 'long',
  ST: 'long',
  UT: 'long',
};

/**
 * Maps each character that dcmjs returns if no character set is declared (its "latin1") to its
 * byte.
 */
const BYTE_OF = new Map(
  [...new TextDecoder('latin1').decode(Uint8Array.from({ length: 256 }, (_, byte) => byte))].map(
    (character, byte) => [character, byte],
  ),
);

/**
 * Overwrites (0008,0005) of the data set with blanks. It does the same in items that declare
 * several character sets, because dcmjs would stop there.
 *
 * @returns the values of (0008,0005) of the data set; empty if it has none.
 */
function takeCharacterSets(file: Buffer): string[] {
  const { meta, dataSetOffset } = decodeFileMeta(file);
  const explicit = meta.transferSyntax !== IMPLICIT_VR_LITTLE_ENDIAN;
  const bigEndian = meta.transferSyntax === EXPLICIT_VR_BIG_ENDIAN;
  const uint16 = (at: number) => (bigEndian ? file.readUInt16BE(at) : file.readUInt16LE(at));
  const lengthAt = (at: number) => (explicit ? uint16(at + 6) : file.readUInt32LE(at + 4));
  const valueAt = (at: number) => file.subarray(at + 8, at + 8 + lengthAt(at));
  let sets: string[] = [];
  // Only the group length and (0008,0001) can come before (0008,0005). Their element headers have
  // eight bytes in every encoding, so the loop can step over them.
  for (let at = dataSetOffset; at + 8 <= file.length; at += 8 + lengthAt(at)) {
    if (uint16(at) !== GROUP || uint16(at + 2) > ELEMENT) break;
    if (uint16(at + 2) < ELEMENT) continue;
    sets = valueAt(at).toString('latin1').replaceAll('\0', ' ').split('\\');
    valueAt(at).fill(' ');
  }
  const pattern = Buffer.from([GROUP, 0, ELEMENT, 0]);
  if (bigEndian) pattern.swap16();
  for (let at = file.indexOf(pattern); at >= 0; at = file.indexOf(pattern, at + 4)) {
    if (at + 8 > file.length || lengthAt(at) > MAX_CHARACTER_SET_BYTES) continue;
    const value = valueAt(at);
    if (SEVERAL_SETS.test(value.toString('latin1'))) value.fill(' ');
  }
  return sets;
}

/**
 * Reads a DICOM file, or its start, with dcmjs: the data set by tag, with its text decoded. The
 * character sets in `file` are overwritten.
 *
 * An empty element has no value. Read as 0, an empty key of a query (universal matching, PS3.4
 * C.2.2.2.3) would match nothing, and copies and JSON of an object would contain a made-up number.
 * An empty item is an item. dcmjs has no option for either, so its readers are changed for the time
 * of this call.
 *
 * @param part the whole data set, or the elements before the pixel data.
 * @throws Error if dcmjs cannot read it.
 */
export function readDataSet(
  file: Buffer,
  part: 'whole' | 'before-pixels',
): Pick<DicomFile, 'meta' | 'dict'> {
  const sets = takeCharacterSets(file);
  const bytes = file.buffer.slice(file.byteOffset, file.byteOffset + file.length) as ArrayBuffer;
  const options = part === 'whole' ? {} : { untilTag: PIXEL_DATA, includeUntilTagValue: false };
  for (const vr of BINARY_NUMBERS) vr.defaultValue = undefined;
  SEQUENCE.readBytes = readItems;
  try {
    const { meta, dict } = dcmjs.data.DicomMessage.readFile(bytes, options);
    decodeItem(dict, textDecoder(sets));
    return { meta, dict };
  } finally {
    for (const vr of BINARY_NUMBERS) vr.defaultValue = 0;
    SEQUENCE.readBytes = readItemsByDcmjs;
  }
}

/** Decodes, in place, the text in a data set that dcmjs read without its character sets. */
function decodeItem(item: TagDataset, decode: DecodeText): void {
  const itemSet: TagElement | undefined = item[CHARACTER_SET];
  // If an item declares one character set, dcmjs has already decoded its text.
  if (itemSet && rawText(itemSet).trim() !== '') return;
  for (const [tag, element] of Object.entries(item)) {
    const kind = TEXT_KINDS[element.vr];
    if (kind) {
      const text = rawText(element);
      const bytes = PLAIN.test(text) ? null : bytesOf(text);
      if (bytes) item[tag] = { vr: element.vr, Value: valuesOf(decode(bytes, kind), kind) };
    } else if (element.vr === 'SQ') {
      for (const inner of itemsOfElement(element)) decodeItem(inner, decode);
    }
  }
}

/**
 * Returns the bytes from which dcmjs made the text; null if a character does not come from a byte.
 */
function bytesOf(text: string): Uint8Array | null {
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) {
    const byte = BYTE_OF.get(text.charAt(at));
    if (byte === undefined) return null;
    bytes[at] = byte;
  }
  return bytes;
}

function rawText({ _rawValue: raw }: TagElement): string {
  return (Array.isArray(raw) ? raw : [raw]).filter((one) => typeof one === 'string').join('\\');
}

function valuesOf(text: string, kind: TextKind): unknown[] {
  if (kind === 'long') return [text.trimEnd()];
  const values = text.split('\\').map((value) => value.trim());
  if (kind === 'short') return values;
  return values.map((value) => {
    const [Alphabetic = '', Ideographic = '', Phonetic = ''] = value.split('=');
    return { Alphabetic, Ideographic, Phonetic };
  });
}

export function textValues(bytes: Buffer, kind: TextKind, decode: DecodeText): unknown[] {
  const plain = bytes.toString('latin1');
  return valuesOf(PLAIN.test(plain) ? plain : decode(bytes, kind), kind);
}

export function itemsOfElement({ Value }: TagElement): TagDataset[] {
  const items: unknown[] = Value ?? [];
  return items.filter((item): item is TagDataset => typeof item === 'object' && item !== null);
}

/**
 * Placeholder UID in the file meta information. dcmjs reads and writes only whole files, and these
 * must identify an object.
 */
const NO_UID = '0.0';

/**
 * Decodes the data set of a DIMSE message to keywords and values.
 *
 * @throws SonogateError `object_not_understood` if the bytes are not a data set in this transfer
 * syntax.
 */
export function decodeDataSet(bytes: Buffer, transferSyntax: string): NaturalDataset {
  const file = Buffer.concat([
    encodeFileMeta({
      sopClassUid: NO_UID,
      sopInstanceUid: NO_UID,
      transferSyntax,
      sourceAeTitle: '',
      receivingAeTitle: '',
    }),
    bytes,
  ]);
  try {
    const { dict } = readDataSet(file, 'whole');
    return dcmjs.data.DicomMetaDictionary.naturalizeDataset(dict);
  } catch (error) {
    throw new SonogateError('object_not_understood', undefined, { cause: error });
  }
}

/**
 * Encodes keywords and values as the data set of a DIMSE message. Values longer than their VR permits
 * are kept, because they come from the images of a study.
 */
export function encodeDataSet(dataSet: NaturalDataset, transferSyntax: string): Buffer {
  const meta = dcmjs.data.DicomMetaDictionary.denaturalizeDataset({
    MediaStorageSOPClassUID: NO_UID,
    MediaStorageSOPInstanceUID: NO_UID,
    TransferSyntaxUID: transferSyntax,
  });
  const dictionary = new dcmjs.data.DicomDict(meta);
  dictionary.dict = dcmjs.data.DicomMetaDictionary.denaturalizeDataset(dataSet);
  const file = Buffer.from(dictionary.write({ allowInvalidVRLength: true }));
  return file.subarray(decodeFileMeta(file).dataSetOffset);
}

/**
 * Returns the Specific Character Set with which attributes must be encoded: Unicode if a value is
 * outside the default character repertoire (PS3.4 C.2.2.2), otherwise empty.
 */
export function characterSetFor(attributes: NaturalDataset): NaturalDataset {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the range is that of ISO 646.
  const isPlain = /^[\x00-\x7f]*$/.test(JSON.stringify(attributes));
  return isPlain ? {} : { SpecificCharacterSet: 'ISO_IR 192' };
}

/** Returns the items of a sequence; empty if it is absent or not a sequence. */
export function itemsOf(value: unknown): NaturalDataset[] {
  const items = Array.isArray(value) ? value : [value];
  return items.filter((item): item is NaturalDataset => typeof item === 'object' && item !== null);
}
