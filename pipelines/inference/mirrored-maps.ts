import { freeMemory } from '../../src/platform/free-memory.ts';
import type { GrayImage } from '../contract/image.ts';
import type { SoftMask } from '../measure/soft-mask.ts';
import { type letterbox, letterboxLit, type Placement } from './letterbox.ts';
import type { ModelSession } from './session.ts';

interface ImageMaps {
  placement: Placement;
  /** Returns the map of a channel of the model, averaged over the image and its mirror image. */
  map(channel: string): SoftMask;
}

/**
 * Runs a model that outputs one map per channel on each image and on its mirror image (left and
 * right exchanged), and averages the two outputs. If the output depends on the orientation of the
 * probe, averaging blurs it and lowers its confidence. `place` fits an image into the input.
 */
export async function mirroredMaps(
  session: ModelSession,
  images: readonly GrayImage[],
  place: typeof letterbox = letterboxLit,
): Promise<ImageMaps[]> {
  const { width, height } = session.model.input;
  const boxes = images.map((image) => place(image, width, height));
  const inputs = boxes.flatMap(({ pixels }) => [pixels, mirror(pixels, width)]);
  const outputs = await session.run(inputs);
  const maps = boxes.map(({ placement }, n) => {
    const none = new Float32Array();
    const mean = meanOfMirrored(outputs[2 * n] ?? none, outputs[2 * n + 1] ?? none, width);
    const size = width * height;
    const map = (channel: string): SoftMask => {
      const start = session.model.output.channels.indexOf(channel) * size;
      return { width, height, values: mean.subarray(start, start + size) };
    };
    return { placement, map };
  });
  freeMemory(outputs);
  return maps;
}

/** Returns the mean of a map and the map of the mirrored image, which is mirrored back first. */
function meanOfMirrored(straight: Float32Array, mirrored: Float32Array, width: number) {
  const mean = new Float32Array(straight.length);
  for (let start = 0; start < mean.length; start += width) {
    const end = start + width - 1;
    for (let x = 0; x < width; x++) {
      mean[start + x] = ((straight[start + x] ?? 0) + (mirrored[end - x] ?? 0)) / 2;
    }
  }
  return mean;
}

/** Returns the image with each row reversed. */
export function mirror(pixels: Float32Array, width: number): Float32Array {
  const out = new Float32Array(pixels.length);
  for (let start = 0; start < pixels.length; start += width) {
    for (let x = 0; x < width; x++) out[start + x] = pixels[start + width - 1 - x] ?? 0;
  }
  return out;
}
