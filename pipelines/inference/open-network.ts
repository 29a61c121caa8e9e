import './no-telemetry.ts';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import type { ProviderSetting } from '../../config/schema.ts';
import { type Accelerator, type AcceleratorRefusal, acceleratorsOf } from './accelerators.ts';
import { type RegisteredModel, readModel } from './model-registry.ts';

export interface InferenceSettings {
  provider: ProviderSetting;
  /** Threads per session. The number is fixed so that every run yields the same output. */
  threads: number;
}

export type Provider = Accelerator | 'cpu';

export interface Answer {
  /** Values, image by image and, within each image, channel by channel. */
  values: Float32Array;
  /** Seconds of computing time, excluding time in a queue. */
  seconds: number;
  /** Set by the first run that failed on the accelerator. From then on, the model runs on `cpu`. */
  refusal?: AcceleratorRefusal;
}

export interface Network {
  provider: Provider;
  /** Runs a batch. `images` contains `count` consecutive images of the model's input size. */
  run(images: Float32Array<ArrayBuffer>, count: number): Promise<Answer>;
  release(): Promise<void>;
}

/**
 * Loads a verified model on one provider.
 *
 * @throws if the provider cannot load the model.
 */
export type LoadNetwork = (
  model: RegisteredModel,
  provider: Provider,
  threads: number,
) => Promise<Network>;

/**
 * Loads a network with ONNX Runtime. A run blocks the calling thread; the library has no
 * alternative.
 */
export const loadNetwork: LoadNetwork = async (model, provider, threads) => {
  const { id, input, output } = model;
  const session = await InferenceSession.create(await readModel(model), {
    executionProviders: [provider],
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    graphOptimizationLevel: 'all',
    logSeverityLevel: 3,
    // Waiting threads sleep instead of spinning, because other threads decode and measure on the
    // same cores.
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
};

/**
 * Maximum difference between two providers, in units of the output (logits, or shares of a map). An
 * accelerator that exceeds it in the self-test is not used. For measured differences, see
 * docs/model-training.md.
 */
export const PROVIDER_TOLERANCE = 1e-2;

/** Batch size at which an accelerator must be at least as fast as the processor. */
const BATCH_IMAGES = 4;

/**
 * An accelerator that is this many times slower than the processor on a single image is a software
 * renderer. SwiftShader is hundreds of times slower.
 */
const TIMES_SLOWER_IN_SOFTWARE = 20;

/**
 * Returns why an accelerator must not be used for a model; null if it may be used. Its output for
 * one image and for a batch is compared with the processor's output. If `timed`, its speed is
 * compared as well, in a second run, because the first run compiles shaders.
 *
 * @param pixels pixels per input image.
 */
async function faultOf(
  accelerated: Network,
  processor: Network,
  { pixels, timed }: { pixels: number; timed: boolean },
): Promise<Pick<AcceleratorRefusal, 'why' | 'detail'> | null> {
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
  /** Largest difference between the outputs of the two providers, in units of the output. */
  difference: number;
  /** Seconds taken by the last run on each provider. */
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

/**
 * Returns the largest difference between two outputs. It is infinite if they differ in length or if
 * either contains NaN.
 */
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

/**
 * Returns fixed test images, one after the other. They all differ and have structure at every
 * scale.
 */
export function selfTestImages(count: number, pixels: number): Float32Array<ArrayBuffer> {
  return Float32Array.from(
    { length: count * pixels },
    (_, i) => 0.5 + 0.5 * Math.sin(i * 0.37 + (i * i) / 9001),
  );
}

/**
 * Returns a network that runs on an accelerator and changes over to the processor once a run has
 * thrown. It never changes back: a lost device cannot be used again in the same process, and a
 * model that is too large for the device's memory would fail again. The failed run is repeated on
 * the processor, and its answer contains the `refusal` with the reason. Waiting runs are moved to
 * the processor as well. If the model cannot be opened on the processor, the next run tries again.
 */
function withProcessorFallback(
  openOnProcessor: () => Promise<Network>,
  onAccelerator: Network,
  accelerator: Accelerator,
): Network {
  let lost: { refusal: AcceleratorRefusal; released: Promise<void> } | null = null;
  let reported = false;
  let processor: Promise<Network> | null = null;

  const lose = (error: unknown) => {
    const detail = error instanceof Error ? error.message : String(error);
    return {
      refusal: { accelerator, why: 'failed', detail } as const,
      // Releasing the resources of a lost device may also fail.
      released: onAccelerator.release().catch(() => {}),
    };
  };
  const openedOnProcessor = (released: Promise<void>) => {
    processor ??= released.then(openOnProcessor).catch((error: unknown) => {
      processor = null;
      throw error;
    });
    return processor;
  };

  return {
    provider: accelerator,
    run: async (images, count) => {
      if (!lost) {
        try {
          return await onAccelerator.run(images, count);
        } catch (error) {
          lost ??= lose(error);
        }
      }
      const { refusal, released } = lost;
      const answer = await (await openedOnProcessor(released)).run(images, count);
      if (reported) return answer;
      reported = true;
      return { ...answer, refusal };
    },
    release: async () => {
      if (lost) await (await processor)?.release();
      else await onAccelerator.release();
    },
  };
}

export interface OpenedNetwork {
  network: Network;
  /**
   * Why accelerators were not used. A refusal that applies to every model is listed only for the
   * first model.
   */
  refusals: readonly AcceleratorRefusal[];
}

export type OpenNetwork = (
  model: RegisteredModel,
  settings: InferenceSettings,
) => Promise<OpenedNetwork>;

interface Parts {
  /** Returns the accelerators that might load on this host, and why the others cannot. */
  accelerators: typeof acceleratorsOf;
  load: LoadNetwork;
}

/**
 * Refusals that apply to every model. The accelerator is then not tried with further models,
 * because this would delay startup and print errors.
 */
const FOR_ALL: readonly AcceleratorRefusal['why'][] = ['absent', 'unloadable', 'software'];

/**
 * Returns a function that opens verified models, each on the first provider that loads it, agrees
 * with the processor and is not slower than the processor. A provider requested by name may be
 * slower. If such a provider fails, it is replaced by the processor, never by another accelerator.
 *
 * @throws only if a model cannot be opened on the processor.
 */
export function networkOpener({
  accelerators = acceleratorsOf,
  load = loadNetwork,
}: Partial<Parts> = {}): OpenNetwork {
  const givenUp = new Set<Accelerator>();

  return async (model, { provider, threads }) => {
    const openOnProcessor = () => load(model, 'cpu', threads);
    const processor = await openOnProcessor();
    if (provider === 'cpu') return { network: processor, refusals: [] };

    const refusals: AcceleratorRefusal[] = [];
    const refuse = (refusal: AcceleratorRefusal) => {
      refusals.push(refusal);
      if (FOR_ALL.includes(refusal.why)) givenUp.add(refusal.accelerator);
    };
    const { present, absent } = accelerators();
    const asked = (accelerator: Accelerator) =>
      !givenUp.has(accelerator) && (provider === 'auto' || provider === accelerator);
    for (const { accelerator, reason } of absent) {
      if (asked(accelerator) && provider !== 'auto') {
        refuse({ accelerator, why: 'absent', detail: reason });
      }
    }
    for (const accelerator of present.filter(asked)) {
      try {
        const network = await load(model, accelerator, threads);
        const fault = await faultOf(network, processor, {
          pixels: model.input.width * model.input.height,
          timed: provider === 'auto',
        });
        if (!fault) {
          await processor.release();
          return {
            network: withProcessorFallback(openOnProcessor, network, accelerator),
            refusals,
          };
        }
        await network.release();
        refuse({ accelerator, ...fault });
      } catch (error) {
        const detail = error instanceof Error ? error.message : String(error);
        refuse({ accelerator, why: 'unloadable', detail });
      }
    }
    return { network: processor, refusals };
  };
}
