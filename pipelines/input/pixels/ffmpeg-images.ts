import type { Codec, Frame } from 'node-av/lib';
import { UnreadableInput } from '../../contract/study.ts';
import { type Ffmpeg, getFfmpeg } from '../video/ffmpeg.ts';
import { reversibleBits, withoutPadding } from './code-stream.ts';
import type { PixelFormat } from './pixels.ts';

/** Decodes one image on a thread of the pool. Null if FFmpeg cannot decode it. */
async function decodedImage(av: Ffmpeg, codec: Codec, encoded: Buffer): Promise<Frame | null> {
  using context = new av.CodecContext();
  using packet = new av.Packet();
  context.allocContext3(codec);
  context.threadCount = 1;
  packet.alloc();
  packet.data = encoded;
  const image = new av.Frame();
  image.alloc();
  const decoded =
    (await context.open2(codec, null)) >= 0 &&
    (await context.sendPacket(packet)) >= 0 &&
    (await context.sendPacket(null)) >= 0 &&
    (await context.receiveFrame(image)) >= 0;
  if (decoded) return image;
  image.free();
  return null;
}

/** Returns the samples of a JPEG XL image, interleaved. Samples of two bytes are little endian. */
export async function decodeJpegXl(encoded: Buffer, format: PixelFormat): Promise<Uint8Array> {
  // libjxl scales 12 bits to 16, so the exact stored value cannot be recovered.
  if (format.bitsStored !== format.bitsAllocated) {
    throw new UnreadableInput(`JPEG XL of ${format.bitsStored} bits is not supported`);
  }
  const av = await getFfmpeg();
  const codec = av.Codec.findDecoderByName(av.FF_DECODER_LIBJXL);
  if (!codec) throw new UnreadableInput('JPEG XL is not supported by the FFmpeg on this host');
  using image = await decodedImage(av, codec, withoutPadding(encoded));
  using samples = new av.Frame();
  using scaler = new av.SoftwareScaleContext();
  samples.alloc();
  scaler.allocContext();
  if (!image) throw new UnreadableInput('the compressed image is cut short or damaged');
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

/**
 * Returns the samples of a reversible JPEG 2000 image, interleaved. Samples of two bytes are little
 * endian. FFmpeg decodes several frames at a time outside the JavaScript thread and yields the same
 * samples as OpenJPEG. Null for any other image, for a damaged image, and if FFmpeg is not
 * installed.
 */
export async function decodeReversibleJpeg2000(
  encoded: Buffer,
  { samples, bitsAllocated, width, height }: PixelFormat,
): Promise<Uint8Array | null> {
  const bits = reversibleBits(encoded);
  if (bits === null) return null;
  const av = await getFfmpeg().catch(() => null);
  const codec = av?.Codec.findDecoderByName(av.FF_DECODER_JPEG2000);
  if (!av || !codec) return null;
  // Only these numbers of bits are decoded here. For any other, FFmpeg would shift each sample into
  // the upper bits of a wider sample.
  const grey = new Map([
    [8, av.AV_PIX_FMT_GRAY8],
    [10, av.AV_PIX_FMT_GRAY10LE],
    [12, av.AV_PIX_FMT_GRAY12LE],
    [14, av.AV_PIX_FMT_GRAY14LE],
    [16, av.AV_PIX_FMT_GRAY16LE],
  ]);
  const wanted = samples === 1 ? grey.get(bits) : bits === 8 ? av.AV_PIX_FMT_RGB24 : undefined;
  if (wanted === undefined || bitsAllocated !== (bits === 8 ? 8 : 16)) return null;
  using image = await decodedImage(av, codec, encoded);
  const fits = image?.format === wanted && image.width === width && image.height === height;
  return fits ? image.toBuffer() : null;
}
