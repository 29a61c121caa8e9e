import './no-telemetry.ts';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { type Accelerator, acceleratorsOf } from './accelerators.ts';
import { type RegisteredModel, readModel } from './model-registry.ts';

export interface InferenceSettings {
  provider: 'auto' | 'cpu';
  /** Threads per session. A fixed number keeps the answer the same from run to run. */
  threads: number;
}

export type Provider = Accelerator | 'cpu';

/** What a network answers to one batch. */
export interface Answer {
  /** Image after image, of each channel after channel. */
  values: Float32Array;
  /** That the network worked, waiting for it not counted. */
  seconds: number;
}

/** A loaded model that takes one batch at a time. */
export interface Network {
  /** What the model runs on, as found by the self-test. */
  provider: Provider;
  /** `images` holds `count` images of the model's input size, one behind the other. */
  run(images: Float32Array<ArrayBuffer>, count: number): Promise<Answer>;
  release(): Promise<void>;
}

/**
 * Largest difference between two providers, in units of the output (logits, or shares of a map): on
 * the self-test more than this and the accelerator is not used.
 */
export const PROVIDER_TOLERANCE = 1e-2;

/** Images on which an accelerator must not be slower than the processor: a driver in software is. */
const TIMED_IMAGES = 4;

/**
 * Loads a verified model on the first provider that loads, agrees with the CPU and is not slower.
 * While it runs it holds the thread that called it: the library has no other way.
 */
export async function openNetwork(
  model: RegisteredModel,
  settings: InferenceSettings,
): Promise<Network> {
  const bytes = await readModel(model);
  const cpu = await create(model, bytes, 'cpu', settings.threads);
  const accelerators = settings.provider === 'cpu' ? [] : acceleratorsOf().present;
  if (accelerators.length === 0) return cpu;
  const sample = selfTestImage(model.input.width * model.input.height);
  const expected = await cpu.run(sample, 1);
  for (const provider of accelerators) {
    const network = await create(model, bytes, provider, settings.threads).catch(() => null);
    if (!network) continue;
    if ((await agrees(network, sample, expected)) && (await isNotSlower(network, cpu, sample))) {
      await cpu.release();
      return network;
    }
    await network.release();
  }
  return cpu;
}

async function create(
  { id, input, output }: RegisteredModel,
  bytes: Uint8Array,
  provider: Provider,
  threads: number,
): Promise<Network> {
  const session = await InferenceSession.create(bytes, {
    executionProviders: [provider],
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    graphOptimizationLevel: 'all',
    logSeverityLevel: 3,
    // Threads that wait sleep: others decode and measure on the same cores meanwhile.
    extra: { session: { intra_op: { allow_spinning: '0' } } },
  });
  return {
    provider,
    async run(images, count) {
      const tensor = new Tensor('float32', images, [count, 1, input.height, input.width]);
      const begin = performance.now();
      const result = (await session.run({ [input.name]: tensor }))[output.name];
      const seconds = (performance.now() - begin) / 1000;
      if (!(result?.data instanceof Float32Array)) {
        throw new Error(`model ${id}: no float32 output "${output.name}"`);
      }
      return { values: result.data, seconds };
    },
    release: () => session.release(),
  };
}

async function agrees(
  network: Network,
  sample: Float32Array<ArrayBuffer>,
  expected: Answer,
): Promise<boolean> {
  try {
    const found = await network.run(sample, 1);
    return largestDifference(found.values, expected.values) <= PROVIDER_TOLERANCE;
  } catch {
    return false;
  }
}

async function isNotSlower(
  network: Network,
  cpu: Network,
  image: Float32Array<ArrayBuffer>,
): Promise<boolean> {
  const images = new Float32Array(TIMED_IMAGES * image.length);
  for (let n = 0; n < TIMED_IMAGES; n++) images.set(image, n * image.length);
  const seconds = async (timed: Network) => {
    await timed.run(images, TIMED_IMAGES);
    return (await timed.run(images, TIMED_IMAGES)).seconds;
  };
  return (await seconds(network)) <= (await seconds(cpu));
}

function largestDifference(found: Float32Array, expected: Float32Array): number {
  let largest = 0;
  expected.forEach((value, i) => {
    const difference = Math.abs(value - (found[i] ?? Number.NaN));
    largest = Number.isNaN(difference) ? Infinity : Math.max(largest, difference);
  });
  return largest;
}

/** A fixed image with structure at every scale. */
function selfTestImage(length: number): Float32Array<ArrayBuffer> {
  return Float32Array.from({ length }, (_, i) => 0.5 + 0.5 * Math.sin(i * 0.37 + (i * i) / 9001));
}
