import { getFfmpeg } from './ffmpeg.ts';
import type { PixelFormat } from './pixel-format.ts';
import { Refusal } from './refusal.ts';

/** Samples of a JPEG XL image, interleaved; little endian where they take two bytes. */
export async function decodeJpegXl(encoded: Buffer, format: PixelFormat): Promise<Uint8Array> {
  // libjxl stretches 12 bits over 16; what was stored cannot be told from that with certainty.
  if (format.bitsStored !== format.bitsAllocated) {
    throw new Refusal(`JPEG XL of ${format.bitsStored} bits is not supported`);
  }
  const av = await getFfmpeg();
  const codec = av.Codec.findDecoderByName(av.FF_DECODER_LIBJXL);
  if (!codec) throw new Refusal('JPEG XL is not supported by the FFmpeg of this machine');
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
  packet.data = encoded;
  const damaged =
    (await context.open2(codec, null)) < 0 ||
    (await context.sendPacket(packet)) < 0 ||
    (await context.sendPacket(null)) < 0 ||
    (await context.receiveFrame(image)) < 0;
  if (damaged) throw new Refusal('the compressed image is cut short or damaged');
  if (image.width !== format.width || image.height !== format.height) {
    throw new Refusal(
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
    throw new Refusal('the compressed image is of a kind that is not supported');
  }
  return samples.toBuffer();
}
