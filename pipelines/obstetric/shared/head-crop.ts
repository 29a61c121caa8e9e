import type { Ellipse, GrayImage, Point } from '../../contract/image.ts';
import { levelAt } from '../../measure/line-profile.ts';

/** Length of the head's long axis as a share of the crop width (models/training/head_crop.py). */
export const CROP_FILL = 0.88;

/** Mirroring of the crop along and across the head: 1 for unchanged, -1 for mirrored. */
export interface Mirroring {
  along: 1 | -1;
  across: 1 | -1;
}

/**
 * Crops the image to the head, centred and rotated so that its long axis is horizontal. Returns
 * grey levels from 0 to 1, with bilinear interpolation and black outside the image. Which end of
 * the head is the front is unknown and does not matter.
 */
export function cropHead(
  image: GrayImage,
  head: Ellipse,
  width: number,
  height: number,
  { along, across }: Mirroring,
): Float32Array {
  const toImage = fromCrop(head, width, height);
  const crop = new Float32Array(width * height);
  for (let row = 0; row < height; row++) {
    const down = across > 0 ? row : height - 1 - row;
    for (let column = 0; column < width; column++) {
      const right = along > 0 ? column : width - 1 - column;
      const { x, y } = toImage({ x: right, y: down });
      crop[row * width + column] = Math.round(levelAt(image, x, y)) / 255;
    }
  }
  return crop;
}

/**
 * Returns a function that converts a point on a crop that is not mirrored to pixels of the image.
 */
export function fromCrop(head: Ellipse, width: number, height: number): (at: Point) => Point {
  const level = head.a >= head.b ? head.angle : head.angle + Math.PI / 2;
  const angle = Math.cos(level) >= 0 ? level : level + Math.PI;
  const step = (2 * Math.max(head.a, head.b)) / (CROP_FILL * width);
  const cos = Math.cos(angle) * step;
  const sin = Math.sin(angle) * step;
  return ({ x, y }) => {
    const u = x - (width - 1) / 2;
    const v = y - (height - 1) / 2;
    return { x: head.centre.x + u * cos - v * sin, y: head.centre.y + u * sin + v * cos };
  };
}
