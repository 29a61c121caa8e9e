import dcmjsCodecs from 'dcmjs-codecs';
import sharp from 'sharp';
import { UnreadableInput } from '../../contract/study.ts';
import type { PixelCoding } from '../../dicom/transfer-syntaxes.ts';
import { codeStreamSize, isScannedByComponent, jpeg2000Tiles } from './code-stream.ts';
import { decodeJpegXl, decodeReversibleJpeg2000 } from './ffmpeg-images.ts';
import { fromStored, type PixelFormat, type Pixels } from './pixels.ts';

function checkTiles(encoded: Buffer): void {
  const tiles = jpeg2000Tiles(encoded);
  if (!tiles || tiles.present >= tiles.announced) return;
  throw new UnreadableInput(
    `the compressed image has ${tiles.present} of its ${tiles.announced} tiles`,
  );
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
      // libjpeg assumes that every unmarked three-component JPEG is YCbCr, and sharp reads only the
      // 8 bits of the baseline process. The other codecs therefore decode images that are RGB
      // according to the DICOM header, and 12-bit images (extended process).
      if (format.photometric === 'RGB' || format.bitsStored > 8)
        return decodeByCodecs(encoded, format, 'jpeg');
      return decodeBaseline(encoded, format);
    case 'jpeg-xl': {
      const photometric = format.samples === 3 ? 'RGB' : format.photometric;
      const samples = await decodeJpegXl(encoded, format);
      return fromStored(samples, { ...format, photometric, planar: false, bigEndian: false });
    }
    case 'jpeg-2000': {
      const samples = await decodeReversibleJpeg2000(encoded, format);
      if (!samples) return decodeByCodecs(encoded, format, coding);
      const photometric = format.photometric === 'YBR_RCT' ? 'RGB' : whole(format.photometric);
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
