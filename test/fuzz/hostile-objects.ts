import { constants, deflateRawSync } from 'node:zlib';
import { decodeFileMeta, encodeFileMeta } from '../../pipelines/dicom/part10.ts';
import { DEFLATED_EXPLICIT_VR_LITTLE_ENDIAN } from '../../pipelines/dicom/transfer-syntaxes.ts';
import { dicomFile, type SmallObject } from '../dimse/dicom-file.ts';

/**
 * Full-size versions of objects that once stalled or ended the gateway. Each is a valid small
 * ultrasound image, apart from what is inserted before or after its Study Instance UID.
 */

const MEBIBYTE = 1024 * 1024;

/** (0008,9215) Derivation Code Sequence, which the gateway does not need. */
const UNWANTED_SEQUENCE = '00089215';
/** (0008,1032) Procedure Code Sequence, which the gateway needs. */
const WANTED_SEQUENCE = '00081032';
const UNDEFINED = 0xffffffff;
/** Its square is the length of `dicomFile`'s pixel data. */
const SIDE = 4;

export interface HostileObject {
  name: string;
  bytes: Buffer;
  /** True if a required attribute cannot be read, so that the object must be refused. */
  refused: boolean;
}

/** Encodes an element in explicit VR little endian without its value. */
function head(tag: string, vr: string, length: number): Buffer {
  const short = !/^(O.|SQ|UC|UN|UR|UT)$/.test(vr);
  const bytes = Buffer.alloc(short ? 8 : 12);
  bytes.writeUInt16LE(Number.parseInt(tag.slice(0, 4), 16), 0);
  bytes.writeUInt16LE(Number.parseInt(tag.slice(4), 16), 2);
  bytes.write(vr, 4, 'latin1');
  if (short) bytes.writeUInt16LE(length, 6);
  else bytes.writeUInt32LE(length, 8);
  return bytes;
}

function delimiter(element: number, length: number): Buffer {
  const bytes = Buffer.from([0xfe, 0xff, 0, 0xe0, 0, 0, 0, 0]);
  bytes.writeUInt16LE(element, 2);
  bytes.writeUInt32LE(length, 4);
  return bytes;
}

const ITEM = 0xe000;

/** Encodes nested sequences of undefined length. `closed` adds the delimiters that end them. */
function nested(tag: string, depth: number, closed: boolean): Buffer {
  const open = Buffer.concat([head(tag, 'SQ', UNDEFINED), delimiter(ITEM, UNDEFINED)]);
  const close = Buffer.concat([delimiter(0xe00d, 0), delimiter(0xe0dd, 0)]);
  return Buffer.concat([
    ...Array.from({ length: depth }, () => open),
    ...(closed ? Array.from({ length: depth }, () => close) : []),
  ]);
}

/** Encodes nested sequences with explicit lengths, each covering everything inside it. */
function nestedByLength(tag: string, depth: number): Buffer {
  const each = 20;
  const bytes = Buffer.alloc(depth * each);
  for (let level = 0; level < depth; level += 1) {
    const rest = (depth - level) * each;
    head(tag, 'SQ', rest - 12).copy(bytes, level * each);
    delimiter(ITEM, rest - 20).copy(bytes, level * each + 12);
  }
  return bytes;
}

function emptyElements(count: number): Buffer {
  const bytes = Buffer.alloc(count * 8);
  for (let index = 0; index < count; index += 1) {
    // The empty elements are private, in the odd groups after 0009.
    const group = 0x0009 + 2 * Math.floor(index / 0xf000);
    bytes.writeUInt16LE(group, index * 8);
    bytes.writeUInt16LE(0x1000 + (index % 0xf000), index * 8 + 2);
    bytes.write('LO', index * 8 + 4, 'latin1');
  }
  return bytes;
}

const invalidUtf8 = (length: number) => Buffer.alloc(length, Buffer.from([0xc3, 0x28, 0xff, 0xe2]));

const value = (tag: string, vr: string, bytes: Buffer) =>
  Buffer.concat([head(tag, vr, bytes.length), bytes]);

function withInserted(object: SmallObject, inserted: Buffer): Buffer {
  const file = dicomFile(object);
  const at = file.indexOf(
    Buffer.from([0x20, 0, 0x0d, 0, 0x55, 0x49]),
    decodeFileMeta(file).dataSetOffset,
  );
  return Buffer.concat([file.subarray(0, at), inserted, file.subarray(at)]);
}

/** Deflates bytes as a part of a stream that others may follow. */
const deflatedPart = (bytes: Buffer) =>
  deflateRawSync(bytes, { finishFlush: constants.Z_FULL_FLUSH });

/**
 * Deflates in parts of 1 MiB. Those that are only zeros are all the same, so only one is deflated. Level
 * 9 would take ten times as long for the empty elements.
 */
function deflated(file: Buffer): Buffer {
  const { meta, dataSetOffset } = decodeFileMeta(file);
  const transferSyntax = DEFLATED_EXPLICIT_VR_LITTLE_ENDIAN;
  const zeros = Buffer.alloc(MEBIBYTE);
  const deflatedZeros = deflatedPart(zeros);
  const parts: Buffer[] = [];
  for (let at = dataSetOffset; at < file.length; at += MEBIBYTE) {
    const part = file.subarray(at, at + MEBIBYTE);
    parts.push(part.equals(zeros) ? deflatedZeros : deflatedPart(part));
  }
  const end = deflateRawSync(Buffer.alloc(0));
  return Buffer.concat([encodeFileMeta({ ...meta, transferSyntax }), ...parts, end]);
}

/** Encodes the measurements of a report: content items that all state a gestational age. */
function longReport(items: number): Buffer {
  const text = (tag: string, vr: string, content: string) =>
    value(tag, vr, Buffer.from(content.padEnd(content.length + (content.length % 2))));
  const code = Buffer.concat([
    text('00080100', 'SH', '11885-2'),
    text('00080102', 'SH', 'LN'),
    text('00080104', 'LO', 'Gestational age'),
  ]);
  const concept = Buffer.concat([delimiter(ITEM, code.length), code]);
  const content = value('0040A043', 'SQ', concept);
  const item = Buffer.concat([delimiter(ITEM, content.length), content]);
  return value('0040A730', 'SQ', Buffer.concat(Array.from({ length: items }, () => item)));
}

/**
 * Returns the hostile objects.
 * @param study the Study Instance UID of all these objects.
 * @param part share of the full size, for fuzzers that read thousands of objects.
 */
export function hostileObjects(study: string, part = 1): HostileObject[] {
  const sized = (full: number) => Math.ceil(full * part);
  const base = (index: number): SmallObject => ({
    sopInstanceUid: `${study}.${index}`,
    studyInstanceUid: study,
    characterSet: 'ISO_IR 192',
    side: SIDE,
  });
  const objects: [string, boolean, (object: SmallObject) => Buffer][] = [
    [
      '200,000 nested sequences',
      true,
      (object) => withInserted(object, nested(UNWANTED_SEQUENCE, sized(200_000), true)),
    ],
    [
      '200,000 nested sequences that never end',
      true,
      (object) => withInserted(object, nested(UNWANTED_SEQUENCE, sized(200_000), false)),
    ],
    [
      '200,000 nested sequences of codes',
      true,
      (object) => withInserted(object, nestedByLength(WANTED_SEQUENCE, sized(200_000))),
    ],
    [
      '200,000 nested sequences with lengths',
      false,
      (object) => withInserted(object, nestedByLength(UNWANTED_SEQUENCE, sized(200_000))),
    ],
    [
      '60 MB of invalid UTF-8',
      false,
      (object) =>
        withInserted(object, value('00104000', 'UT', invalidUtf8(4 * sized(15 * MEBIBYTE)))),
    ],
    [
      'a reason of 60 MB of invalid UTF-8',
      true,
      (object) =>
        withInserted(object, value('00321030', 'UT', invalidUtf8(4 * sized(15 * MEBIBYTE)))),
    ],
    [
      'a study id of 60 MB of invalid UTF-8',
      true,
      (object) =>
        withInserted(object, value('00200010', 'UT', invalidUtf8(4 * sized(15 * MEBIBYTE)))),
    ],
    [
      'a million empty elements',
      true,
      (object) => withInserted(object, emptyElements(sized(1_000_000))),
    ],
    [
      'a report of 100,000 items',
      true,
      (object) => withInserted(object, longReport(sized(100_000))),
    ],
    [
      'a deflate bomb of 256 MB before the study',
      true,
      (object) =>
        deflated(
          withInserted(object, value('00091010', 'UN', Buffer.alloc(2 * sized(128 * MEBIBYTE)))),
        ),
    ],
    [
      'a deflated million of empty elements',
      true,
      (object) => deflated(withInserted(object, emptyElements(sized(1_000_000)))),
    ],
    [
      'a deflate bomb of 256 MB of pixels',
      false,
      (object) =>
        deflated(dicomFile({ ...object, pixels: Buffer.alloc(2 * sized(128 * MEBIBYTE)) })),
    ],
  ];
  return objects.map(([name, refused, make], index) => ({
    name,
    refused,
    bytes: make(base(index + 1)),
  }));
}
