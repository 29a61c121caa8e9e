/**
 * Masks as 1-bit Pixel Data (PS3.5 8.1.1): bits fill each byte from the least significant one, frames
 * follow each other without padding, so that one of an odd size begins inside a byte.
 * @param frames one byte a pixel, 0 or 1.
 */
export function packBits(frames: readonly Uint8Array[]): Uint8Array {
  const bits = frames.reduce((sum, { length }) => sum + length, 0);
  const packed = new Uint8Array(Math.ceil(bits / 8));
  let at = 0;
  for (const frame of frames) {
    for (const pixel of frame) {
      if (pixel) packed[at >> 3] = (packed[at >> 3] ?? 0) | (1 << (at & 7));
      at += 1;
    }
  }
  return packed;
}
