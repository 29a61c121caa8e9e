import type { Metadata } from 'sharp';
import sharp from 'sharp';
import { type Clip, type Frame, UNDESCRIBED, UnreadableInput } from '../contract/study.ts';
import { userScale } from './dicom/calibration.ts';
import { LIMITS } from './limits.ts';
import { type Pixels, toGray, toRgb } from './pixels/pixels.ts';
import { withByteSource } from './study-file.ts';

async function decodeStill(path: string): Promise<Pixels> {
  try {
    const claimed = await sharp(path, { limitInputPixels: false }).metadata();
    if (claimed.width * claimed.height > LIMITS.pixelsPerFrame) {
      const size = `${claimed.width} x ${claimed.height}`;
      throw new UnreadableInput(`the image of ${size} pixels is over the limit`);
    }
    const { data, info } = await sharp(path, {
      failOn: 'truncated',
      limitInputPixels: LIMITS.pixelsPerFrame,
    })
      // A camera stores the picture in the orientation of its sensor. EXIF records which way is up.
      .autoOrient()
      .flatten()
      .toColourspace('srgb')
      .raw()
      .toBuffer({ resolveWithObject: true });
    if (info.channels !== 1 && info.channels !== 3) {
      throw new UnreadableInput(`an image of ${info.channels} channels is not supported`);
    }
    return { width: info.width, height: info.height, channels: info.channels, data };
  } catch (error) {
    if (error instanceof UnreadableInput) throw error;
    throw new UnreadableInput('the image is cut short or damaged', { cause: error });
  }
}

/**
 * Reads a still (PNG, JPEG, GIF, WebP) and turns it upright. It is decoded immediately, so that a
 * damaged still is refused. `mmPerPx` is the user's scale.
 */
export async function readStill(file: string, path: string, mmPerPx: number | null): Promise<Clip> {
  const { width, height } = await decodeStill(path);
  const { regions, refused } = userScale(width, height, mmPerPx);
  return {
    file,
    ...UNDESCRIBED,
    width,
    height,
    frames: [
      {
        index: 0,
        time: 0,
        gray: async () => toGray(await decodeStill(path)),
        rgb: async () => toRgb(await decodeStill(path)),
      },
    ],
    regions,
    calibrationRefused: refused,
    mode: 'unknown',
  };
}

interface Animation {
  path: string;
  width: number;
  height: number;
  frames: number;
}

/** Reads only the metadata, without a size limit. `checkSize` enforces the limit. */
async function readMetadata(path: string): Promise<Metadata> {
  try {
    return await sharp(path, { pages: -1, limitInputPixels: false }).metadata();
  } catch (error) {
    throw new UnreadableInput('the image is cut short or damaged', { cause: error });
  }
}

/**
 * Checks that a GIF is complete. For a truncated GIF, libvips returns the complete frames without
 * an error; only the missing trailer shows that it was truncated (GIF89a 27).
 */
async function checkGifEnds(path: string): Promise<void> {
  const tail = await withByteSource(path, (source) => {
    const length = Math.min(source.size, 512);
    return source.read(source.size - length, length);
  });
  if (tail.findLast((byte) => byte !== 0) !== 0x3b) {
    throw new UnreadableInput('the animation is cut short');
  }
}

function checkSize({ width, height, frames }: Animation): void {
  if (width * height > LIMITS.pixelsPerFrame) {
    throw new UnreadableInput(`the image of ${width} x ${height} pixels is over the limit`);
  }
  if (frames > LIMITS.framesPerClip || width * height * frames > LIMITS.pixelsPerAnimation) {
    throw new UnreadableInput(
      `an animation of ${frames} frames of ${width} x ${height} is over the limit`,
    );
  }
}

async function decode(
  { path, width, height }: Animation,
  page: number,
  pages: number,
): Promise<Pixels[]> {
  try {
    const { data, info } = await sharp(path, {
      page,
      pages,
      failOn: 'truncated',
      limitInputPixels: LIMITS.pixelsPerFrame,
    })
      .flatten()
      .toColourspace('srgb')
      .raw()
      .toBuffer({ resolveWithObject: true });
    const bytes = width * height * 3;
    if (info.channels !== 3 || data.length !== pages * bytes) {
      throw new UnreadableInput('the frames of the animation differ in size');
    }
    return Array.from({ length: pages }, (_, index) => ({
      width,
      height,
      channels: 3,
      data: data.subarray(index * bytes, (index + 1) * bytes),
    }));
  } catch (error) {
    if (error instanceof UnreadableInput) throw error;
    throw new UnreadableInput('the animation is damaged', { cause: error });
  }
}

/**
 * Returns a decoder for the frames of an animation. Each frame depends on all earlier ones and
 * cannot be decoded alone, so frames are decoded in runs, and the latest run is cached.
 */
function frameDecoder(animation: Animation): (index: number) => Promise<Pixels> {
  const frameBytes = animation.width * animation.height * 3;
  const run = Math.max(1, Math.floor(LIMITS.animationRunBytes / frameBytes));
  let latest: { start: number; frames: Promise<Pixels[]> } | null = null;
  return async (index) => {
    const start = index - (index % run);
    if (latest?.start !== start) {
      const pages = Math.min(run, animation.frames - start);
      latest = { start, frames: decode(animation, start, pages) };
    }
    const pixels = (await latest.frames)[index - start];
    if (!pixels) throw new UnreadableInput('the animation is damaged');
    return pixels;
  };
}

/**
 * Returns the time of each frame in seconds from the first, calculated from the display durations
 * in milliseconds.
 */
function frameTimes(delays: readonly number[], frames: number): number[] {
  let milliseconds = 0;
  return Array.from({ length: frames }, (_, index) => {
    milliseconds += index === 0 ? 0 : (delays[index - 1] ?? 0);
    return milliseconds / 1000;
  });
}

/**
 * Reads a GIF or WebP, animated or not. The last frame is decoded immediately, and with it all
 * frames before it, so that a damaged file is refused as a whole. `mmPerPx` is the user's scale.
 */
export async function readAnimation(
  file: string,
  path: string,
  mmPerPx: number | null,
): Promise<Clip> {
  const { format, width, height: stacked, pages = 1, pageHeight, delay } = await readMetadata(path);
  if (format === 'gif') await checkGifEnds(path);
  if (pages === 1) return readStill(file, path, mmPerPx);
  const height = pageHeight ?? stacked;
  const animation: Animation = { path, width, height, frames: pages };
  checkSize(animation);
  await decode(animation, pages - 1, 1);
  const pixels = frameDecoder(animation);
  const { regions, refused } = userScale(width, height, mmPerPx);
  return {
    file,
    ...UNDESCRIBED,
    timing: 'container',
    width,
    height,
    frames: frameTimes(delay ?? [], pages).map(
      (time, index): Frame => ({
        index,
        time,
        gray: async () => toGray(await pixels(index)),
        rgb: async () => toRgb(await pixels(index)),
      }),
    ),
    regions,
    calibrationRefused: refused,
    mode: 'unknown',
  };
}
