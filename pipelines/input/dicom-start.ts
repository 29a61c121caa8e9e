export const IMPLICIT_LITTLE_ENDIAN = '1.2.840.10008.1.2';
export const EXPLICIT_LITTLE_ENDIAN = '1.2.840.10008.1.2.1';
export const EXPLICIT_BIG_ENDIAN = '1.2.840.10008.1.2.2';

/** 128 bytes of anything and `DICM` (PS3.10 7.1). */
export const PREAMBLE_BYTES = 132;

/** Types of the elements that a data set may begin with, those of group 0008. */
const FIRST_TYPES = /^(AE|CS|DA|DT|LO|PN|SH|SQ|ST|TM|UI|UL|UN)$/;
const LAST_ELEMENT_OF_0008 = 0x9999;
/** A length, a character set, an image type or a UID comes first; none is longer. */
const LONGEST_FIRST_VALUE = 1024;

export function hasPreamble(head: Buffer): boolean {
  return head.toString('latin1', PREAMBLE_BYTES - 4, PREAMBLE_BYTES) === 'DICM';
}

/**
 * The transfer syntax of a data set that stands without File Meta Information, by its first element,
 * which is of group 0008. Null where the bytes are no such element.
 */
export function guessSyntax(head: Buffer): string | null {
  if (head.length < 8) return null;
  const explicit = FIRST_TYPES.test(head.toString('latin1', 4, 6));
  if (head.readUInt16BE(0) === 8) return explicit ? EXPLICIT_BIG_ENDIAN : null;
  if (head.readUInt16LE(0) !== 8 || head.readUInt16LE(2) > LAST_ELEMENT_OF_0008) return null;
  if (explicit) return EXPLICIT_LITTLE_ENDIAN;
  return head.readUInt32LE(4) <= LONGEST_FIRST_VALUE ? IMPLICIT_LITTLE_ENDIAN : null;
}

/**
 * Whether a file is DICOM by its first bytes: with the preamble of PS3.10, with File Meta
 * Information alone, or a data set alone as old writers and some archives leave it.
 */
export function isDicom(head: Buffer): boolean {
  const meta =
    head.length >= 8 && head.readUInt16LE(0) === 2 && head.toString('latin1', 4, 6) === 'UL';
  return hasPreamble(head) || meta || guessSyntax(head) !== null;
}
