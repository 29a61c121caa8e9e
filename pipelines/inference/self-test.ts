import type { Answer, Network } from './network.ts';
import type { Refusal } from './refusal.ts';

/**
 * Largest difference between two providers, in units of the output (logits, or shares of a map): on
 * the self-test more than this and the accelerator is not used. docs/model-training.md has what was
 * measured.
 */
export const PROVIDER_TOLERANCE = 1e-2;

/** Images of the batch with which an accelerator must not be slower than the processor. */
const BATCH_IMAGES = 4;

/**
 * A driver that is so much slower with one image runs in software: SwiftShader takes hundreds of
 * times as long as the processor without it.
 */
const TIMES_SLOWER_IN_SOFTWARE = 20;

/**
 * Why an accelerator is not to be used for a model; null when it is. Its answers to one image and to
 * a batch are compared with the processor's, and, where `timed`, how long they take: again, for the
 * first time compiles shaders.
 * @param pixels of an input image.
 */
export async function faultOf(
  accelerated: Network,
  processor: Network,
  { pixels, timed }: { pixels: number; timed: boolean },
): Promise<Pick<Refusal, 'why' | 'detail'> | null> {
  const again = timed ? 2 : 1;
  try {
    const one = await compare(accelerated, processor, { pixels, images: 1, times: again });
    if (one.difference > PROVIDER_TOLERANCE) return different(one);
    if (timed && one.accelerated > TIMES_SLOWER_IN_SOFTWARE * one.processor) {
      return { why: 'software', detail: duration(one) };
    }
    const batch = await compare(accelerated, processor, {
      pixels,
      images: BATCH_IMAGES,
      times: again,
    });
    if (batch.difference > PROVIDER_TOLERANCE) return different(batch);
    return timed && batch.accelerated > batch.processor
      ? { why: 'slower', detail: duration(batch) }
      : null;
  } catch (error) {
    return { why: 'different', detail: error instanceof Error ? error.message : String(error) };
  }
}

interface Comparison {
  images: number;
  /** Largest, in units of the output. */
  difference: number;
  /** Seconds of the last run. */
  accelerated: number;
  processor: number;
}

async function compare(
  accelerated: Network,
  processor: Network,
  { pixels, images, times }: { pixels: number; images: number; times: number },
): Promise<Comparison> {
  const sample = selfTestImages(images, pixels);
  const last = async (network: Network) => {
    let answer = await network.run(sample, images);
    for (let run = 1; run < times; run++) answer = await network.run(sample, images);
    return answer;
  };
  const found = await last(accelerated);
  const expected = await last(processor);
  return {
    images,
    difference: largestDifference(found.values, expected.values),
    accelerated: found.seconds,
    processor: expected.seconds,
  };
}

const different = ({ difference, images }: Comparison) =>
  ({
    why: 'different',
    detail: `off by ${difference.toPrecision(2)} with ${images} images, ${PROVIDER_TOLERANCE} is allowed`,
  }) as const;

const duration = ({ images, accelerated, processor }: Comparison) =>
  `${milliseconds(accelerated)} for ${images} images, the processor ${milliseconds(processor)}`;

const milliseconds = (seconds: number) => `${(seconds * 1000).toPrecision(2)} ms`;

/** Infinite where the answers are of different lengths, or one holds what is no number. */
export function largestDifference(found: Answer['values'], expected: Answer['values']): number {
  if (found.length !== expected.length) return Infinity;
  let largest = 0;
  for (let i = 0; i < expected.length; i++) {
    const difference = Math.abs((found[i] ?? Number.NaN) - (expected[i] ?? Number.NaN));
    if (Number.isNaN(difference)) return Infinity;
    if (difference > largest) largest = difference;
  }
  return largest;
}

/** Fixed images with structure at every scale, each another, one behind the other. */
export function selfTestImages(count: number, pixels: number): Float32Array<ArrayBuffer> {
  return Float32Array.from(
    { length: count * pixels },
    (_, i) => 0.5 + 0.5 * Math.sin(i * 0.37 + (i * i) / 9001),
  );
}
