import dcmjsCodecs from 'dcmjs-codecs';
import sharp from 'sharp';
import type { PixelFormat } from './pixel-format.ts';
import { fromStored, type Pixels } from './pixels.ts';
import { Refusal } from './refusal.ts';
import type { PixelCoding } from './transfer-syntaxes.ts';

const { Context, NativeCodecs } = dcmjsCodecs;

let codecsReady: Promise<void> | null = null;

/** The WebAssembly of the codecs is loaded once per process, when first needed. */
function initializeCodecs(): Promise<void> {
  codecsReady ??= NativeCodecs.initializeAsync({ logCodecsInfo: false });
  return codecsReady;
}

async function decodeBaseline(encoded: Uint8Array, format: PixelFormat): Promise<Pixels> {
  const { data, info } = await sharp(encoded, { failOn: 'truncated' })
    .toColourspace(format.samples === 1 ? 'b-w' : 'srgb')
    .raw()
    .toBuffer({ resolveWithObject: true });
  if (info.width !== format.width || info.height !== format.height) {
    throw new Refusal(
      `the compressed image is ${info.width} x ${info.height} pixels, the header says ${format.width} x ${format.height}`,
    );
  }
  if (info.channels !== 1 && info.channels !== 3) {
    throw new Refusal(`a JPEG of ${info.channels} channels is not supported`);
  }
  return { width: info.width, height: info.height, channels: info.channels, data };
}

const DECODERS = {
  rle: 'decodeRle',
  jpeg: 'decodeJpeg',
  'jpeg-ls': 'decodeJpegLs',
  'jpeg-2000': 'decodeJpeg2000',
  'ht-jpeg-2000': 'decodeHtJpeg2000',
} as const;

async function decodeByCodecs(
  encoded: Uint8Array,
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
    planar: decoded.getPlanarConfiguration() === 1,
    photometric: decoded.getPhotometricInterpretation() ?? format.photometric,
    bigEndian: false,
  });
}

/** Decodes one compressed frame; throws a Refusal in a sentence where that fails. */
export async function decodeCompressed(
  encoded: Uint8Array,
  format: PixelFormat,
  coding: Exclude<PixelCoding, 'native' | 'unsupported'>,
): Promise<Pixels> {
  try {
    // libjpeg takes every unmarked JPEG of three components for YCbCr; the header knows better.
    if (coding === 'jpeg-baseline' && format.photometric !== 'RGB') {
      return await decodeBaseline(encoded, format);
    }
    return await decodeByCodecs(encoded, format, coding === 'jpeg-baseline' ? 'jpeg' : coding);
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal('the compressed image is cut short or damaged', { cause: error });
  }
}
