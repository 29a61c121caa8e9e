import type { FrameSource } from './frame-source.ts';
import { LIMITS } from './limits.ts';
import type { Pixels } from './pixels.ts';
import { Refusal } from './refusal.ts';
import type { VideoBytes } from './video-bytes.ts';
import { checkVideoEnds } from './video-container.ts';
import { type Stamp, VideoDecoder } from './video-decoder.ts';
import { VideoReader } from './video-reader.ts';

/** A frame of a video in the order in which it is shown. */
export interface ListedFrame {
  /** Seconds from the first frame. */
  time: number;
  /** Time stamp in ticks; null where frames are told by their number only. */
  stamp: number | null;
  /** Where the search for it begins, if it is a key frame that can be searched for. */
  seekTo: number | null;
}

export interface VideoListing {
  bytes: VideoBytes;
  /** As they are stored, not yet turned upright. */
  width: number;
  height: number;
  /** Quarter turns to the right that stand a frame upright. */
  turns: number;
  frames: readonly ListedFrame[];
}

async function collect(next: () => Promise<Stamp | null>, deadline: number): Promise<Stamp[]> {
  const stamps: Stamp[] = [];
  for (let stamp = await next(); stamp; stamp = await next()) {
    stamps.push(stamp);
    if (stamps.length > LIMITS.framesPerClip) {
      throw new Refusal(`a video of more than ${LIMITS.framesPerClip} frames is over the limit`);
    }
    if (performance.now() > deadline) throw new Refusal('the video takes too long to read');
  }
  if (stamps.length === 0) throw new Refusal('the video holds no frame');
  return stamps;
}

/** Every frame has a time stamp of its own: then nothing need be decoded to list them. */
function areTold(stamps: readonly Stamp[]): boolean {
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

/** Frames without stamps follow each other at the rate of the container; at no time without one. */
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
  if (areTold(stamps)) return byStamps(stamps, decoder);
  return withDecoder(bytes, async (again) => {
    const decoded = await collect(() => again.next(), deadline);
    return areTold(decoded) ? byStamps(decoded, again) : byNumber(decoded, again);
  });
}

/**
 * Lists the frames of a video with their times, `as shown` by a player (upright, the pixels as wide
 * as they are high) or `as stored`: a DICOM header counts the stored pixels. Throws a Refusal in a
 * sentence for what is damaged, cut short, too large or of an unknown kind.
 */
export async function listVideo(
  bytes: VideoBytes,
  manner: 'as shown' | 'as stored',
): Promise<VideoListing> {
  await checkVideoEnds(bytes);
  return withDecoder(bytes, async (decoder) => {
    const shown = manner === 'as shown';
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

/** The same pixels a quarter turn to the right. */
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

/** The frames of a listed video, upright, decoded when asked for. */
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
