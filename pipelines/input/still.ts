import sharp from 'sharp';
import { type Clip, UNDESCRIBED } from '../contract/study.ts';
import { userScale } from './dicom-calibration.ts';
import { LIMITS } from './limits.ts';
import { type Pixels, toGray, toRgb } from './pixels.ts';
import { Refusal } from './refusal.ts';

async function decode(path: string): Promise<Pixels> {
  try {
    const claimed = await sharp(path, { limitInputPixels: false }).metadata();
    if (claimed.width * claimed.height > LIMITS.pixelsPerFrame) {
      const size = `${claimed.width} x ${claimed.height}`;
      throw new Refusal(`the image of ${size} pixels is over the limit`);
    }
    const { data, info } = await sharp(path, {
      failOn: 'truncated',
      limitInputPixels: LIMITS.pixelsPerFrame,
    })
      // A camera or phone stores the picture as its sensor lay; EXIF says which way is up.
      .autoOrient()
      .flatten()
      .toColourspace('srgb')
      .raw()
      .toBuffer({ resolveWithObject: true });
    if (info.channels !== 1 && info.channels !== 3) {
      throw new Refusal(`an image of ${info.channels} channels is not supported`);
    }
    return { width: info.width, height: info.height, channels: info.channels, data };
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal('the image is cut short or damaged', { cause: error });
  }
}

/**
 * Reads a still (PNG, JPEG, GIF, WebP), upright. It is decoded once here, so that a damaged one is
 * refused. `mmPerPx` is the user's scale.
 */
export async function readStill(file: string, path: string, mmPerPx: number | null): Promise<Clip> {
  const { width, height } = await decode(path);
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
        gray: async () => toGray(await decode(path)),
        rgb: async () => toRgb(await decode(path)),
      },
    ],
    regions,
    calibrationRefused: refused,
    mode: 'unknown',
  };
}
