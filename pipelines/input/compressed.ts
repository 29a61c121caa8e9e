import dcmjsCodecs from 'dcmjs-codecs';
import sharp from 'sharp';
import { codeStreamSize } from './code-stream-size.ts';
import { isScannedByComponent } from './jpeg-ls-scan.ts';
import { decodeJpegXl } from './jpeg-xl.ts';
import type { PixelFormat } from './pixel-format.ts';
import { fromStored, type Pixels } from './pixels.ts';
import { Refusal } from './refusal.ts';
import type { PixelCoding } from './transfer-syntaxes.ts';

const { Context, NativeCodecs } = dcmjsCodecs;

type CompressedCoding = Exclude<PixelCoding, 'native' | 'video' | 'unsupported'>;

let codecsReady: Promise<void> | null = null;

/** The WebAssembly of the codecs is loaded once per process, when first needed. */
function initializeCodecs(): Promise<void> {
  codecsReady ??= NativeCodecs.initializeAsync({ logCodecsInfo: false });
  return codecsReady;
}

/** More belong to no ultrasound image; a decoder allocates memory for as many as it is told. */
const MOST_COMPONENTS = 4;

/** A stream larger than its header says is refused before a decoder allocates memory for it. */
function checkSize(encoded: Buffer, format: PixelFormat): void {
  const size = codeStreamSize(encoded);
  if (!size) return;
  const { width, height, components } = size;
  // A JPEG may leave its height to a marker behind its lines (ITU-T T.81 B.2.5).
  if (width !== format.width || (height !== format.height && height !== 0)) {
    throw new Refusal(
      `the compressed image is ${width} x ${height} pixels, the header says ${format.width} x ${format.height}`,
    );
  }
  if (components > MOST_COMPONENTS) {
    throw new Refusal(`the compressed image has ${components} components`);
  }
}

async function decodeBaseline(encoded: Uint8Array, format: PixelFormat): Promise<Pixels> {
  const limitInputPixels = format.width * format.height;
  const { data, info } = await sharp(encoded, { failOn: 'truncated', limitInputPixels })
    .toColourspace(format.samples === 1 ? 'b-w' : 'srgb')
    .raw()
    .toBuffer({ resolveWithObject: true });
  if (info.channels !== format.samples) {
    throw new Refusal(
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

/** What a decoder gives has a chroma of its own for each pixel again. */
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
  if (!samples || samples.length < expected) throw new Refusal('the compressed image is damaged');
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
      // libjpeg takes every unmarked JPEG of three components for YCbCr; the header knows better.
      // sharp reads the 8 bits of the baseline process, the codecs also the 12 of the extended one.
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

/** Decodes one compressed frame; throws a Refusal in a sentence where that fails. */
export async function decodeCompressed(
  encoded: Buffer,
  format: PixelFormat,
  coding: CompressedCoding,
): Promise<Pixels> {
  if (coding !== 'rle' && coding !== 'jpeg-xl') checkSize(encoded, format);
  try {
    return await decode(encoded, format, coding);
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal('the compressed image is cut short or damaged', { cause: error });
  }
}
