import sharp from 'sharp';
import { freeMemory } from '../../../src/platform/free-memory.ts';
import type { RgbImage } from '../../contract/study.ts';

/**
 * Number of pictures of one kind that are rendered at the same time; sharp uses its own threads.
 */
export const PICTURES_AT_ONCE = 4;

/**
 * Returns one channel if all three are equal, as in most ultrasound images; null if they differ.
 * Enlarging one channel takes a third of the time.
 */
function singleChannel(data: Uint8Array): Uint8Array | null {
  const grey = new Uint8Array(data.length / 3);
  for (let i = 0, p = 0; i < grey.length; i += 1, p += 3) {
    const level = data[p] ?? 0;
    if (data[p + 1] !== level || data[p + 2] !== level) return null;
    grey[i] = level;
  }
  return grey;
}

/** Enlarges a picture to `size` and adds `strip` black rows below it. */
export async function enlarged(
  { width, height, data }: RgbImage,
  size: { width: number; height: number },
  strip: number,
): Promise<RgbImage> {
  const grey = singleChannel(data);
  const large = await sharp(grey ?? data, { raw: { width, height, channels: grey ? 1 : 3 } })
    .resize(size.width, size.height, { kernel: 'cubic', fit: 'fill' })
    .toColourspace(grey ? 'b-w' : 'srgb')
    .raw()
    .toBuffer();
  const whole = { width: size.width, height: size.height + strip };
  const under = new Uint8Array(3 * whole.width * whole.height);
  if (!grey) under.set(large);
  else {
    for (let i = 0, p = 0; i < large.length; i += 1, p += 3) {
      const level = large[i] ?? 0;
      under[p] = level;
      under[p + 1] = level;
      under[p + 2] = level;
    }
  }
  freeMemory(grey ? [grey, large] : [large]);
  return { ...whole, data: under };
}

/** Draws an RGBA picture (not premultiplied) over an RGB picture of the same size, in place. */
export function drawOver(under: Uint8Array, over: Uint8Array): void {
  for (let i = 0, p = 0; i < over.length; i += 4, p += 3) {
    const alpha = over[i + 3] ?? 0;
    if (alpha === 0) continue;
    if (alpha === 255) {
      under[p] = over[i] ?? 0;
      under[p + 1] = over[i + 1] ?? 0;
      under[p + 2] = over[i + 2] ?? 0;
      continue;
    }
    for (let c = 0; c < 3; c += 1) {
      const below = under[p + c] ?? 0;
      under[p + c] = Math.round(below + (((over[i + c] ?? 0) - below) * alpha) / 255);
    }
  }
}
