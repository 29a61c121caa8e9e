import type { GrayImage } from '../../../pipelines/contract/image.ts';
import type { Rectangle } from '../../../pipelines/contract/study.ts';

/** Width of the bar in columns, and columns of time that are missing between its two sides. */
const BAR = { width: 14, missing: 40 } as const;

/**
 * Returns a display that is refreshed in place: a black bar at 60 % of its width, and to the right
 * of it the picture of another time.
 */
export function withEraseBar(image: GrayImage, { minX, minY, maxX, maxY }: Rectangle): GrayImage {
  const data = image.data.slice();
  const bar = minX + Math.round(0.6 * (maxX - minX));
  for (let row = minY; row <= maxY; row++) {
    const start = row * image.width;
    data.fill(0, start + bar, start + bar + BAR.width);
    for (let x = bar + BAR.width; x <= maxX; x++) {
      data[start + x] = image.data[start + x - BAR.missing] ?? 0;
    }
  }
  return { ...image, data };
}
