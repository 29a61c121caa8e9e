import { stat } from 'node:fs/promises';
import { type Clip, UNDESCRIBED, UnreadableInput } from '../../contract/study.ts';
import { userScale } from '../dicom/calibration.ts';
import { LIMITS } from '../limits.ts';
import { type FrameSource, framesOf, type Pixels } from '../pixels/pixels.ts';
import { checkVideoEnds, type VideoBytes } from './container.ts';
import { type Stamp, VideoDecoder } from './decoder.ts';

interface ListedFrame {
  time: number;
  /** Time stamp in ticks; null if frames are identified only by their number. */
  stamp: number | null;
  /**
   * Time stamp for FFmpeg to seek to; null if the frame is not a key frame or the file is not
   * seekable.
   */
  seekTo: number | null;
}

interface VideoListing {
  bytes: VideoBytes;
  /** Stored size, before the frame is turned upright. */
  width: number;
  height: number;
  /** Number of clockwise quarter turns that make a frame upright. */
  turns: number;
  frames: readonly ListedFrame[];
}

async function collect(next: () => Promise<Stamp | null>, deadline: number): Promise<Stamp[]> {
  const stamps: Stamp[] = [];
  for (let stamp = await next(); stamp; stamp = await next()) {
    stamps.push(stamp);
    if (stamps.length > LIMITS.framesPerClip) {
      throw new UnreadableInput(
        `a video of more than ${LIMITS.framesPerClip} frames is over the limit`,
      );
    }
    if (performance.now() > deadline) throw new UnreadableInput('the video takes too long to read');
  }
  if (stamps.length === 0) throw new UnreadableInput('the video holds no frame');
  return stamps;
}

/**
 * Returns true if all frames have distinct time stamps and can therefore be listed without
 * decoding.
 */
function haveDistinctTimes(stamps: readonly Stamp[]): boolean {
  const shown = new Set(stamps.map((stamp) => stamp.shown));
  return shown.size === stamps.length && !shown.has(null);
}

function byStamps(stamps: readonly Stamp[], decoder: VideoDecoder): ListedFrame[] {
  const ordered = stamps.toSorted((a, b) => (a.shown ?? 0) - (b.shown ?? 0));
  const first = ordered[0]?.shown ?? 0;
  return ordered.map(({ shown, decoded, key }) => {
    const stamp = shown ?? 0;
    const seekTo = key && decoder.seekable ? Math.min(stamp, decoded ?? stamp) : null;
    return { time: (stamp - first) * decoder.secondsPerTick, stamp, seekTo };
  });
}

/**
 * Lists frames that have no time stamps. Their times are calculated from the container's frame
 * rate, if it states one.
 */
function byNumber(stamps: readonly Stamp[], decoder: VideoDecoder): ListedFrame[] {
  const step = decoder.frameRate > 0 ? 1 / decoder.frameRate : 0;
  return stamps.map((_, index) => ({ time: index * step, stamp: null, seekTo: null }));
}

async function withDecoder<T>(
  bytes: VideoBytes,
  use: (decoder: VideoDecoder) => Promise<T>,
): Promise<T> {
  const decoder = await VideoDecoder.open(bytes);
  try {
    return await use(decoder);
  } finally {
    await decoder.close();
  }
}

async function listFrames(bytes: VideoBytes, decoder: VideoDecoder): Promise<ListedFrame[]> {
  const deadline = performance.now() + LIMITS.videoListSeconds * 1000;
  const packets = decoder.packets();
  const stamps = await collect(async () => (await packets.next()).value ?? null, deadline);
  if (haveDistinctTimes(stamps)) return byStamps(stamps, decoder);
  return withDecoder(bytes, async (again) => {
    const decoded = await collect(() => again.next(), deadline);
    return haveDistinctTimes(decoded) ? byStamps(decoded, again) : byNumber(decoded, again);
  });
}

/**
 * Lists the frames of a video with their times, either `shown` by a player (upright, with square
 * pixels) or `stored`, with the size stated in a DICOM header.
 *
 * @throws UnreadableInput, with a sentence for the user, if the video is damaged, truncated, too
 * large or of an unknown kind.
 */
export async function listVideo(
  bytes: VideoBytes,
  manner: 'shown' | 'stored',
): Promise<VideoListing> {
  await checkVideoEnds(bytes);
  return withDecoder(bytes, async (decoder) => {
    const shown = manner === 'shown';
    const aspect = shown ? decoder.pixelAspect : 1;
    return {
      bytes,
      width: Math.max(Math.round(decoder.width * aspect), 1),
      height: decoder.height,
      turns: shown ? decoder.turns : 0,
      frames: await listFrames(bytes, decoder),
    };
  });
}

function turnRight({ width, height, data }: Pixels): Pixels {
  const turned = new Uint8Array(data.length);
  for (let y = 0, from = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1, from += 3) {
      const to = (x * height + (height - 1 - y)) * 3;
      turned[to] = data[from] ?? 0;
      turned[to + 1] = data[from + 1] ?? 0;
      turned[to + 2] = data[from + 2] ?? 0;
    }
  }
  return { width: height, height: width, channels: 3, data: turned };
}

/** Returns the frames of a listed video, upright and decoded on demand. */
export function openVideo(listing: VideoListing): FrameSource {
  const reader = new VideoReader(listing);
  const lying = listing.turns % 2 === 1;
  return {
    width: lying ? listing.height : listing.width,
    height: lying ? listing.width : listing.height,
    frames: listing.frames.length,
    times: listing.frames.map(({ time }) => time),
    decode: async (index) => {
      let pixels = await reader.frame(index);
      for (let turn = 0; turn < listing.turns; turn += 1) pixels = turnRight(pixels);
      return pixels;
    },
  };
}

/**
 * Decodes single frames of a video in any order. Ascending order is fastest, because a frame
 * depends on all frames since the last key frame. The reader caches a few decoded frames and keeps
 * one decoder open while it is in use.
 */
class VideoReader {
  readonly #listing: VideoListing;
  readonly #numbers: ReadonlyMap<number, number>;
  readonly #cached = new Map<number, Pixels>();
  readonly #capacity: number;
  #decoder: VideoDecoder | null = null;
  #position = 0;
  #turn: Promise<unknown> = Promise.resolve();
  #idle: NodeJS.Timeout | undefined;

  constructor(listing: VideoListing) {
    this.#listing = listing;
    this.#numbers = new Map(
      listing.frames.flatMap(({ stamp }, index) => (stamp === null ? [] : [[stamp, index]])),
    );
    const bytes = listing.width * listing.height * 3;
    this.#capacity = Math.max(1, Math.floor(LIMITS.videoCacheBytes / bytes));
  }

  /**
   * Returns the pixels of a frame by its number.
   *
   * @throws UnreadableInput if it is damaged or missing.
   */
  frame(index: number): Promise<Pixels> {
    const read = this.#turn.then(() => this.#read(index));
    this.#turn = read.catch(() => this.#close());
    return read;
  }

  async #read(index: number): Promise<Pixels> {
    clearTimeout(this.#idle);
    const pixels = this.#cached.get(index) ?? (await this.#decode(index));
    if (index === this.#listing.frames.length - 1) await this.#close();
    else this.#closeWhenIdle();
    return pixels;
  }

  async #decode(index: number): Promise<Pixels> {
    const deadline = performance.now() + LIMITS.videoFrameSeconds * 1000;
    let decoder = await this.#goTo(index);
    for (let restarted = false; ; ) {
      const number = await this.#next(decoder);
      if (performance.now() > deadline)
        throw new UnreadableInput('the video takes too long to decode');
      if (number === index) return this.#keep(index, decoder);
      if (number !== null && number < index) continue;
      // The seek went past the frame. Decoding from the start will reach it if it exists.
      if (restarted) throw new UnreadableInput('a frame of the video is missing');
      decoder = await this.#restart();
      restarted = true;
    }
  }

  /** Returns a decoder positioned at or before the frame, so that decoding forwards reaches it. */
  async #goTo(index: number): Promise<VideoDecoder> {
    const key = this.#listing.frames.findLastIndex(
      ({ seekTo }, number) => number <= index && seekTo !== null,
    );
    const ahead = index >= this.#position && key <= this.#position;
    if (this.#decoder && ahead) return this.#decoder;
    const seekTo = key > 0 ? this.#listing.frames[key]?.seekTo : null;
    if (typeof seekTo !== 'number') return this.#restart();
    this.#decoder ??= await VideoDecoder.open(this.#listing.bytes);
    if (!(await this.#decoder.seek(seekTo))) return this.#restart();
    this.#position = key;
    return this.#decoder;
  }

  async #restart(): Promise<VideoDecoder> {
    await this.#close();
    this.#decoder = await VideoDecoder.open(this.#listing.bytes);
    return this.#decoder;
  }

  /**
   * Decodes one frame and returns its number: -1 for an unlisted frame, null at the end of the
   * video.
   */
  async #next(decoder: VideoDecoder): Promise<number | null> {
    const stamp = await decoder.next();
    if (!stamp) return null;
    const number =
      this.#numbers.size === 0 ? this.#position : (this.#numbers.get(stamp.shown ?? -1) ?? -1);
    if (number >= 0) this.#position = number + 1;
    return number;
  }

  async #keep(index: number, decoder: VideoDecoder): Promise<Pixels> {
    const pixels = await decoder.pixels(this.#listing.width, this.#listing.height);
    this.#cached.set(index, pixels);
    const [oldest] = this.#cached.keys();
    if (this.#cached.size > this.#capacity && oldest !== undefined) this.#cached.delete(oldest);
    return pixels;
  }

  #closeWhenIdle(): void {
    const close = () => {
      this.#turn = this.#turn.then(() => this.#close());
    };
    this.#idle = setTimeout(close, LIMITS.videoIdleSeconds * 1000).unref();
  }

  async #close(): Promise<void> {
    const decoder = this.#decoder;
    this.#decoder = null;
    this.#position = 0;
    await decoder?.close();
  }
}

/**
 * Reads a video file (MP4, MOV, AVI, MPEG), upright and with square pixels. The first frame is
 * decoded immediately, so that an undecodable video is refused as a whole. `mmPerPx` is the user's
 * scale for the frame as a player shows it.
 */
export async function readVideo(file: string, path: string, mmPerPx: number | null): Promise<Clip> {
  const { size } = await stat(path);
  const listing = await listVideo({ path, spans: [{ offset: 0, length: size }] }, 'shown');
  const source = openVideo(listing);
  await source.decode(0);
  const { width, height } = source;
  const { regions, refused } = userScale(width, height, mmPerPx);
  return {
    file,
    ...UNDESCRIBED,
    timing: 'container',
    width,
    height,
    frames: framesOf(source, source.times ?? []),
    regions,
    calibrationRefused: refused,
    mode: 'unknown',
  };
}
