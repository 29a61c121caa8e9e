/** DICOM files are written element by element, so that tests can also write invalid ones. */

type Value = readonly number[] | string | Buffer | readonly Element[][];
export type Element = readonly [tag: string, vr: string, value: Value];

export const SYNTAX = {
  implicit: '1.2.840.10008.1.2',
  explicit: '1.2.840.10008.1.2.1',
  bigEndian: '1.2.840.10008.1.2.2',
  jpegBaseline: '1.2.840.10008.1.2.4.50',
  jpegXl: '1.2.840.10008.1.2.4.110',
  h264: '1.2.840.10008.1.2.4.102',
} as const;

const LONG_FORM = new Set(['OB', 'OV', 'OW', 'SQ', 'UN', 'UT']);
const UNDEFINED_LENGTH = 0xffffffff;

interface Encoding {
  explicit: boolean;
  bigEndian: boolean;
}

function uint16({ bigEndian }: Encoding, value: number): Buffer {
  const bytes = Buffer.alloc(2);
  if (bigEndian) bytes.writeUInt16BE(value);
  else bytes.writeUInt16LE(value);
  return bytes;
}

function uint32({ bigEndian }: Encoding, value: number): Buffer {
  const bytes = Buffer.alloc(4);
  // A negative SL is stored as its two's complement.
  if (bigEndian) bytes.writeUInt32BE(value >>> 0);
  else bytes.writeUInt32LE(value >>> 0);
  return bytes;
}

function float32({ bigEndian }: Encoding, value: number): Buffer {
  const bytes = Buffer.alloc(4);
  if (bigEndian) bytes.writeFloatBE(value);
  else bytes.writeFloatLE(value);
  return bytes;
}

function float64({ bigEndian }: Encoding, value: number): Buffer {
  const bytes = Buffer.alloc(8);
  if (bigEndian) bytes.writeDoubleBE(value);
  else bytes.writeDoubleLE(value);
  return bytes;
}

function tagBytes(encoding: Encoding, tag: string): Buffer {
  return Buffer.concat([
    uint16(encoding, Number.parseInt(tag.slice(0, 4), 16)),
    uint16(encoding, Number.parseInt(tag.slice(4), 16)),
  ]);
}

function isItems(value: Value): value is readonly Element[][] {
  return Array.isArray(value) && Array.isArray(value[0]);
}

function valueBytes(encoding: Encoding, vr: string, value: Value): Buffer {
  if (Buffer.isBuffer(value)) return value;
  if (typeof value === 'string') {
    const padding = vr === 'UI' ? '\0' : ' ';
    return Buffer.from(value.length % 2 === 0 ? value : value + padding, 'latin1');
  }
  if (isItems(value)) {
    return Buffer.concat(
      value.map((elements) => {
        const content = Buffer.concat(elements.map((element) => encode(encoding, element)));
        return Buffer.concat([
          tagBytes(encoding, 'FFFEE000'),
          uint32(encoding, content.length),
          content,
        ]);
      }),
    );
  }
  const write = { US: uint16, SS: uint16, FL: float32, FD: float64 }[vr] ?? uint32;
  return Buffer.concat((value as readonly number[]).map((number) => write(encoding, number)));
}

function encode(encoding: Encoding, [tag, vr, value]: Element): Buffer {
  const bytes = valueBytes(encoding, vr, value);
  const head = tagBytes(encoding, tag);
  if (!encoding.explicit) return Buffer.concat([head, uint32(encoding, bytes.length), bytes]);
  const type = Buffer.from(vr, 'latin1');
  const length = LONG_FORM.has(vr)
    ? Buffer.concat([Buffer.alloc(2), uint32(encoding, bytes.length)])
    : uint16(encoding, bytes.length);
  return Buffer.concat([head, type, length, bytes]);
}

/** Encodes these elements as a Part 10 file, in the order given. */
export function dicomFile(
  syntax: string,
  elements: readonly Element[],
  trailer: Buffer = Buffer.alloc(0),
): Buffer {
  const meta = { explicit: true, bigEndian: false };
  const encoding = {
    explicit: syntax !== SYNTAX.implicit,
    bigEndian: syntax === SYNTAX.bigEndian,
  };
  return Buffer.concat([
    Buffer.alloc(128),
    Buffer.from('DICM'),
    encode(meta, ['00020010', 'UI', syntax]),
    ...elements.map((element) => encode(encoding, element)),
    trailer,
  ]);
}

/**
 * Encodes Pixel Data of undefined length: an offset table, followed by one item per fragment (PS3.5
 * A.4).
 */
export function encapsulated(
  fragments: readonly Buffer[],
  offsets: readonly number[] = [],
): Buffer {
  const encoding = { explicit: true, bigEndian: false };
  const item = (bytes: Buffer) =>
    Buffer.concat([tagBytes(encoding, 'FFFEE000'), uint32(encoding, bytes.length), bytes]);
  return Buffer.concat([
    tagBytes(encoding, '7FE00010'),
    Buffer.from('OB\0\0'),
    uint32(encoding, UNDEFINED_LENGTH),
    item(Buffer.concat(offsets.map((offset) => uint32(encoding, offset)))),
    ...fragments.map(item),
    tagBytes(encoding, 'FFFEE0DD'),
    uint32(encoding, 0),
  ]);
}

/**
 * Returns one calibrated tissue region. By default it covers a whole image of 4 × 2 pixels, at 0.5
 * mm per pixel.
 */
export function region(changes: Partial<Record<string, number>> = {}): Element[] {
  const value = (name: string, standard: number) => [changes[name] ?? standard];
  return [
    ['00186012', 'US', value('format', 1)],
    ['00186014', 'US', value('type', 1)],
    ['00186018', 'UL', value('minX', 0)],
    ['0018601A', 'UL', value('minY', 0)],
    ['0018601C', 'UL', value('maxX', 3)],
    ['0018601E', 'UL', value('maxY', 1)],
    ['00186024', 'US', value('units', 3)],
    ['00186026', 'US', value('units', 3)],
    ['0018602C', 'FD', value('deltaX', 0.05)],
    ['0018602E', 'FD', value('deltaY', 0.05)],
  ];
}

export interface Sample {
  /**
   * Number of the image. It determines its SOP Instance UID and, unless `pixels` are given, its
   * pixels.
   */
  instance?: number;
  syntax?: string;
  sopClass?: string;
  columns?: number;
  rows?: number;
  frames?: number;
  samples?: number;
  photometric?: string;
  planar?: number;
  bits?: number;
  bitsStored?: number;
  highBit?: number;
  regions?: Element[][];
  extra?: Element[];
  /** Null for an image without pixels. */
  pixels?: Element | null;
  trailer?: Buffer;
}

const US_IMAGE = '1.2.840.10008.5.1.4.1.1.6.1';

function pixelsOf(instance = 0): Buffer {
  return Buffer.from([0, 10, 20, 30, 40, 50, 60 ^ (instance >> 8), 70 ^ (instance & 0xff)]);
}

/** Creates an ultrasound image. By default it has 4 × 2 grey pixels with the values 0, 10 … 70. */
export function ultrasound(sample: Sample = {}): Buffer {
  const {
    instance,
    syntax = SYNTAX.explicit,
    sopClass = US_IMAGE,
    columns = 4,
    rows = 2,
    frames,
    samples = 1,
    photometric = 'MONOCHROME2',
    planar,
    bits = 8,
    bitsStored = bits,
    highBit = bitsStored - 1,
    regions = [],
    extra = [],
    pixels = ['7FE00010', 'OB', pixelsOf(instance)],
    trailer,
  } = sample;
  const elements: Element[] = [
    ['00080016', 'UI', sopClass],
    ['00080018', 'UI', instance === undefined ? '1.2.3.4' : `1.2.3.4.${instance}`],
    ['00100010', 'PN', 'Beispiel^Zoe'],
    ['00100020', 'LO', 'PID-4711'],
    ['0020000E', 'UI', '1.2.3'],
    ['00280002', 'US', [samples]],
    ['00280004', 'CS', photometric],
    ...(planar === undefined ? [] : [['00280006', 'US', [planar]] as const]),
    ...(frames === undefined ? [] : [['00280008', 'IS', String(frames)] as const]),
    ['00280010', 'US', [rows]],
    ['00280011', 'US', [columns]],
    ['00280100', 'US', [bits]],
    ['00280101', 'US', [bitsStored]],
    ['00280102', 'US', [highBit]],
    ['00280103', 'US', [0]],
    ...(regions.length === 0 ? [] : [['00186011', 'SQ', regions] as const]),
    ...extra,
    ...(pixels ? [pixels] : []),
  ];
  return dicomFile(syntax, elements, trailer);
}
