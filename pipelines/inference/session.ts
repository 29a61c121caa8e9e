import { InferenceSession, Tensor } from 'onnxruntime-node';
import { type Accelerator, acceleratorsOf } from './accelerators.ts';
import { INFERENCE, type InferenceRun } from './inference-channel.ts';
import { type RegisteredModel, readModel } from './model-registry.ts';

export interface InferenceSettings {
  provider: 'auto' | 'cpu';
  /** Threads per session. A fixed number keeps the answer the same from run to run. */
  threads: number;
}

export type Provider = Accelerator | 'cpu';

export interface ModelSession {
  model: RegisteredModel;
  /** What the model runs on, as found by the self-test. */
  provider: Provider;
  /** Images that it takes at a time. */
  batch: number;
  /**
   * Runs a batch: `inputs` are images of the model's input size, 0..1, row by row. Resolves to one
   * array per image: its share of the output, channel after channel.
   */
  run(inputs: readonly Float32Array[]): Promise<Float32Array[]>;
  close(): Promise<void>;
}

/**
 * Largest difference between two providers, in units of the output (logits, or shares of a map): on
 * the self-test more than this and the accelerator is not used.
 */
export const PROVIDER_TOLERANCE = 1e-2;
/**
 * Images at a time. On the processor a larger batch only holds more memory: the activations of one
 * batch are held at a time. An accelerator is idle on a small one.
 */
const BATCH: Readonly<Record<Provider, number>> = { cpu: 16, webgpu: 32, cuda: 64 };

/** Images on which an accelerator must not be slower than the processor: a driver in software is. */
const TIMED_IMAGES = 4;

/** Loads a verified model on the first provider that loads, agrees with the CPU and is not slower. */
export async function openSession(
  model: RegisteredModel,
  settings: InferenceSettings,
): Promise<ModelSession> {
  const bytes = await readModel(model);
  const cpu = sessionOf(model, 'cpu', await create(bytes, 'cpu', settings.threads));
  const accelerators = settings.provider === 'cpu' ? [] : acceleratorsOf().present;
  if (accelerators.length === 0) return cpu;
  const sample = [selfTestImage(model.input.width * model.input.height)];
  const expected = await cpu.run(sample);
  for (const provider of accelerators) {
    const session = await tryProvider(model, bytes, provider, settings.threads);
    if (!session) continue;
    if ((await agrees(session, sample, expected)) && (await isNotSlower(session, cpu, sample))) {
      await cpu.close();
      return session;
    }
    await session.close();
  }
  return cpu;
}

function create(bytes: Uint8Array, provider: Provider, threads: number): Promise<InferenceSession> {
  return InferenceSession.create(bytes, {
    executionProviders: [provider],
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    graphOptimizationLevel: 'all',
    logSeverityLevel: 3,
  });
}

async function tryProvider(
  model: RegisteredModel,
  bytes: Uint8Array,
  provider: Provider,
  threads: number,
): Promise<ModelSession | null> {
  try {
    return sessionOf(model, provider, await create(bytes, provider, threads));
  } catch {
    return null;
  }
}

async function agrees(
  session: ModelSession,
  sample: readonly Float32Array[],
  expected: readonly Float32Array[],
): Promise<boolean> {
  try {
    const found = await session.run(sample);
    return largestDifference(found, expected) <= PROVIDER_TOLERANCE;
  } catch {
    return false;
  }
}

async function isNotSlower(
  session: ModelSession,
  cpu: ModelSession,
  [image = new Float32Array()]: readonly Float32Array[],
): Promise<boolean> {
  const images = Array.from({ length: TIMED_IMAGES }, () => image);
  const seconds = async (timed: ModelSession) => {
    await timed.run(images);
    const begin = performance.now();
    await timed.run(images);
    return performance.now() - begin;
  };
  return (await seconds(session)) <= (await seconds(cpu));
}

function largestDifference(found: readonly Float32Array[], expected: readonly Float32Array[]) {
  let largest = 0;
  expected.forEach((row, n) => {
    row.forEach((value, i) => {
      const difference = Math.abs(value - (found[n]?.[i] ?? Number.NaN));
      largest = Number.isNaN(difference) ? Infinity : Math.max(largest, difference);
    });
  });
  return largest;
}

/** A fixed image with structure at every scale. */
function selfTestImage(length: number): Float32Array {
  return Float32Array.from({ length }, (_, i) => 0.5 + 0.5 * Math.sin(i * 0.37 + (i * i) / 9001));
}

function sessionOf(
  model: RegisteredModel,
  provider: Provider,
  session: InferenceSession,
): ModelSession {
  const { input, output } = model;
  const pixels = input.width * input.height;

  async function runBatch(images: readonly Float32Array[]): Promise<Float32Array[]> {
    const data = new Float32Array(images.length * pixels);
    images.forEach((image, n) => {
      data.set(image, n * pixels);
    });
    const tensor = new Tensor('float32', data, [images.length, 1, input.height, input.width]);
    const begin = performance.now();
    const result = (await session.run({ [input.name]: tensor }))[output.name];
    const seconds = (performance.now() - begin) / 1000;
    INFERENCE.publish({ model: model.id, images: images.length, seconds } satisfies InferenceRun);
    if (!(result?.data instanceof Float32Array)) {
      throw new Error(`model ${model.id}: no float32 output "${output.name}"`);
    }
    const values = result.data;
    const share = values.length / images.length;
    return images.map((_, n) => values.subarray(n * share, (n + 1) * share));
  }

  return {
    model,
    provider,
    batch: BATCH[provider],
    run: async (inputs) => {
      const outputs: Float32Array[] = [];
      const size = BATCH[provider];
      for (let start = 0; start < inputs.length; start += size) {
        outputs.push(...(await runBatch(inputs.slice(start, start + size))));
      }
      return outputs;
    },
    close: () => session.release(),
  };
}
