import dcmjsCodecs from 'dcmjs-codecs';
import sharp from 'sharp';
import { UnreadableInput } from '../../contract/study.ts';
import type { PixelCoding } from '../../dicom/transfer-syntaxes.ts';
import { getFfmpeg } from '../video/ffmpeg.ts';
import { fromStored, type PixelFormat, type Pixels } from './pixels.ts';

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

function checkTiles(encoded: Buffer): void {
  const tiles = jpeg2000Tiles(encoded);
  if (!tiles || tiles.present >= tiles.announced) return;
  throw new UnreadableInput(
    `the compressed image has ${tiles.present} of its ${tiles.announced} tiles`,
  );
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
function withoutPadding(encoded: Buffer): Buffer {
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
function isScannedByComponent(encoded: Buffer): boolean {
  for (let at = 2; at + 5 <= encoded.length; at += 2 + encoded.readUInt16BE(at + 2)) {
    if (encoded.readUInt16BE(at) === SOS) return encoded[at + 4] === 1;
  }
  return false;
}

/** Returns the samples of a JPEG XL image, interleaved. Samples of two bytes are little endian. */
async function decodeJpegXl(encoded: Buffer, format: PixelFormat): Promise<Uint8Array> {
  // libjxl scales 12 bits to 16, so the exact stored value cannot be recovered.
  if (format.bitsStored !== format.bitsAllocated) {
    throw new UnreadableInput(`JPEG XL of ${format.bitsStored} bits is not supported`);
  }
  const av = await getFfmpeg();
  const codec = av.Codec.findDecoderByName(av.FF_DECODER_LIBJXL);
  if (!codec) throw new UnreadableInput('JPEG XL is not supported by the FFmpeg of this machine');
  using context = new av.CodecContext();
  using packet = new av.Packet();
  using image = new av.Frame();
  using samples = new av.Frame();
  using scaler = new av.SoftwareScaleContext();
  context.allocContext3(codec);
  context.threadCount = 1;
  packet.alloc();
  image.alloc();
  samples.alloc();
  scaler.allocContext();
  packet.data = withoutPadding(encoded);
  const damaged =
    (await context.open2(codec, null)) < 0 ||
    (await context.sendPacket(packet)) < 0 ||
    (await context.sendPacket(null)) < 0 ||
    (await context.receiveFrame(image)) < 0;
  if (damaged) throw new UnreadableInput('the compressed image is cut short or damaged');
  if (image.width !== format.width || image.height !== format.height) {
    throw new UnreadableInput(
      `the compressed image is ${image.width} x ${image.height} pixels, the header says ${format.width} x ${format.height}`,
    );
  }
  const gray = format.bitsAllocated === 8 ? av.AV_PIX_FMT_GRAY8 : av.AV_PIX_FMT_GRAY16LE;
  const wanted = format.samples === 1 ? gray : av.AV_PIX_FMT_RGB24;
  if (image.format === wanted) return image.toBuffer();
  samples.format = wanted;
  samples.width = image.width;
  samples.height = image.height;
  if ((await scaler.scaleFrame(samples, image)) < 0) {
    throw new UnreadableInput('the compressed image is of a kind that is not supported');
  }
  return samples.toBuffer();
}

const { Context, NativeCodecs } = dcmjsCodecs;

type CompressedCoding = Exclude<PixelCoding, 'native' | 'video' | 'unsupported'>;

let codecsReady: Promise<void> | null = null;

function initializeCodecs(): Promise<void> {
  codecsReady ??= NativeCodecs.initializeAsync({ logCodecsInfo: false });
  return codecsReady;
}

/**
 * Maximum number of components. No ultrasound image has more, and a decoder allocates memory for
 * any number that the stream states.
 */
const MOST_COMPONENTS = 4;

/**
 * Refuses a stream whose size differs from the DICOM header, before a decoder allocates memory for
 * it.
 */
function checkSize(encoded: Buffer, format: PixelFormat): void {
  const size = codeStreamSize(encoded);
  if (!size) return;
  const { width, height, components } = size;
  // The height of a JPEG may be stated in a marker after its lines. The frame header then contains
  // 0 (ITU-T T.81 B.2.5).
  if (width !== format.width || (height !== format.height && height !== 0)) {
    throw new UnreadableInput(
      `the compressed image is ${width} x ${height} pixels, the header says ${format.width} x ${format.height}`,
    );
  }
  if (components > MOST_COMPONENTS) {
    throw new UnreadableInput(`the compressed image has ${components} components`);
  }
}

async function decodeBaseline(encoded: Uint8Array, format: PixelFormat): Promise<Pixels> {
  const limitInputPixels = format.width * format.height;
  const { data, info } = await sharp(encoded, { failOn: 'truncated', limitInputPixels })
    .toColourspace(format.samples === 1 ? 'b-w' : 'srgb')
    .raw()
    .toBuffer({ resolveWithObject: true });
  if (info.channels !== format.samples) {
    throw new UnreadableInput(
      `the compressed image has ${info.channels} channels, the header says ${format.samples}`,
    );
  }
  const photometric = format.samples === 3 ? 'RGB' : format.photometric;
  return fromStored(data, {
    ...format,
    photometric,
    planar: false,
    bitsAllocated: 8,
    bitsStored: 8,
    bigEndian: false,
  });
}

const DECODERS = {
  rle: 'decodeRle',
  jpeg: 'decodeJpeg',
  'jpeg-ls': 'decodeJpegLs',
  'jpeg-2000': 'decodeJpeg2000',
  'ht-jpeg-2000': 'decodeHtJpeg2000',
} as const;

/** Returns the photometric interpretation after decoding, when each pixel has its own chroma. */
function whole(photometric: string): string {
  return photometric === 'YBR_FULL_422' ? 'YBR_FULL' : photometric;
}

async function decodeByCodecs(
  encoded: Buffer,
  format: PixelFormat,
  coding: keyof typeof DECODERS,
): Promise<Pixels> {
  await initializeCodecs();
  const decoded = NativeCodecs[DECODERS[coding]](
    new Context({
      width: format.width,
      height: format.height,
      bitsAllocated: format.bitsAllocated,
      bitsStored: format.bitsStored,
      samplesPerPixel: format.samples,
      pixelRepresentation: 0,
      planarConfiguration: format.planar ? 1 : 0,
      photometricInterpretation: format.photometric,
      encodedBuffer: encoded,
    }),
  );
  const samples = decoded.getDecodedBuffer();
  const expected = format.width * format.height * format.samples * (format.bitsAllocated / 8);
  if (!samples || samples.length < expected)
    throw new UnreadableInput('the compressed image is damaged');
  return fromStored(samples, {
    ...format,
    planar:
      decoded.getPlanarConfiguration() === 1 ||
      (coding === 'jpeg-ls' && isScannedByComponent(encoded)),
    photometric: whole(decoded.getPhotometricInterpretation() ?? format.photometric),
    bigEndian: false,
  });
}

async function decode(
  encoded: Buffer,
  format: PixelFormat,
  coding: CompressedCoding,
): Promise<Pixels> {
  switch (coding) {
    case 'jpeg-sequential':
      // libjpeg assumes that every unmarked three-component JPEG is YCbCr, so the codecs decode
      // images that are RGB according to the DICOM header. The codecs also decode 12-bit images
      // (extended process), because sharp reads only the 8 bits of the baseline process.
      if (format.photometric === 'RGB' || format.bitsStored > 8)
        return decodeByCodecs(encoded, format, 'jpeg');
      return decodeBaseline(encoded, format);
    case 'jpeg-xl': {
      const photometric = format.samples === 3 ? 'RGB' : format.photometric;
      const samples = await decodeJpegXl(encoded, format);
      return fromStored(samples, { ...format, photometric, planar: false, bigEndian: false });
    }
    default:
      return decodeByCodecs(encoded, format, coding);
  }
}

/**
 * Decodes one compressed frame.
 *
 * @throws UnreadableInput with a sentence if decoding fails.
 */
export async function decodeCompressed(
  encoded: Buffer,
  format: PixelFormat,
  coding: CompressedCoding,
): Promise<Pixels> {
  if (coding !== 'rle' && coding !== 'jpeg-xl') checkSize(encoded, format);
  if (coding === 'jpeg-2000' || coding === 'ht-jpeg-2000') checkTiles(encoded);
  try {
    return await decode(encoded, format, coding);
  } catch (error) {
    if (error instanceof UnreadableInput) throw error;
    throw new UnreadableInput('the compressed image is cut short or damaged', { cause: error });
  }
}
