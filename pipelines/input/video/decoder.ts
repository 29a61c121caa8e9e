import type {
  CodecContext,
  FormatContext,
  Frame,
  IOContext,
  Packet,
  SoftwareScaleContext,
} from 'node-av/lib';
import { UnreadableInput } from '../../contract/study.ts';
import { LIMITS } from '../limits.ts';
import type { Pixels } from '../pixels/pixels.ts';
import { readVideoBytes, readVideoBytesSync, type VideoBytes, videoSize } from './container.ts';
import { type Ffmpeg, getFfmpeg } from './ffmpeg.ts';

/**
 * FFmpeg's names for the permitted demuxers. With other demuxers, a file could make FFmpeg open
 * further files.
 */
const CONTAINERS = new Set([
  'mov,mp4,m4a,3gp,3g2,mj2',
  'avi',
  'mpeg',
  'mpegts',
  'mpegvideo',
  'h264',
  'hevc',
]);

/** Containers with an index, in which FFmpeg can seek to any key frame. */
const SEEKABLE = new Set(['mov,mp4,m4a,3gp,3g2,mj2']);

const CODECS = ['h264', 'hevc', 'mpeg4', 'mjpeg', 'mpeg2video', 'mpeg1video'] as const;

const READ_BYTES = 262_144;
const PROBE_BYTES = 65_536;
/**
 * Number of decoder threads: one for each core of a small host. Every further thread needs memory
 * for frames.
 */
const THREADS = 2;

function throwIf(failed: boolean): void {
  if (failed) throw new UnreadableInput('the video is cut short or damaged');
}

function inputOf(av: Ffmpeg, bytes: VideoBytes): IOContext {
  const size = videoSize(bytes);
  let position = 0;
  const io = new av.IOContext();
  const read = (length: number) => {
    const chunk = readVideoBytesSync(bytes, position, length);
    position += chunk.length;
    return chunk.length === 0 ? av.AVERROR_EOF : chunk;
  };
  const seek = (offset: bigint, whence: number) => {
    if (whence === av.AVSEEK_SIZE) return BigInt(size);
    const origin = { [av.AVSEEK_CUR]: position, [av.AVSEEK_END]: size }[whence] ?? 0;
    position = Math.min(Math.max(origin + Number(offset), 0), size);
    return BigInt(position);
  };
  io.allocContextWithCallbacks(READ_BYTES, 0, read, null, seek);
  return io;
}

function quarterTurns(matrix: Buffer | null): number {
  if (!matrix || matrix.length < 36) return 0;
  // The display matrix has 3 x 3 fixed-point numbers. The first two in its first row are the cosine
  // and sine of the rotation (ISO/IEC 14496-12 8.5.2).
  const angle = Math.atan2(matrix.readInt32LE(4), matrix.readInt32LE(0));
  return ((Math.round(angle / (Math.PI / 2)) % 4) + 4) % 4;
}

function checkSize({ width, height }: { width: number; height: number }): void {
  if (width < 1 || height < 1)
    throw new UnreadableInput('the video does not state the size of its frames');
  if (width * height > LIMITS.pixelsPerVideoFrame) {
    throw new UnreadableInput(`the video of ${width} x ${height} pixels is over the limit`);
  }
}

export interface Stamp {
  /** Presentation time; null if the container states none. */
  shown: number | null;
  /** Time stamp used to seek to the frame. */
  decoded: number | null;
  key: boolean;
}

/** The video stream of an open file. Calls to its methods must not overlap. */
export class VideoDecoder {
  readonly #av: Ffmpeg;
  readonly #input: IOContext;
  readonly #format: FormatContext;
  readonly #codec: CodecContext;
  readonly #scaler: SoftwareScaleContext;
  readonly #packet: Packet;
  readonly #frame: Frame;
  readonly #rgb: Frame;
  readonly #stream: number;
  #ended = false;
  readonly width: number;
  readonly height: number;
  /** Number of clockwise quarter turns that make a frame upright. */
  readonly turns: number;
  /** Width of a pixel divided by its height. */
  readonly pixelAspect: number;
  readonly secondsPerTick: number;
  /** Frames per second stated in the container, or 0. */
  readonly frameRate: number;
  readonly seekable: boolean;

  private constructor(
    av: Ffmpeg,
    input: IOContext,
    format: FormatContext,
    stream: number,
    codec: CodecContext,
  ) {
    const track = format.streams[stream];
    if (!track) throw new UnreadableInput('the file holds no video');
    this.#av = av;
    this.#input = input;
    this.#format = format;
    this.#stream = stream;
    this.#codec = codec;
    this.#scaler = new av.SoftwareScaleContext();
    this.#scaler.allocContext();
    this.#packet = new av.Packet();
    this.#packet.alloc();
    this.#frame = new av.Frame();
    this.#frame.alloc();
    this.#rgb = new av.Frame();
    this.#rgb.alloc();
    const { codecpar, timeBase, avgFrameRate, sampleAspectRatio } = track;
    this.width = codecpar.width;
    this.height = codecpar.height;
    this.turns = quarterTurns(codecpar.getCodedSideData(av.AV_PKT_DATA_DISPLAYMATRIX));
    const aspect = sampleAspectRatio.num / sampleAspectRatio.den;
    this.pixelAspect = aspect > 0 && Number.isFinite(aspect) ? aspect : 1;
    this.secondsPerTick = timeBase.num / timeBase.den;
    this.frameRate = avgFrameRate.den > 0 ? avgFrameRate.num / avgFrameRate.den : 0;
    this.seekable = SEEKABLE.has(format.iformat?.name ?? '');
  }

  /**
   * Opens the video stream.
   *
   * @throws UnreadableInput with the reason if the stream cannot be read.
   */
  static async open(bytes: VideoBytes): Promise<VideoDecoder> {
    const av = await getFfmpeg();
    const container = av.InputFormat.probe(await readVideoBytes(bytes, 0, PROBE_BYTES));
    if (!container?.name || !CONTAINERS.has(container.name)) {
      throw new UnreadableInput('the file is not a video of a known container');
    }
    const format = new av.FormatContext();
    format.allocContext();
    const input = inputOf(av, bytes);
    format.pb = input;
    try {
      throwIf((await format.openInput('', container)) < 0);
      throwIf((await format.findStreamInfo()) < 0);
      const stream = format.findBestStream(av.AVMEDIA_TYPE_VIDEO);
      const track = format.streams[stream];
      if (stream < 0 || !track) throw new UnreadableInput('the file holds no video');
      const codec = av.Codec.findDecoder(track.codecpar.codecId);
      if (!codec?.name || !CODECS.some((name) => name === codec.name)) {
        throw new UnreadableInput(
          `the video coding ${codec?.name ?? 'of this file'} is not supported`,
        );
      }
      checkSize(track.codecpar);
      const context = new av.CodecContext();
      context.allocContext3(codec);
      context.parametersToContext(track.codecpar);
      context.pktTimebase = track.timeBase;
      context.threadCount = THREADS;
      context.setOption('max_pixels', LIMITS.pixelsPerVideoFrame);
      throwIf((await context.open2(codec, null)) < 0);
      return new VideoDecoder(av, input, format, stream, context);
    } catch (error) {
      await format.closeInput();
      input.freeContext();
      throw error;
    }
  }

  #number(ticks: bigint): number | null {
    return ticks === this.#av.AV_NOPTS_VALUE ? null : Number(ticks);
  }

  async #readPacket(): Promise<boolean> {
    for (;;) {
      const code = await this.#format.readFrame(this.#packet);
      if (code === this.#av.AVERROR_EOF) return false;
      throwIf(code < 0);
      if (this.#packet.streamIndex === this.#stream) return true;
      this.#packet.unref();
    }
  }

  async *packets(): AsyncGenerator<Stamp> {
    while (await this.#readPacket()) {
      const { pts, dts, isKeyframe } = this.#packet;
      const discarded = this.#packet.hasFlags(this.#av.AV_PKT_FLAG_DISCARD);
      throwIf(this.#packet.hasFlags(this.#av.AV_PKT_FLAG_CORRUPT));
      this.#packet.unref();
      if (!discarded) {
        yield { shown: this.#number(pts), decoded: this.#number(dts), key: isKeyframe };
      }
    }
  }

  async next(): Promise<Stamp | null> {
    for (;;) {
      this.#frame.unref();
      const code = await this.#codec.receiveFrame(this.#frame);
      if (code === 0) {
        const shown = this.#number(this.#frame.bestEffortTimestamp);
        const key = this.#frame.hasFlags(this.#av.AV_FRAME_FLAG_KEY);
        return { shown, decoded: this.#number(this.#frame.pktDts), key };
      }
      if (code === this.#av.AVERROR_EOF) return null;
      throwIf(code !== this.#av.AVERROR_EAGAIN);
      await this.#feed();
    }
  }

  async #feed(): Promise<void> {
    if (!this.#ended && (await this.#readPacket())) {
      const code = await this.#codec.sendPacket(this.#packet);
      this.#packet.unref();
      throwIf(code < 0);
    } else {
      throwIf(this.#ended);
      this.#ended = true;
      await this.#codec.sendPacket(null);
    }
  }

  /**
   * Returns the frame decoded by `next` as `width` x `height` RGB, in its stored orientation.
   *
   * @throws UnreadableInput for a frame that FFmpeg repaired, because guessed pixels must not be
   * measured.
   */
  async pixels(width: number, height: number): Promise<Pixels> {
    const { decodeErrorFlags, width: decodedWidth, height: decodedHeight } = this.#frame;
    if (decodeErrorFlags !== 0 || this.#frame.hasFlags(this.#av.AV_FRAME_FLAG_CORRUPT)) {
      throw new UnreadableInput('a frame of the video is damaged');
    }
    if (decodedWidth !== this.width || decodedHeight !== this.height) {
      throw new UnreadableInput('the frames of the video differ in size');
    }
    this.#rgb.unref();
    this.#rgb.format = this.#av.AV_PIX_FMT_RGB24;
    this.#rgb.width = width;
    this.#rgb.height = height;
    throwIf((await this.#scaler.scaleFrame(this.#rgb, this.#frame)) < 0);
    return { width, height, channels: 3, data: this.#rgb.toBuffer() };
  }

  /** Seeks to the key frame at or before a time stamp. Returns false if this is not possible. */
  async seek(ticks: number): Promise<boolean> {
    const { AVSEEK_FLAG_BACKWARD } = this.#av;
    const code = await this.#format.seekFrame(this.#stream, BigInt(ticks), AVSEEK_FLAG_BACKWARD);
    this.#codec.flushBuffers();
    this.#ended = false;
    return code >= 0;
  }

  async close(): Promise<void> {
    for (const part of [this.#packet, this.#frame, this.#rgb]) part.free();
    this.#scaler.freeContext();
    this.#codec.freeContext();
    await this.#format.closeInput();
    this.#input.freeContext();
  }
}
