/**
 * Image size in the header of a compressed frame. It is read before a decoder allocates memory for
 * the frame.
 */
interface CodeStreamSize {
  width: number;
  height: number;
  components: number;
}

const SOC_SIZ = 0xff4fff51;
/** Maximum length of JP2 boxes before a JPEG 2000 code stream. Some writers do not remove them. */
const MOST_BOXES = 512;

/**
 * Returns true if a marker is a start of frame: SOF0 to SOF15 (ITU-T T.81 Table B.1) except DHT,
 * JPG and DAC, and SOF55 of T.87.
 */
function isStartOfFrame(marker: number): boolean {
  const sof = marker >= 0xc0 && marker <= 0xcf;
  return (sof && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc) || marker === 0xf7;
}

/** Reads the SIZ segment of a JPEG 2000 code stream (ITU-T T.800 A.5.1). */
function jpeg2000Size(bytes: Buffer): CodeStreamSize | null {
  const at = codeStreamStart(bytes);
  return at === null
    ? null
    : {
        width: bytes.readUInt32BE(at + 8) - bytes.readUInt32BE(at + 16),
        height: bytes.readUInt32BE(at + 12) - bytes.readUInt32BE(at + 20),
        components: bytes.readUInt16BE(at + 40),
      };
}

const SOT = 0xff90;

/**
 * Returns the offset at which the code stream begins (SOC, then SIZ). JP2 boxes may come before it.
 * Null if the bytes contain no code stream.
 */
function codeStreamStart(bytes: Buffer): number | null {
  const last = Math.min(MOST_BOXES, bytes.length - 42);
  for (let at = 0; at <= last; at += 1) if (bytes.readUInt32BE(at) === SOC_SIZ) return at;
  return null;
}

const COD = 0xff52;
/** Segments that give one component, or a part of the image, another coding (COC, RGN). */
const EXCEPTIONS = new Set([0xff53, 0xff5e]);
const REVERSIBLE_5_3 = 1;

/**
 * Returns the number of bits per sample of a JPEG 2000 code stream if every decoder decodes it to
 * exactly the same samples. This requires unsigned samples, components of the size of the image,
 * and the reversible transform, whose arithmetic the standard fixes (ITU-T T.800 A.5.1, A.6.1,
 * F.3). Null for any other stream, and for a stream in JP2 boxes.
 */
export function reversibleBits(bytes: Buffer): number | null {
  if (codeStreamStart(bytes) !== 0) return null;
  const components = bytes.readUInt16BE(40);
  const bits = (bytes[42] ?? 0) + 1;
  for (let component = 0; component < components; component += 1) {
    const at = 42 + component * 3;
    if (bytes[at] !== bits - 1 || bytes[at + 1] !== 1 || bytes[at + 2] !== 1) return null;
  }
  let reversible = false;
  for (let at = 2; at + 14 <= bytes.length; at += 2 + bytes.readUInt16BE(at + 2)) {
    const marker = bytes.readUInt16BE(at);
    if (marker === SOT) return reversible ? bits : null;
    if (EXCEPTIONS.has(marker)) return null;
    if (marker === COD) reversible = bytes[at + 13] === REVERSIBLE_5_3;
  }
  return null;
}

/**
 * Returns the number of tiles declared in the header of a JPEG 2000 code stream (`announced`), and
 * how many of them have data (`present`) (ITU-T T.800 A.4.2). A decoder leaves missing tiles black.
 * Null if the stream cannot be parsed.
 */
export function jpeg2000Tiles(bytes: Buffer): { announced: number; present: number } | null {
  const start = codeStreamStart(bytes);
  if (start === null) return null;
  const size = (at: number) => bytes.readUInt32BE(start + at);
  const along = (axis: number) => Math.ceil((size(8 + axis) - size(32 + axis)) / size(24 + axis));
  const announced = along(0) * along(4);
  const present = new Set<number>();
  // The main header is a list of segments. After it, each tile part contains its length.
  let at = start + 2;
  while (at + 12 <= bytes.length && bytes.readUInt16BE(at) !== SOT) {
    at += 2 + bytes.readUInt16BE(at + 2);
  }
  while (at + 12 <= bytes.length && bytes.readUInt16BE(at) === SOT) {
    present.add(bytes.readUInt16BE(at + 4));
    const length = bytes.readUInt32BE(at + 6);
    // The last tile part may omit its length.
    if (length < 12) break;
    at += length;
  }
  return Number.isFinite(announced) && present.size > 0
    ? { announced, present: present.size }
    : null;
}

/** Reads the first frame header of a JPEG or JPEG-LS stream (ITU-T T.81 B.2.2). */
function jpegSize(bytes: Buffer): CodeStreamSize | null {
  let at = 2;
  while (at + 10 <= bytes.length) {
    if (bytes[at] !== 0xff) return null;
    const marker = bytes[at + 1] ?? 0;
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    if (isStartOfFrame(marker)) {
      return {
        height: bytes.readUInt16BE(at + 5),
        width: bytes.readUInt16BE(at + 7),
        components: bytes[at + 9] ?? 0,
      };
    }
    at += 2 + bytes.readUInt16BE(at + 2);
  }
  return null;
}

/**
 * Returns the size in the header of a JPEG, JPEG-LS or JPEG 2000 code stream; null if it states
 * none.
 */
export function codeStreamSize(encoded: Uint8Array): CodeStreamSize | null {
  const bytes = Buffer.from(encoded.buffer, encoded.byteOffset, encoded.byteLength);
  if (bytes.length < 4) return null;
  return bytes.readUInt16BE(0) === 0xffd8 ? jpegSize(bytes) : jpeg2000Size(bytes);
}

const SOS = 0xffda;

/**
 * Returns true if a JPEG-LS stream has one scan per component (ITU-T T.87 C.2.3). The decoder then
 * returns the samples plane by plane, even if the DICOM header states another order.
 */
export function isScannedByComponent(encoded: Buffer): boolean {
  for (let at = 2; at + 5 <= encoded.length; at += 2 + encoded.readUInt16BE(at + 2)) {
    if (encoded.readUInt16BE(at) === SOS) return encoded[at + 4] === 1;
  }
  return false;
}

const JPEG_XL_SIGNATURE = Buffer.from('0000000c4a584c200d0a870a', 'hex');
/**
 * Bytes before the content of a JPEG XL box: length and type, four bytes each (ISO/IEC 18181-2).
 */
const BOX_HEAD = 8;

/**
 * Returns a JPEG XL file without the bytes after its last box. DICOM pads a frame of odd length
 * with 00 (PS3.5 8.2). libjxl takes this byte for the start of another box and waits forever for
 * the rest.
 */
export function withoutPadding(encoded: Buffer): Buffer {
  if (!encoded.subarray(0, JPEG_XL_SIGNATURE.length).equals(JPEG_XL_SIGNATURE)) return encoded;
  let at = 0;
  while (at + BOX_HEAD <= encoded.length) {
    const length = encoded.readUInt32BE(at);
    const long = length === 1 && at + 16 <= encoded.length;
    const bytes = long ? Number(encoded.readBigUInt64BE(at + 8)) : length;
    // A length of zero means that the last box extends to the end, including the padding.
    if (bytes < BOX_HEAD || at + bytes > encoded.length) return encoded;
    at += bytes;
  }
  return encoded.subarray(0, at);
}
