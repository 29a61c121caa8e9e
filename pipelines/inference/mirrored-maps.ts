import type { GrayImage } from '../contract/image.ts';
import type { Placement } from './letterbox.ts';
import { letterboxLit } from './letterbox.ts';
import type { ModelSession } from './session.ts';

interface ImageMaps {
  placement: Placement;
  /** One map per channel of the model, averaged over the image and its mirror image. */
  channels: Float32Array[];
}

/**
 * Runs a model that outputs one map per channel on each image and on its mirror image (left and
 * right exchanged), and averages the two outputs. If the output depends on the orientation of the
 * probe, averaging blurs it and lowers its confidence.
 */
export async function mirroredMaps(
  session: ModelSession,
  images: readonly GrayImage[],
): Promise<ImageMaps[]> {
  const { width, height } = session.model.input;
  const boxes = images.map((image) => letterboxLit(image, width, height));
  const inputs = boxes.flatMap(({ pixels }) => [pixels, mirror(pixels, width)]);
  const outputs = await session.run(inputs);
  return boxes.map(({ placement }, n) => {
    const straight = outputs[2 * n] ?? new Float32Array();
    const mirrored = mirror(outputs[2 * n + 1] ?? new Float32Array(), width);
    const mean = new Float32Array(straight.length);
    for (let i = 0; i < mean.length; i++) mean[i] = ((straight[i] ?? 0) + (mirrored[i] ?? 0)) / 2;
    const size = width * height;
    const channels = session.model.output.channels.map((_, c) =>
      mean.subarray(c * size, (c + 1) * size),
    );
    return { placement, channels };
  });
}

/** Returns the image with each row reversed. */
export function mirror(pixels: Float32Array, width: number): Float32Array {
  const out = new Float32Array(pixels.length);
  for (let start = 0; start < pixels.length; start += width) {
    for (let x = 0; x < width; x++) out[start + x] = pixels[start + width - 1 - x] ?? 0;
  }
  return out;
}
