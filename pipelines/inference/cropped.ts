import type { GrayImage } from '../contract/image.ts';
import type { Rectangle } from '../contract/study.ts';

/** The pixels of a rectangle as an image of their own. */
export function cropped(image: GrayImage, area: Rectangle): GrayImage {
  const width = area.maxX - area.minX + 1;
  const height = area.maxY - area.minY + 1;
  if (width === image.width && height === image.height) return image;
  const data = new Uint8Array(width * height);
  for (let row = 0; row < height; row++) {
    const start = (area.minY + row) * image.width + area.minX;
    data.set(image.data.subarray(start, start + width), row * width);
  }
  return { width, height, data };
}
