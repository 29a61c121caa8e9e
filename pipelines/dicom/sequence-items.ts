import dcmjs, { type ReadStream, type TagDataset } from 'dcmjs';
import { ITEM, ITEM_END, LONG_FORM, SEQUENCE_END, UNDEFINED_LENGTH } from './elements.ts';
import { IMPLICIT_VR_LITTLE_ENDIAN } from './transfer-syntaxes.ts';

/**
 * Reads the items of a sequence for dcmjs, whose own reader leaves out empty items: the items after
 * them would move, for example to another frame in Per-frame Functional Groups Sequence. It also ends
 * an item of undefined length at its delimiter, where dcmjs searches for the bytes of one, which a
 * value can contain.
 *
 * @param length of the sequence in bytes, or `UNDEFINED_LENGTH`.
 */
export function readItems(
  stream: ReadStream,
  length: number,
  transferSyntax: string,
): TagDataset[] {
  const explicit = transferSyntax !== IMPLICIT_VR_LITTLE_ENDIAN;
  const end = length === UNDEFINED_LENGTH ? null : stream.offset + length;
  const items: TagDataset[] = [];
  while (end === null || stream.offset < end) {
    const item = delimiterAt(stream);
    if (item.tag === SEQUENCE_END) break;
    if (item.tag !== ITEM) throw new Error('a sequence contains something that is not an item');
    const toDelimiter = item.length === UNDEFINED_LENGTH;
    const bytes = toDelimiter ? bytesToDelimiter(stream, explicit) : item.length;
    // dcmjs cannot read an empty stream.
    items.push(
      bytes === 0 ? {} : dcmjs.data.DicomMessage._read(stream.more(bytes), transferSyntax),
    );
    if (toDelimiter) delimiterAt(stream);
  }
  return items;
}

function tagAt(stream: ReadStream): number {
  return stream.readUint16() * 0x10000 + stream.readUint16();
}

function delimiterAt(stream: ReadStream): { tag: number; length: number } {
  return { tag: tagAt(stream), length: stream.readUint32() };
}

/** Returns the number of bytes before the delimiter of an item, and does not move the stream. */
function bytesToDelimiter(stream: ReadStream, explicit: boolean): number {
  const start = stream.offset;
  skipElements(stream, explicit);
  const bytes = stream.offset - DELIMITER_BYTES - start;
  stream.offset = start;
  return bytes;
}

const DELIMITER_BYTES = 8;

/** Moves the stream after the delimiter of the item in which it is. */
function skipElements(stream: ReadStream, explicit: boolean): void {
  for (;;) {
    const tag = tagAt(stream);
    if (tag === ITEM_END) {
      stream.increment(4);
      return;
    }
    const vr = explicit ? stream.readVR() : '';
    if (LONG_FORM.has(vr)) stream.increment(2);
    const length = explicit && !LONG_FORM.has(vr) ? stream.readUint16() : stream.readUint32();
    // A sequence of unknown VR is encoded in Implicit VR (PS3.5 6.2.2 note 2).
    if (length === UNDEFINED_LENGTH) skipItems(stream, explicit && vr !== 'UN');
    else stream.increment(length);
  }
}

/** Moves the stream after the delimiter of the sequence, or of the fragments, in which it is. */
function skipItems(stream: ReadStream, explicit: boolean): void {
  for (;;) {
    const { tag, length } = delimiterAt(stream);
    if (tag === SEQUENCE_END) return;
    if (length === UNDEFINED_LENGTH) skipElements(stream, explicit);
    else stream.increment(length);
  }
}
