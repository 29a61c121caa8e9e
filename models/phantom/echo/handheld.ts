import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { interleavedRgb } from '../dicom.ts';
import type { PhantomFrame } from '../frame.ts';

/**
 * Bits per second. This rate preserves the speckle; clips from real handheld scanners are no
 * sharper.
 */
const BIT_RATE = 3_000_000;

/**
 * Encodes a clip in the export format of a handheld scanner: MPEG-4 video in MP4, without
 * calibration or heart rate. The width and height of the frames must be even.
 *
 * @throws Error if FFmpeg's binding is not installed
 */
export async function handheldClip(
  frames: readonly PhantomFrame[],
  framesPerSecond: number,
): Promise<Buffer> {
  const { Encoder, Muxer } = await import('node-av/api');
  const { Frame, Rational, SoftwareScaleContext } = await import('node-av/lib');
  const { AV_PIX_FMT_RGB24, AV_PIX_FMT_YUV420P, FF_ENCODER_MPEG4, SWS_BILINEAR } = await import(
    'node-av/constants'
  );
  const { columns: width, rows: height } = frames[0] as PhantomFrame;
  const timeBase = new Rational(1, framesPerSecond);
  const scaler = new SoftwareScaleContext();
  scaler.getContext(
    width,
    height,
    AV_PIX_FMT_RGB24,
    width,
    height,
    AV_PIX_FMT_YUV420P,
    SWS_BILINEAR,
  );
  const folder = await mkdtemp(join(tmpdir(), 'phantom-clip-'));
  const path = join(folder, 'clip.mp4');
  try {
    const encoder = await Encoder.create(FF_ENCODER_MPEG4, {
      context: { bitRate: BIT_RATE, timeBase, framerate: new Rational(framesPerSecond, 1) },
    });
    const muxer = await Muxer.open(path, { format: 'mp4' });
    const stream = muxer.addStream(encoder);
    for (const [index, frame] of frames.entries()) {
      using rgb = Frame.fromVideoBuffer(Buffer.from(frame.rgb ?? interleavedRgb(frame.gray)), {
        width,
        height,
        format: AV_PIX_FMT_RGB24,
        timeBase,
      });
      using picture = new Frame();
      picture.alloc();
      picture.width = width;
      picture.height = height;
      picture.format = AV_PIX_FMT_YUV420P;
      picture.getBuffer();
      scaler.scaleFrameSync(picture, rgb);
      picture.pts = BigInt(index);
      picture.timeBase = timeBase;
      for (const packet of await encoder.encodeAll(picture)) {
        await muxer.writePacket(packet, stream);
        packet.free();
      }
    }
    for (const packet of await encoder.encodeAll(null)) {
      await muxer.writePacket(packet, stream);
      packet.free();
    }
    encoder.close();
    await muxer.close();
    return await readFile(path);
  } finally {
    scaler.freeContext();
    await rm(folder, { recursive: true });
  }
}
