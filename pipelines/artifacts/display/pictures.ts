import sharp from 'sharp';
import type { RgbImage } from '../../contract/study.ts';
import { inParallel } from '../../input/in-parallel.ts';
import { PICTURES_AT_ONCE } from '../raster.ts';

/** Longest side in pixels, and the quality of JPEG: speckle kept where somebody looks closely. */
export const SHOWN_AS = {
  keyFrame: { longest: 1024, quality: 88 },
  cine: { longest: 640, quality: 78 },
} as const;
type ShownAs = (typeof SHOWN_AS)[keyof typeof SHOWN_AS];

export interface JpegPicture {
  jpeg: Buffer;
  width: number;
  height: number;
}

/** A frame as JPEG, made smaller where it is larger than asked for, never larger. */
export async function toJpeg(
  { width, height, data }: RgbImage,
  { longest, quality }: ShownAs,
): Promise<JpegPicture> {
  const raw = sharp(data, { raw: { width, height, channels: 3 } });
  const fitted =
    Math.max(width, height) > longest ? raw.resize(longest, longest, { fit: 'inside' }) : raw;
  const { data: jpeg, info } = await fitted.jpeg({ quality }).toBuffer({ resolveWithObject: true });
  return { jpeg, width: info.width, height: info.height };
}

export interface CinePictures {
  /** The JPEGs one behind the other. */
  bytes: Buffer;
  width: number;
  height: number;
  /** Where the JPEG of each frame lies. */
  spans: { frame: number; offset: number; bytes: number }[];
}

/**
 * Frames as Motion JPEG; null where none could be read.
 * @param read gives a frame by its number, or null for a damaged one, which is left out.
 */
export async function toMotionJpeg(
  numbers: readonly number[],
  read: (frame: number) => Promise<RgbImage | null>,
): Promise<CinePictures | null> {
  const pictures = await inParallel(numbers, PICTURES_AT_ONCE, async (frame) => {
    const image = await read(frame);
    return image && { frame, ...(await toJpeg(image, SHOWN_AS.cine)) };
  });
  const readable = pictures.filter((picture) => picture !== null);
  const [first] = readable;
  if (!first) return null;
  let end = 0;
  const spans = readable.map(({ frame, jpeg }) => {
    const offset = end;
    end += jpeg.length;
    return { frame, offset, bytes: jpeg.length };
  });
  const { width, height } = first;
  return { bytes: Buffer.concat(readable.map(({ jpeg }) => jpeg)), width, height, spans };
}
