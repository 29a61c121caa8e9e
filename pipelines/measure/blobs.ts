import type { GrayImage } from '../contract/image.ts';
import { pixelsOf, regionsOf } from './regions.ts';

/** Pixels that hang together by their edges, as indices into the image, row by row. */
export interface Blob {
  pixels: readonly number[];
  /** Whether it reaches the border of the image. */
  open: boolean;
}

/** The image averaged over squares of `factor` pixels; the rest at the right and below is dropped. */
export function reduced(image: GrayImage, factor: number): GrayImage {
  const width = Math.floor(image.width / factor);
  const height = Math.floor(image.height / factor);
  const data = new Uint8Array(width * height);
  const share = 1 / (factor * factor);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      let sum = 0;
      for (let dy = 0; dy < factor; dy++) {
        const row = (y * factor + dy) * image.width + x * factor;
        for (let dx = 0; dx < factor; dx++) sum += image.data[row + dx] ?? 0;
      }
      data[y * width + x] = sum * share;
    }
  }
  return { width, height, data };
}

/** Mean over a square of (2 radius + 1) pixels, by running sums; the border counts repeatedly. */
export function smoothed({ width, height, data }: GrayImage, radius: number): GrayImage {
  const span = 2 * radius + 1;
  const pass = (from: Uint8Array, lines: number, length: number, step: number, stride: number) => {
    const to = new Uint8Array(from.length);
    for (let line = 0; line < lines; line++) {
      const start = line * stride;
      const at = (i: number) => from[start + Math.max(0, Math.min(length - 1, i)) * step] ?? 0;
      let sum = 0;
      for (let i = -radius; i <= radius; i++) sum += at(i);
      for (let i = 0; i < length; i++) {
        to[start + i * step] = sum / span;
        sum += at(i + radius + 1) - at(i - radius);
      }
    }
    return to;
  };
  const across = pass(data, height, width, 1, width);
  return { width, height, data: pass(across, width, height, width, 1) };
}

/** The connected regions of the pixels for which `inside` holds, of at least `smallest` pixels. */
export function blobs(
  { width, height }: Pick<GrayImage, 'width' | 'height'>,
  inside: (index: number) => boolean,
  smallest: number,
): Blob[] {
  const mask = new Uint8Array(width * height);
  for (let at = 0; at < mask.length; at++) mask[at] = inside(at) ? 1 : 0;
  return regionsOf(mask, width)
    .filter(({ size }) => size >= smallest)
    .map((region) => ({ pixels: pixelsOf(region), open: region.open }));
}
